// Two kinds of error. Every message names what was wrong, the value, and the remedy.
#pragma once
#include <fmt/format.h>

#include <stdexcept>

namespace poslab {

struct BadInput : std::runtime_error {  // the user asked for something impossible: exit status 2
  using std::runtime_error::runtime_error;
};
struct Failure : std::runtime_error {  // the world did not cooperate (disk full, damaged file): exit status 1
  using std::runtime_error::runtime_error;
};

template <class... Args>
[[noreturn]] void bad_input(fmt::format_string<Args...> form, Args&&... args) {
  throw BadInput(fmt::format(form, std::forward<Args>(args)...));
}
template <class... Args>
[[noreturn]] void failure(fmt::format_string<Args...> form, Args&&... args) {
  throw Failure(fmt::format(form, std::forward<Args>(args)...));
}

}  // namespace poslab
