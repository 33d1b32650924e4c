// The engine's functions for the page, from words to JSON and numbers. web/lab.mjs turns them into methods. One file
// per subject; each adds its functions to the only list, in web/exports.cpp.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "experiment/state.h"
#include "web/json.h"

namespace poslab::web {

// The words of a call, and numbers that come with them.
class Request {
 public:
  Request(std::vector<std::string> words, std::vector<float> numbers)
      : numbers(std::move(numbers)), words_(std::move(words)) {}
  const std::string& next();                     // the next word. Throws Failure at the end
  bool more() const { return at_ < words_.size(); }
  int whole(const std::string& name, int least, int most);         // the next word. Throws BadInput, naming it
  std::vector<int> lengths();                    // the next word, "20 40 80": at least one. Throws BadInput
  Settings settings();                           // all that remain, a name and a text each
  const std::vector<float> numbers;

 private:
  std::vector<std::string> words_;
  size_t at_ = 1;  // after the name of the function
};

struct Response {
  Json json;
  std::vector<float> numbers = {};               // matrices
};

struct Call {
  const char* name;
  Response (*answer)(Request&);
};
std::vector<Call> catalog_calls(), model_calls(), look_calls(), scheme_calls();

State& model(Request&);  // whose number is the next word. Throws BadInput for one that is gone
Json options_of(const std::vector<Option>&);

}  // namespace poslab::web
