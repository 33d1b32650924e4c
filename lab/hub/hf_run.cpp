#include "lab/hub/hf_run.h"

#include <filesystem>

#include "experiment/align.h"
#include "experiment/build.h"
#include "lab/files/corpus.h"
#include "lab/files/files.h"
#include "lab/hub/hf_rope.h"
#include "lab/hub/stored_tensors.h"

namespace poslab::language {

Settings settings_of(const HfConfig& config) {
  const DecoderSpec& sizes = config.spec;
  const auto text_of = [](int n) { return fmt::format("{}", n); };
  return {{"train_length", text_of(config.trained_length)},
          {"encoding", sizes.encoding.spelled()},
          {"layers", text_of(sizes.layers)},
          {"heads", text_of(sizes.heads)},
          {"key_heads", text_of(sizes.key_heads)},
          {"d_model", text_of(sizes.d_model)},
          {"d_ff", text_of(sizes.d_ff)},
          {"biases", sizes.biases ? "on" : "off"},
          {"tied", sizes.tied ? "on" : "off"},
          {"epsilon", sizes.epsilon == 1e-6 ? "1e-6" : "1e-5"},
          {"vocabulary", text_of(sizes.vocabulary)}};
}

HfRun open_hf_run(const std::string& folder, Settings asked, bool with_text) {
  Device where = Device::cpu;
  for (const auto& [name, value] : asked)
    if (name == "device") where = poslab::device(configure({{name, value}}));
  HfModel model = open_hf_model(folder, where);
  if (const std::string more = folder + "/generation_config.json"; !with_text && std::filesystem::exists(more))
    read_generation(read_input(more), more, model.config);
  const HfConfig& its = model.config;
  int trained = its.trained_length;
  HfRope rope = its.rope;
  std::string temperature = "none";  // the test's own temperature, kept apart so that it can be aligned
  for (auto& [name, value] : asked) {
    if (name == "train_length") {
      trained = configure({{name, value}}).whole(name);
      rope.full.original = 0;  // the user's length replaces it
      if (rope.sliding) rope.sliding->original = 0;
    }
    if (name == "temperature") std::swap(temperature, value);
  }
  bool other = false;
  for (auto& [name, value] : asked)
    if (name == "encoding") value = for_hf_model(value, rope, trained), other = true;
  HfConfig as_asked = its;
  as_asked.trained_length = trained;
  Settings own = settings_of(as_asked);
  own.emplace_back("eval_times", "1");
  HfRun run{RunSpec(configure(of_new_run(overlaid(all_choices(), own, asked)))), {}, model.net, rope, its.choice,
            its.passed_over};
  language::check(run.config);
  if (other) run.net = run.net.with_encoding(run.config.scheme);
  const Chosen<TemperaturePolicy> policy = choose_temperature(temperature, trained_on(trained));
  run.net = run.net.at_temperature(policy);
  check_aligned(policy, [&] { return weights_checksum(map_weights(folder)); });
  const auto tokenizer = open_hf_tokenizer(model);
  run.source.tokenizer = tokenizer, run.source.prefix = tokenizer->prefix();
  run.source.begin = its.begin, run.source.ends = its.ends;
  if (!with_text) return run;
  const Corpus corpus = open_corpus(run.config["text"].empty() ? compilers_headers() : run.config["text"]);
  run.source.test = corpus.text;
  run.config.set("text", corpus.path);
  return run;
}

std::unique_ptr<TextLearner> learner_of(const HfRun& run) {
  return std::make_unique<TextLearner>(State(run.config, run.net), std::make_shared<Source>(run.source));
}

}  // namespace poslab::language
