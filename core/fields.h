// The members of a plain struct as a tuple of references, from one list inside the struct:
//
//   struct Point {
//     int x = 0, y = 0;
//     FIELDS(Point, x, y)            // fields(p) is std::tie(p.x, p.y)
//   };
//
// It is for code that has to see every member, such as the record keys of the GPU's queue (cuda/record_key.h). A list
// that lacks a member does not compile, because a structured binding must name all members.
#pragma once
#include <tuple>

#define FIELDS(Struct, ...)                    \
  friend auto fields(const Struct& all) {      \
    const auto& [__VA_ARGS__] = all;           \
    return std::tie(__VA_ARGS__);              \
  }
