// The record key of a step is what its launches are made of: kernels, grids, and every argument, as bytes. Two steps
// with one key do the same work, so the second can replay the first (cuda/queue.cpp). Structs are taken apart field by
// field, since padding holds anything, by the list of fields that stands in each (core/fields.h): a field that the key
// lacked would replay a stale step.
#pragma once
#include <iterator>
#include <string>
#include <type_traits>

#include "core/fields.h"

namespace poslab::cuda {

template <class T>
void append_key(std::string& key, const T& value) {
  if constexpr (std::is_scalar_v<T>) {
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  } else if constexpr (requires { std::begin(value); }) {
    for (const auto& element : value) append_key(key, element);
  } else {
    static_assert(requires { fields(value); }, "give this struct a list of its FIELDS, see core/fields.h");
    std::apply([&](const auto&... field) { (append_key(key, field), ...); }, fields(value));
  }
}
template <class... T>
std::string record_key(const T&... values) {
  std::string key;
  (append_key(key, values), ...);
  return key;
}

// Calls f(address) for every pointer among the values.
template <class F, class T>
void each_pointer(const F& f, const T& value) {
  if constexpr (std::is_pointer_v<T>) {
    f(static_cast<const void*>(value));
  } else if constexpr (requires { std::begin(value); }) {
    for (const auto& element : value) each_pointer(f, element);
  } else if constexpr (!std::is_scalar_v<T>) {
    std::apply([&](const auto&... field) { (each_pointer(f, field), ...); }, fields(value));
  }
}

}  // namespace poslab::cuda
