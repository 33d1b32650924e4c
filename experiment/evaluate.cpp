#include "experiment/evaluate.h"

#include <algorithm>

#include "core/stop.h"
#include "experiment/build.h"
#include "tasks/task.h"

namespace poslab {
namespace {

constexpr int baseline_samples = 500;   // brackets take 1 ms per sample at length 100, and scores average many lengths

// One sub-batch, sequences first .. first + count - 1 of this length.
void add_sub_batch(const RunSpec& c, const Transformer& net, int first, int count, AtLength& sum) {
  const Batch batch = test_batch(c, sum.length, first, count);
  const PositionSample positions = test_draw(c, sum.length, first, count, batch.tokens.shape()[1], batch.tokens);
  const Stream drops =
      stream(uint64_t(c.count("seed")), Purpose::test_dropout, uint64_t(sum.length), uint32_t(first) << 10);
  const Pass pass{positions, {real(c.on("test_dropout") ? c.number("dropout") : 0), drops}};
  const Tensor logits = net(batch.tokens, batch.outputs, pass);
  const Score s = score(logits.values().data(), logits.dim(-1), batch);
  sum.samples += count;
  sum.accuracy += count * double(s.correct) / double(s.scored);
  sum.unmasked_accuracy += count * double(s.correct_unmasked) / double(s.slots);
  sum.loss += count * double(cross_entropy(logits, batch.targets).item());
}

}  // namespace

AtLength test_at(const State& state, int length, int samples) {
  const Inference as_this_run(state.config);
  Stoppable all(state.params.device() == Device::cpu);
  const Transformer net = state.test_net();
  const int cut = sub_batch(slots(state.config, length));
  AtLength a{length, 0, 0, 0, 0, {0, 0, 0}};
  for (int first = 0; first < samples; first += cut)
    add_sub_batch(state.config, net, first, std::min(cut, samples - first), a);
  all.complete();
  a.accuracy /= samples, a.unmasked_accuracy /= samples, a.loss /= samples;
  return a;
}

Batch test_batch(const RunSpec& c, int length, int first, int count, Purpose purpose) {
  return make_batch(task(c["task"]), count, length,
                    stream(uint64_t(c.count("seed")), purpose, uint64_t(length), uint32_t(first)));
}

// Streams are 1024 apart, here and for dropout: more than a model has layers and uses of dropout.
PositionSample test_draw(const RunSpec& c, int length, int first, int count, int slots, const Ids& tokens) {
  return draw(c, test_sampler(c),
              stream(uint64_t(c.count("seed")), Purpose::test_positions, uint64_t(length), uint32_t(first) << 10),
              count, slots, tokens);
}

int common_blocks(const RunSpec& c, const std::vector<int>& lengths) {
  int least = 256;
  for (const int length : lengths) {
    const Batch one = test_batch(c, length, 0, 1);
    least = std::min(least, blocks(c, one.tokens.shape()[1] - one.outputs));
  }
  return least;
}

// 64 as in the released code (512 = 8 x 64), and at most 2^26 pairs of slots, so that a table of pairs for each
// sequence stays below 256 MiB.
int sub_batch(int64_t slots) { return int(std::clamp<int64_t>((int64_t(1) << 26) / (slots * slots), 1, 64)); }

double accuracy_at(const State& state, int length, int samples) { return test_at(state, length, samples).accuracy; }

AtLength evaluate(const State& state, int length) {
  const RunSpec& c = state.config;
  AtLength a = test_at(state, length, c.whole("eval_samples"));
  a.baselines = baselines(task(c["task"]), length, baseline_samples, uint64_t(c.count("seed")));
  return a;
}

std::optional<Mean> mean_from(const std::vector<AtLength>& all, int from) {
  if (all.empty() || all.front().length > from || all.back().length < from) return {};
  Mean m{from, all.back().length, 0, {0, 0, 0}};
  const double n = m.to - from + 1;
  for (const AtLength& a : all) {
    if (a.length < from) continue;
    m.accuracy += a.accuracy / n;
    m.baselines.chance += a.baselines.chance / n;
    m.baselines.majority += a.baselines.majority / n;
    m.baselines.content_only += a.baselines.content_only / n;
  }
  return m;
}

}  // namespace poslab
