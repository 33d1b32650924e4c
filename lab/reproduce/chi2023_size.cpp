// The sizes at which the second source is reproduced, and what --set changes of them.
#include <algorithm>

#include "core/error.h"
#include "core/names.h"
#include "experiment/language/options.h"
#include "experiment/t5/options.h"
#include "lab/reproduce/chi2023.h"

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
        {"eval_times", "1/2/4/8/16"}},
       ""},
      {"example",
       "preset example of `poslab t5 train`: 6 layers of width 256, contexts of up to 512 tokens, one seed; for a "
       "machine with many cores",
       1,
       {{"preset", "example"}, {"tasks", "passkey/line"}},
       {{"preset", "example"}, {"encoding", "t5"}, {"merges", "0"}, {"eval_times", "1/2/4/8/16"}},
       ""},
  };
  return sizes;
}

Setup setup(const std::string& size, const std::vector<std::string>& sets) {
  std::vector<std::string> names;
  for (const Size& s : all_sizes()) names.push_back(s.name);
  const auto of = std::find_if(all_sizes().begin(), all_sizes().end(), [&](const Size& s) { return s.name == size; });
  if (of == all_sizes().end()) throw BadInput(unknown("size", size, names));
  Setup s{size, of->t5, of->lm, of->seeds, of->note};
  for (const std::string& text : sets) {
    const size_t equals = text.find('=');
    if (equals == text.npos) bad_input("--set {} is not KEY=VALUE; write it as in --set steps=2000", text);
    const std::string key = text.substr(0, equals), value = text.substr(equals + 1);
    const bool of_lm = key.starts_with("lm_");
    const std::string option = of_lm ? key.substr(3) : key;
    for (const char* own : {"preset", "encoding", "positions", "temperature", "seed", "out", "threads"})
      if (option == own)
        bad_input(
            "--set {}: each table says for itself which; choose among them with --size, and how many seeds with "
            "--set seeds=N",
            text);
    if (key == "seeds")
      s.seeds = int(read_whole("seeds", value, {1, 1000}, "1 .. 1000"));
    else
      (of_lm ? s.lm : s.t5).emplace_back(option, value);
  }
  t5::check(t5::configure(s.t5)), language::check(language::configure(s.lm));  // refused now, and not in each run
  if (s.longer().empty())
    bad_input("--set eval_lengths={}: none is beyond the trained length {}; test a longer one",
              t5::configure(s.t5)["eval_lengths"], s.length());
  return s;
}

int Setup::length() const { return t5::configure(t5).whole("train_length"); }

std::vector<int> Setup::longer() const {
  std::vector<int> all;
  for (const int n : t5::eval_lengths(t5::configure(t5)))
    if (n > length()) all.push_back(n);
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<std::string> Setup::learned_together() const { return split(t5::configure(t5)["tasks"], '/'); }

std::vector<std::string> Setup::tasks() const {
  std::vector<std::string> all = learned_together();
  if (std::find(all.begin(), all.end(), "topic") == all.end()) all.push_back("topic");
  return all;
}

}  // namespace poslab::reproduce::chi2023
