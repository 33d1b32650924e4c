#include "lab/papers/size.h"

#include "core/choices.h"
#include "core/error.h"
#include "lab/papers/data.h"

namespace poslab::reproduce {

const std::vector<std::string>& fifteen() {
  static const std::vector<std::string> all = words_in(*data().get("tasks"));
  return all;
}

const std::vector<Size>& all_sizes() {
  static const std::vector<Size> sizes = [] {
    std::vector<Size> all;
    for (const toml::node& one : *data()["sizes"].as_array())
      all.push_back({text_in(one, "name"), text_in(one, "summary"), lists_in(*one.as_table()->get("head"), {})});
    return all;
  }();
  return sizes;
}

const Size& size(const std::string& name) { return find("size", all_sizes(), name); }

Plan trials_at(const Size& size, const ValueLists& settings, const ValueLists& lists,
               const std::vector<ValueLists>& also) {
  return make_plan(overlaid(overlaid(size.head, settings), lists), also, "--size " + size.name);
}

void check_scored(const Size& size, const ValueLists& settings) {
  for (const Trial& t : trials_at(size, settings, {{"encoding", {"none"}}}, {})) {
    const int first = t.config().whole("train_length") + 1;
    const Lengths test = t.config().lengths("eval_lengths");
    if (test.from > first || test.to < first)
      bad_input(
          "eval_lengths = {}:{} with train_length = {}: the tables compare mean accuracies from length {} on, the "
          "first untrained one, and it has to be tested; take eval_lengths = 1:{}",
          test.from, test.to, first - 1, first, test.to < first ? 2 * (first - 1) : test.to);
  }
}

Choices defaults(const Size& size, const ValueLists& settings) {
  return trials_at(size, settings, {{"encoding", {"none"}}}, {}).front().config();
}

}  // namespace poslab::reproduce
