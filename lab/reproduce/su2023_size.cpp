// The sizes at which the third source is reproduced, and what --set changes of them.
#include <algorithm>

#include "core/error.h"
#include "core/names.h"
#include "lab/reproduce/su2023.h"

namespace poslab::reproduce::su2023 {
namespace {

// Times and what counts in a test are the tables' own.
const language::Settings tests = {{"eval_times", "1/2/4/8"}};
const language::Settings tests_of_llama = {{"eval_times", "1/2/4"}};

language::Settings joined(language::Settings first, const language::Settings& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

const std::vector<Size>& all_sizes() {
  static const std::vector<Size> sizes = {
      {"tiny",
       "3 blocks of LLaMA's of width 128, windows of 64 tokens, three seeds; all of it within an hour on 2 cores",
       3,
       {{"unit", "llama"},
        {"layers", "3"},
        {"heads", "4"},
        {"key_heads", "4"},
        {"d_model", "128"},
        {"d_ff", "256"},
        {"merges", "256"},
        {"train_length", "64"},
        {"repeats", "0.5"},
        {"batch", "16"},
        {"steps", "1500"},
        {"lr", "0.003"},
        {"eval_samples", "64"},
        {"log_every", "50"}},
       {},
       "The source's models learn from their text alone to copy what they have read before; models of this size do not "
       "in the time. Tried were, always on the headers: gated attention units, 1,500 steps of 8 windows of 128 tokens, "
       "and with three tenths of the windows repeated 1,500 steps of 16 windows of 64; LLaMA's blocks, 3,000 steps of "
       "8 windows of 128. All of them were as good on repeated texts as on long ones, but no better. So half of the "
       "training windows say their beginning again and again (units of 8 to 32 tokens), and the blocks are LLaMA's, "
       "which learn to copy within 1,200 steps. No test repeats at so short a distance: its units have 128 tokens."},
      {"example",
       "10 million parameters: 24 units of width 256, windows of 512 tokens, one seed; days on many cores",
       1,
       {{"unit", "gau"},
        {"layers", "24"},
        {"heads", "8"},
        {"key_heads", "8"},
        {"d_model", "256"},
        {"d_ff", "512"},
        {"merges", "768"},
        {"train_length", "512"},
        {"batch", "16"},
        {"steps", "20000"},
        {"lr", "0.001"},
        {"eval_samples", "16"}},
       {{"layers", "12"}, {"d_ff", "688"}},
       ""},
      {"paper",
       "the source's 100 million parameters: 24 units of width 768, windows of 512 tokens, three seeds; name a text of "
       "your own with --set text=FOLDER",
       3,
       {{"unit", "gau"},
        {"layers", "24"},
        {"heads", "12"},
        {"key_heads", "12"},
        {"d_model", "768"},
        {"d_ff", "1536"},
        {"merges", "12000"},
        {"train_length", "512"},
        {"batch", "64"},
        {"steps", "200000"},
        {"lr", "0.0003"},
        {"warmup", "2000"},
        {"eval_samples", "64"}},
       {{"layers", "12"}, {"d_ff", "2048"}},
       "The source does not tell its text, vocabulary, batch and number of steps, and it has an optimizer of its own; "
       "these are guesses."},
  };
  return sizes;
}

Setup setup(const std::string& size, const std::vector<std::string>& sets) {
  std::vector<std::string> names;
  for (const Size& s : all_sizes()) names.push_back(s.name);
  const auto of = std::find_if(all_sizes().begin(), all_sizes().end(), [&](const Size& s) { return s.name == size; });
  if (of == all_sizes().end()) throw BadInput(unknown("size", size, names));
  Setup s{size, joined(of->all, tests), joined(joined(of->all, of->llama), tests_of_llama), of->seeds, of->note};
  for (const std::string& text : sets) {
    const size_t equals = text.find('=');
    if (equals == text.npos) bad_input("--set {} is not KEY=VALUE; write it as in --set steps=2000", text);
    const std::string key = text.substr(0, equals), value = text.substr(equals + 1);
    for (const char* own : {"preset", "encoding", "positions", "temperature", "seed", "eval_times", "eval_tail", "out",
                            "threads", "checkpoint_every"})
      if (key == own)
        bad_input(
            "--set {}: each table says for itself which; choose among them with --size, and how many seeds with "
            "--set seeds=N",
            text);
    if (key == "seeds") {
      s.seeds = int(read_whole("seeds", value, {1, 1000}, "1 .. 1000"));
      continue;
    }
    s.all.emplace_back(key, value), s.llama.emplace_back(key, value);
  }
  s.llama.emplace_back("unit", "llama");
  language::check(language::configure(s.all));  // refused now, and not in each run
  if (s.length() < 16)
    bad_input("--set train_length={}: the smallest window of ReRoPE is an eighth of it; take 16 or more", s.length());
  s.llama.emplace_back("eval_tail", fmt::format("{}", s.length()));
  language::check(language::configure(s.llama));
  return s;
}

}  // namespace poslab::reproduce::su2023
