// The members of a plain struct as a tuple of references, from one list inside the struct:
//
//   struct Point {
//     int x = 0, y = 0;
//     FIELDS(Point, x, y)            // fields(p) is std::tie(p.x, p.y)
//   };
//
// It is for code that has to see every member, such as the record keys of the GPU's queue (cuda/record_key.h). A call
// does not compile if the list lacks a member, because a structured binding must name all members. As a template, the
// tuple is instantiated by the sources that call it, and by no other.
#pragma once
#include <concepts>
#include <tuple>

#define FIELDS(Struct, ...)            \
  template <std::same_as<Struct> All>  \
  friend auto fields(const All& all) { \
    const auto& [__VA_ARGS__] = all;   \
    return std::tie(__VA_ARGS__);      \
  }
