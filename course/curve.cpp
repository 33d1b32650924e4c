// The length curve of an encoding, in seconds: a small encoder learns to sort strings of up to 20 digits with the
// engine of the folder, and is then tested on strings of up to 100. tools/course curve draws the output.
//
//   curve STEPS SAMPLER ENCODING [ENCODING at test]     a line "course LENGTH PERCENT", with tabs, for each length
#include <cstdlib>

#define main program_of_the_spine
#include "examples/rope.cpp"
#undef main

#include "hole.h"
#include "schemes.h"

using namespace course;

namespace {

constexpr int per_batch = 16, to_test = 32, longest_test = 100, slots = 2 * longest_test;

TransformerSpec small_encoder(const Task& task, const std::string& encoding) {
  TransformerSpec spec{.symbols_in = task.symbols_in + 1,
                       .symbols_out = task.symbols_out,
                       .layers = 1,
                       .heads = 4,
                       .d_model = 32,
                       .ffn_multiplier = 2,
                       .pool = slots};
  spec.encoding = scheme(encoding);
  return spec;
}

PositionSample drawn(const Chosen<Sampler>& s, const Batch& batch, Purpose purpose, uint64_t number) {
  Rng rng(stream(seed, purpose, number));
  return PositionSample({s->draw(s.choices, {batch.tokens.shape()[0], batch.tokens.shape()[1], {}}, rng)});
}

void train(const Transformer& net, const Params& params, const Task& task, const Chosen<Sampler>& s, int steps) {
  for (Adam adam(params, 0); adam.step < steps; ++adam.step) {
    const uint64_t step = uint64_t(adam.step);
    adam.lr = 3e-3 * (1 - double(step) / steps);
    Rng rng(stream(seed, Purpose::length, step));
    const Batch batch = make_batch(task, per_batch, 1 + int(rng.below(longest)), stream(seed, Purpose::tokens, step));
    const PositionSample positions = drawn(s, batch, Purpose::positions, step);
    params.clear_grads();
    backward(cross_entropy(net(batch.tokens, batch.outputs, {positions, {}}), batch.targets));
    adam.update(params);
  }
}

void curve(int steps, const std::string& positions, const std::string& encoding, const std::string& at_test) {
  const Task task = completed(bucket_sort());
  const TransformerSpec spec = small_encoder(task, encoding);
  const Chosen<Sampler> s = sampler(positions);
  Params params(seed), others(seed);
  const Transformer net(params, spec);
  params.pack(Device::cpu);
  train(net, params, task, s, steps);
  const Transformer tested =
      net.with_layers(at_test.empty() ? std::shared_ptr<const PositionLayers>(&net.encoding(), [](auto*) {})
                                      : std::make_shared<PositionLayers>(others, scheme(at_test), spec.shape()));
  const NoGrad only_looking;
  for (int length = 4; length <= longest_test; length += 4) {
    const Batch batch = make_batch(task, to_test, length, stream(seed, Purpose::test_tokens, uint64_t(length)));
    const PositionSample p = drawn(s, batch, Purpose::test_positions, uint64_t(length));
    const Tensor logits = tested(batch.tokens, batch.outputs, {p, {}});
    fmt::print("\ncourse\t{}\t{:.2f}\n", length, percent(score(logits.data(), task.symbols_out, batch)));
  }
}

}  // namespace

int main(int count, char** words) try {
  if (count < 4) bad_input("usage: curve STEPS SAMPLER ENCODING [ENCODING at test]");
  curve(std::atoi(words[1]), words[2], words[3], count > 4 ? words[4] : "");
} catch (const Hole& h) {
  fmt::print(stderr, "'{}' is still a hole", h.key);
  return 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "{}", e.what());
  return 2;
}
