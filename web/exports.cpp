// The interface to JavaScript: one function, `call`, which reads words and numbers from our buffers. If it fails, it
// returns the message and changes nothing.
#include <algorithm>
#include <cstdint>
#include <new>

#include "autograd/tape.h"
#include "core/stop.h"
#include "web/calls.h"

namespace poslab::web {
namespace {

const std::vector<Call>& all_calls() {
  static const std::vector<Call> all = [] {
    std::vector<Call> list;
    for (const auto& some : {catalog_calls(), model_calls(), look_calls(), scheme_calls()})
      list.insert(list.end(), some.begin(), some.end());
    return list;
  }();
  return all;
}

std::string given_words;                         // each word ends with a 0
std::vector<float> given_numbers;

// The result of `call` for JavaScript.
struct Reply {
  uint32_t status;                               // 0, or the program's exit status: 2 for bad input, 1 for a failure
  const char* text;
  uint32_t bytes;
  const float* numbers;
  uint32_t count;
} reply;
std::string text;
std::vector<float> numbers;

std::vector<std::string> split_words() {
  std::vector<std::string> words;
  for (size_t from = 0, end; from < given_words.size(); from = end + 1) {
    end = std::min(given_words.find('\0', from), given_words.size());
    words.push_back(given_words.substr(from, end - from));
  }
  return words;
}

void answer() {
  Request request(split_words(), std::move(given_numbers));
  const std::string name = split_words().at(0);
  const std::vector<Call>& all = all_calls();
  const auto called = std::find_if(all.begin(), all.end(), [&](const Call& c) { return c.name == name; });
  if (called == all.end()) failure("the page asks for \"{}\", which this engine does not have", name);
  Response a = called->answer(request);
  text = a.json.text(), numbers = std::move(a.numbers);
}

}  // namespace

extern "C" {

__attribute__((export_name("room_for_words"))) char* room_for_words(uint32_t bytes) {
  given_words.assign(bytes, '\0');
  return given_words.data();
}
__attribute__((export_name("room_for_numbers"))) float* room_for_numbers(uint32_t count) {
  given_numbers.assign(count, 0);
  return given_numbers.data();
}

__attribute__((export_name("call"))) const Reply* call() {
  uint32_t status = 0;
  numbers.clear();
  try {
    answer();
  } catch (const BadInput& e) {
    status = 2, text = e.what();
  } catch (const std::exception& e) {
    status = 1, text = e.what();
  }
  if (status) clear_tape();
  reply = {status, text.data(), uint32_t(text.size()), numbers.data(), uint32_t(numbers.size())};
  return &reply;
}

}  // extern "C"

const std::string& Request::next() {
  if (!more()) failure("\"{}\" got only {} arguments", words_[0], words_.size() - 1);
  return words_[at_++];
}
int Request::whole(const std::string& name, int least, int most) {
  const Range range{double(least), double(most)};
  return int(read_whole(name, next(), range, to_string(range)));
}
std::vector<int> Request::lengths() {
  std::vector<int> all;
  for (const std::string& one : split(next(), ' '))
    all.push_back(int(read_whole("length", one, {1, 10000}, "1 .. 10000")));
  return all;
}
Settings Request::settings() {
  Settings all;
  while (more()) {
    const std::string name = next();
    all.emplace_back(name, next());
  }
  return all;
}

}  // namespace poslab::web
