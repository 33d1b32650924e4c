// Two kinds of error. Every message names the fault, the value and the remedy.
#pragma once
#include <fmt/format.h>

#include <stdexcept>

namespace poslab {

struct BadInput : std::runtime_error {  // the user asked for something impossible: exit status 2
  using std::runtime_error::runtime_error;
};
struct Failure : std::runtime_error {  // the machine or a file failed (disk full, damaged file): exit status 1
  using std::runtime_error::runtime_error;
};

template <class Error>
[[noreturn]] void raise(const std::string& message) {
  throw Error(message);
}

template <class... Args>
[[noreturn]] void bad_input(fmt::format_string<Args...> form, Args&&... args) {
  raise<BadInput>(fmt::format(form, std::forward<Args>(args)...));
}
template <class... Args>
[[noreturn]] void failure(fmt::format_string<Args...> form, Args&&... args) {
  raise<Failure>(fmt::format(form, std::forward<Args>(args)...));
}

// Returns work(); the message of a BadInput that it throws then begins with the owner: "rope: window is ...".
template <class Work>
auto prefix_errors(const std::string& owner, const Work& work) {
  try {
    return work();
  } catch (const BadInput& e) { raise<BadInput>(owner + ": " + e.what()); }
}

}  // namespace poslab
