// The engine's functions for the page: words in, JSON and numbers out. web/lab.mjs turns them into methods. Each file
// on a subject adds its functions to the list in web/exports.cpp.
#pragma once
#include <string>
#include <vector>

#include "experiment/state.h"
#include "web/json.h"

namespace poslab::web {

// The words of a call and its numbers.
class Request {
 public:
  Request(std::vector<std::string> words, std::vector<float> numbers)
      : numbers(std::move(numbers)), words_(std::move(words)) {}
  const std::string& next();                     // the next word; throws Failure at the end
  bool more() const { return at_ < words_.size(); }
  // the next word as a number; throws BadInput with the word
  int whole(const std::string& name, int least, int most);
  std::vector<int> lengths();                    // the next word, "20 40 80": at least one number; throws BadInput
  Settings settings();                           // all remaining words, as pairs of a name and a value
  const std::vector<float> numbers;

 private:
  std::vector<std::string> words_;
  size_t at_ = 1;  // after the function's name
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

State& model(Request&);  // the model whose number is the next word; throws BadInput if it was removed
Json options_of(const std::vector<Option>&);

}  // namespace poslab::web
