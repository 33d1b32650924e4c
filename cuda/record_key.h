// The record key of a step is the content of its launches: kernels, grids, and every argument, as bytes. Two steps
// with one key do the same work, so the second can replay the first (cuda/queue.cpp). Structs are taken apart field by
// field, since padding may hold anything, by the list of fields in each (core/fields.h): if the key lacked a
// field, a stale step would be replayed.
#pragma once
#include <cstring>
#include <iterator>
#include <string>
#include <type_traits>

#include "core/fields.h"

namespace poslab::cuda {

// Calls f(scalar) for every number, flag and pointer that the value is made of.
void each_scalar(const auto& f, const auto& value) {
  if constexpr (std::is_scalar_v<std::remove_cvref_t<decltype(value)>>) {
    f(value);
  } else if constexpr (requires { std::begin(value); }) {
    for (const auto& element : value) each_scalar(f, element);
  } else {
    static_assert(requires { fields(value); }, "give this struct a list of its FIELDS, see core/fields.h");
    std::apply([&](const auto&... field) { (each_scalar(f, field), ...); }, fields(value));
  }
}

// Appends all values at once: the key grows only once, and each scalar then takes one store.
template <class... T>
void append_key(std::string& key, const T&... values) {
  size_t bytes = 0;
  (each_scalar([&](const auto& scalar) { bytes += sizeof(decltype(scalar)); }, values), ...);
  key.resize(key.size() + bytes);
  char* to = key.data() + key.size() - bytes;
  const auto append = [&](const auto& scalar) {
    std::memcpy(to, static_cast<const void*>(&scalar), sizeof(decltype(scalar))), to += sizeof(decltype(scalar));
  };
  (each_scalar(append, values), ...);
}
template <class... T>
std::string record_key(const T&... values) {
  std::string key;
  append_key(key, values...);
  return key;
}

// Calls f(address) for every pointer among the values.
template <class F, class T>
void each_pointer(const F& f, const T& value) {
  each_scalar([&](const auto& scalar) {
    if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(scalar)>>) f(static_cast<const void*>(scalar));
  }, value);
}

}  // namespace poslab::cuda
