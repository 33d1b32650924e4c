// A small language model learns a made-up language that copies from far away (tasks/language/copy_grammar.h), on texts
// of 128 tokens. Prints its loss on longer texts, with RoPE as trained and with ReRoPE in its place, next to the least
// possible loss.
#include <fmt/format.h>

#include <numeric>

#include "autograd/tape.h"
#include "nn/adam.h"
#include "nn/generate.h"
#include "tasks/language/copy_grammar.h"

using namespace poslab;

namespace {

constexpr int batch = 16, trained = 128;
const CopyGrammar grammar{.symbols = 8, .clause = 6, .back = 6, .copies = 0.7};

constexpr int end = 64;  // how many tokens at the end of a text are tested
struct Lesson {
  Ids read, expected;  // (sequences, T) each; expected: the token after each token read
  double least = 0;    // the loss, in nats a token, of the best possible model at the end of these texts
};
Lesson lesson(int sequences, int length, Stream stream) {
  Rng rng(stream);
  std::vector<int> read, expected;
  double least = 0;
  for (int n = 0; n < sequences; ++n) {
    const std::vector<int> text = grammar.draw(length + 1, rng);
    const std::vector<double> losses = grammar.least_losses(text);
    least += std::accumulate(losses.end() - end, losses.end(), 0.) / (sequences * end);
    read.insert(read.end(), text.begin(), text.end() - 1);
    expected.insert(expected.end(), text.begin() + 1, text.end());
  }
  return {Ids({sequences, length}, read), Ids({sequences, length}, expected), least};
}

PositionSample plain(int length) { return {choose_sampler("sequential"), Resample::per_forward, {}, 1, length}; }

// The loss at the end of some texts, in nats a token.
double loss_of(const Decoder& model, const Lesson& of) {
  const NoGrad still;
  const int B = of.read.shape()[0], T = of.read.shape()[1];
  std::vector<int> last;
  for (int n = 0; n < B; ++n)
    for (int t = T - end; t < T; ++t) last.push_back(of.expected[n * T + t]);
  return double(cross_entropy(model(of.read, end, {plain(T), {}}), Ids({B, end}, last)).item());
}

}  // namespace

int main() {
  DecoderSpec spec;
  spec.vocabulary = grammar.vocabulary();
  spec.layers = 2, spec.heads = 4, spec.key_heads = 2, spec.d_model = 64, spec.d_ff = 160;
  spec.encoding = choose_encoding("rope");
  Params params(1);
  const Decoder model(params, spec);
  params.pack();
  Adam adam(params, 2e-3);
  fmt::print("{} parameters; the least loss is {:.3f}, or {:.3f} if only the newest clause is seen\n",
             params.count(), grammar.least_loss(), grammar.least_loss_within_clauses());

  for (; adam.step < 600; ++adam.step) {
    const auto [read, expected, least] = lesson(batch, trained, stream(1, Purpose::tokens, uint64_t(adam.step)));
    params.clear_grads();
    const Tensor loss = cross_entropy(model(read, trained, {plain(trained), {}}), expected);
    backward(loss);
    adam.update(params);
    if ((adam.step + 1) % 100 == 0) fmt::print("step {:4}   loss {:.3f}\n", adam.step + 1, loss.item());
  }

  const Decoder stretched = model.with_encoding(choose_encoding("rerope:window=48"));
  fmt::print("\nlength     rope   rerope    least\n");
  for (const int length : {128, 256, 512, 1024}) {
    const Lesson test = lesson(32, length, stream(1, Purpose::test_tokens, uint64_t(length)));
    fmt::print("{:6} {:8.3f} {:8.3f} {:8.3f}\n", length, loss_of(model, test), loss_of(stretched, test), test.least);
  }

  fmt::print("\na text of its own:");
  generate(model, {grammar.symbols}, {.count = 40, .choice = {.temperature = 0.7}, .seed = 1},
           [](int token) { return fmt::print(" {}", token), true; });
  fmt::print("\n");
}
