#include "lab/hub/hf_run.h"

#include <filesystem>

#include "experiment/align.h"
#include "lab/files/corpus.h"
#include "lab/files/files.h"
#include "lab/hub/hf_rope.h"
#include "lab/hub/stored_tensors.h"

namespace poslab::language {

HfRun open_hf_run(const std::string& folder, Settings asked, bool with_text) {
  HfModel model = open_hf_model(folder);
  if (const std::string more = folder + "/generation_config.json"; !with_text && std::filesystem::exists(more))
    read_generation(read_input(more), more, model.config);
  const HfConfig& its = model.config;
  int trained = its.trained_length;
  std::string temperature = "none";  // of the test alone, so that it may be aligned
  for (auto& [name, value] : asked) {
    if (name == "train_length") trained = configure({{name, value}}).whole(name);
    if (name == "temperature") std::swap(temperature, value);
  }
  bool other = false;
  for (auto& [name, value] : asked)
    if (name == "encoding") value = for_hf_model(value, its.rope, trained), other = true;
  Settings all = {{"train_length", fmt::format("{}", trained)},
                  {"eval_times", "1"},
                  {"text", ""},
                  {"encoding", its.spec.encoding.spelled()}};
  all.insert(all.end(), asked.begin(), asked.end());
  HfRun run{configure(of_new_run(all)), {}, model.net, its.ends, its.choice};
  language::check(run.config);
  if (other) run.net = run.net.with_encoding(scheme(run.config));
  const Chosen<TemperaturePolicy> policy = choose_temperature(temperature);
  run.net = run.net.at_temperature(policy);
  check_aligned(policy, [&] { return weights_checksum(map_weights(folder)); });
  const auto tokenizer = open_hf_tokenizer(model);
  run.source.others = tokenizer, run.source.prefix = tokenizer->prefix();
  const Choices& c = run.config;
  if (with_text) run.source.test = open_corpus(c["text"].empty() ? compilers_headers() : c["text"]).text;
  return run;
}

}  // namespace poslab::language
