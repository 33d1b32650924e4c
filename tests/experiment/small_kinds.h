// A small model of each kind of run, and its learner.
#pragma once
#include <memory>

#include "experiment/language/language.h"
#include "experiment/learner.h"
#include "tests/lab/helpers.h"

namespace poslab::test {

struct SmallKind {
  std::string name;
  const Kind& kind;
  Settings settings;
};

inline const Settings small_text = {{"text", "copy_grammar"}, {"layers", "2"},       {"d_model", "8"},
                                    {"d_ff", "12"},           {"batch", "2"},        {"steps", "5"},
                                    {"warmup", "2"},          {"train_length", "8"}, {"eval_times", "1"},
                                    {"eval_samples", "1"},    {"log_every", "1"},    {"checkpoint_every", "2"}};

inline std::vector<SmallKind> small_kinds() {
  const Settings sizes = {{"heads", "2"}, {"layers", "1"},           {"d_model", "8"},   {"d_ff", "12"},
                          {"steps", "5"}, {"checkpoint_every", "2"}, {"log_every", "1"}, {"eval_samples", "2"}};
  const Settings strings = {{"task", "reverse_string"}, {"batch", "2"}, {"train_length", "4"}, {"eval_lengths", "4:5"}};
  Settings five_steps = strings;
  five_steps.insert(five_steps.end(), {{"steps", "5"}, {"checkpoint_every", "2"}});
  return {
      {"llama", language_kind(), overlaid(language_kind().table(), small_text, {{"heads", "2"}, {"key_heads", "1"}})},
      {"gau", language_kind(), overlaid(language_kind().table(), small_text, {{"unit", "gau"}, {"heads", "1"}})},
      {"t5", t5_kind(),
       overlaid(t5_kind().table(), sizes,
                {{"tasks", "passkey"},
                 {"decoder_layers", "1"},
                 {"tokens", "32"},
                 {"shortest", "16"},
                 {"train_length", "16"},
                 {"eval_lengths", "16"},
                 {"warmup", "2"}})},
      {"decoder", answering_kind(), overlaid(answering_kind().table(), sizes, strings)},
      {"strings", strings_kind(), overlaid(strings_kind().table(), tiny, five_steps)}};
}

inline std::unique_ptr<Learner> learner_of(const SmallKind& k, const Settings& more) {
  const auto source = std::make_shared<language::Source>();
  source->grammar = CopyGrammar{};
  return k.kind.make(RunSpec(k.kind.configure(overlaid(k.kind.table(), k.settings, more))), source);
}

inline StepResult step(Learner& l) {
  l.start(l.draw(l.adam().step), nullptr);
  return l.finish();
}

}  // namespace poslab::test
