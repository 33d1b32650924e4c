// A checkpoint of the Hugging Face form in place of a run, for `poslab lm eval | generate --hf` and for pages.
#pragma once
#include <memory>

#include "experiment/language/learner.h"
#include "lab/hub/hf_model.h"

namespace poslab::language {

struct HfRun {
  RunSpec config;                                // options of a test; train_length defaults to the model's
  Source source;                                 // the tokens; all of `text` is for the test
  Decoder net;
  HfRope rope{};                           // the positions of its training
  TokenChoice choice{.temperature = 0.8};  // how tokens are drawn by default
  std::string passed_over{};               // a line about ignored keys of generation_config.json, or ""
};
// asked: encoding, temperature, positions, train_length, eval_times, eval_samples, text, matmul, device. Options that
// the encoding leaves open are the model's (for_hf_model). Throws BadInput and Failure as open_hf_model.
HfRun open_hf_run(const std::string& folder, Settings asked, bool with_text);
// The model's sizes, tokens and positions, as options.
Settings settings_of(const HfConfig&);
// The learner of this read-only run: it is tested and drawn like a trained run's, but has no parameters to train.
std::unique_ptr<TextLearner> learner_of(const HfRun&);

}  // namespace poslab::language
