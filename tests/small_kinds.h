// A small model of each kind of run, and its learner.
#pragma once
#include <memory>

#include "experiment/language/language.h"
#include "experiment/learner.h"
#include "tests/lab_helpers.h"

namespace poslab::test {

struct SmallKind {
  std::string name;
  const Kind& kind;
  Settings settings;
};

inline const Settings small_text = {
    {"text", "copy_grammar"}, {"layers", "2"}, {"d_model", "8"},      {"d_ff", "12"},     {"batch", "2"},
    {"steps", "5"},           {"warmup", "2"}, {"train_length", "8"}, {"eval_times", "1"}, {"eval_samples", "1"},
    {"log_every", "1"},       {"checkpoint_every", "2"}};

inline Settings joined(Settings all, const Settings& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

inline std::vector<SmallKind> small_kinds() {
  const Settings sizes = {{"heads", "2"}, {"layers", "1"},           {"d_model", "8"},   {"d_ff", "12"},
                          {"steps", "5"}, {"checkpoint_every", "2"}, {"log_every", "1"}, {"eval_samples", "2"}};
  const Settings strings = {{"task", "reverse_string"}, {"batch", "2"}, {"train_length", "4"}, {"eval_lengths", "4:5"}};
  return {{"llama", language_kind(), joined(small_text, {{"heads", "2"}, {"key_heads", "1"}})},
          {"gau", language_kind(), joined(small_text, {{"unit", "gau"}, {"heads", "1"}})},
          {"t5", t5_kind(),
           joined(sizes, {{"tasks", "passkey"}, {"decoder_layers", "1"}, {"tokens", "32"}, {"shortest", "16"},
                          {"train_length", "16"}, {"eval_lengths", "16"}, {"warmup", "2"}})},
          {"decoder", answering_kind(), joined(sizes, strings)},
          {"strings", strings_kind(), joined(tiny, joined(strings, {{"steps", "5"}, {"checkpoint_every", "2"}}))}};
}

inline std::unique_ptr<Learner> learner_of(const SmallKind& k, const Settings& more) {
  const auto source = std::make_shared<language::Source>();
  source->grammar = CopyGrammar{};
  return k.kind.make(RunSpec(k.kind.configure(joined(k.settings, more))), source);
}

inline StepResult step(Learner& l) {
  l.start(l.draw(l.adam().step), nullptr);
  return l.finish();
}

}  // namespace poslab::test
