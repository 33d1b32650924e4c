// Inspects an external checkpoint: the attention of its encoder to questions in English.
#include <algorithm>
#include <cmath>
#include <map>

#include "autograd/tape.h"
#include "lab/runs/t5/questions.h"

namespace poslab::t5 {

Probed probed(const HfModel& model, const English& e) {
  const std::shared_ptr<const Tokenizer> tokens = open_hf_tokenizer(model);
  std::map<int, std::vector<std::vector<int>>> prompts;  // by size
  for (const int size : e.sizes)
    for (int n = 0; n < e.samples; ++n) prompts[size].push_back(tokens_of(model, *tokens, written(e, size, n).prompt));
  const auto run = [&model, prompts](const Look& look) {
    const NoGrad still;
    const T5 net = look.temperature ? model.net.at_temperature(*look.temperature) : model.net;
    const std::vector<std::vector<int>>& all = prompts.at(look.length);
    for (int n = 0; n < std::min(int(all.size()), look.samples ? look.samples : int(all.size())); ++n) {
      const int T = int(all[size_t(n)].size());
      const PositionSample counted(sampler_for(net.spec().encoding, choose_sampler("sequential")),
                                   Resample::per_forward, {}, 1, T);
      look.observe([&](Trace* trace) { net.encode(Ids({1, T}, all[size_t(n)]), {}, {counted, {}, trace}); });
    }
  };
  const auto keys = [prompts](int size) {
    double sum = 0;
    for (const std::vector<int>& prompt : prompts.at(size)) sum += double(prompt.size());
    return int(std::lround(sum / double(prompts.at(size).size())));
  };
  const T5Spec& spec = model.net.spec();
  return {.layers = spec.layers,
          .heads = spec.heads,
          .causal = false,
          .prefix = "encoder.",
          .keys = keys,
          .run = run,
          .forward = [&spec, keys](int size) { return encoded(spec, keys(size), 1); },
          .inputs = e.samples};
}

Taken asking_takes(const HfModel& model, const English& e) {
  const Probed prompts = probed(model, e);
  Taken all;
  for (const int size : e.sizes)
    all.then(answer_takes(model.net.spec(), prompts.keys(size), usual_answer, 1).times(e.samples));
  return all;
}

}  // namespace poslab::t5
