// The sizes at which the second source is reproduced, and what --set changes of them.
#include <algorithm>

#include "experiment/language/options.h"
#include "experiment/t5/options.h"
#include "lab/papers/chi2023/chi2023.h"

namespace poslab::reproduce::chi2023 {

const std::vector<Size>& all_sizes() {
  static const std::vector<Size> sizes = {
      {"tiny",
       "a T5 of 2 and 1 layers of width 96, contexts of up to 128 tokens, three seeds; all but the cross within an "
       "hour on 2 cores",
       3,
       {{"preset", "tiny"}, {"tasks", "passkey/line"}, {"eval_samples", "32"}},
       {{"preset", "tiny"},
        {"text", "copy_grammar"},
        {"encoding", "t5"},
        {"train_length", "64"},
        {"steps", "600"},
        {"batch", "16"},
        {"eval_samples", "8"},
        {"eval_times", "1/2/4/8/16"}}},
      {"example",
       "preset example of `poslab t5 train`: 6 layers of width 256, contexts of up to 512 tokens, one seed; for a "
       "machine with many cores",
       1,
       {{"preset", "example"}, {"tasks", "passkey/line"}},
       {{"preset", "example"}, {"encoding", "t5"}, {"merges", "0"}, {"eval_times", "1/2/4/8/16"}}},
  };
  return sizes;
}

Setup setup(const std::string& size, const std::vector<std::string>& sets) {
  const Size& of = find("size", all_sizes(), size);
  const Sets said = read_sets(sets, {}, "lm_");
  const Setup s{joined(of.t5, said.options), joined(of.lm, said.prefixed), said.seeds.value_or(of.seeds)};
  t5::check(t5::configure(s.t5)), language::check(language::configure(s.lm));  // refused now, and not in each run
  if (s.longer().empty())
    bad_input("--set eval_lengths={}: none is beyond the trained length {}; test a longer one",
              t5::configure(s.t5)["eval_lengths"], s.length());
  return s;
}

int Setup::length() const { return t5::configure(t5).whole("train_length"); }

std::vector<int> Setup::longer() const { return beyond(length(), t5::eval_lengths(t5::configure(t5))); }

std::vector<int> Setup::lengths() const {
  std::vector<int> all = longer();
  all.insert(all.begin(), length());
  return all;
}

std::vector<int> beyond(int length, std::vector<int> tested) {
  std::erase_if(tested, [&](int n) { return n <= length; });
  std::sort(tested.begin(), tested.end());
  return tested;
}

}  // namespace poslab::reproduce::chi2023
