#include <fmt/format.h>

#include "autograd/ops.h"
#include "autograd/tape.h"
#include "bench/serve.h"
#include "core/error.h"
#include "experiment/language/language.h"
#include "lab/files/version.h"
#include "tests/support/formula.h"

namespace poslab {
namespace {

struct CausalDecoder : Served {
  language::State state;
  const MatmulPrecision as_this_run = precision(state.config);  // of evaluations, too
  const int batch, vocabulary;
  uint64_t tested = 0;

  CausalDecoder(const RunSpec& c, int vocabulary)
      : state(c, vocabulary), batch(c.whole("batch")), vocabulary(vocabulary) {
    formula::fill(state.params);
  }

  const Params& params() const override { return state.params; }
  json sizes() const override {
    const DecoderSpec& s = state.net.spec();
    return {{"products", engine_in_full(products(state.config), rounding(state.config))},
            {"symbols_in", vocabulary},
            {"symbols_out", vocabulary},
            {"layers", s.layers},
            {"d_model", s.d_model},
            {"d_ff", s.d_ff}};
  }
  std::string size(int length) const override { return fmt::format("0+{}", length); }
  json lengths(int) const override { bad_input("bench: a decoder trains on windows of one length; use `steps`"); }

  static int slots(const std::string& size) { return std::stoi(size.substr(size.find('+') + 1)); }

  language::Batch draw(int slots, Stream s) const {
    Rng rng(s);
    std::vector<int> read(size_t(batch) * size_t(slots)), expected(read.size());
    for (std::vector<int>* tokens : {&read, &expected})
      for (int& token : *tokens) token = int(rng.below(uint32_t(vocabulary)));
    return {Ids({batch, slots}, read), Ids({batch, slots}, expected)};
  }

  json steps(std::istream& sizes) override {
    json ms = json::array();
    double loss = 0;
    for (std::string size; sizes >> size;) {
      state.config.set("train_length", fmt::format("{}", slots(size)));
      const auto start = Clock::now();
      loss = language::train_step(state, draw(slots(size), stream(0, Purpose::tokens, uint64_t(state.adam.step)))).loss;
      ms.push_back(ms_since(start));
    }
    return {{"ms", ms}, {"loss", loss}};
  }

  static PositionSample positions(int slots) {
    return PositionSample(choose_sampler("sequential"), Resample::per_forward, {}, 1, slots);
  }

  double evaluate(const std::string& size) override {
    const NoGrad no_grad;
    const int T = slots(size);
    const language::Batch b = draw(T, stream(0, Purpose::test_tokens, tested++));
    const PositionSample at = positions(T);
    const std::vector<real> logits = state.net(b.read, T, {at, {}}).values();
    int64_t right = 0;
    for (int64_t i = 0; i < b.expected.size(); ++i) {
      const real* row = logits.data() + i * vocabulary;
      right += std::max_element(row, row + vocabulary) - row == b.expected[i];
    }
    return double(right) / double(b.expected.size());
  }

  Checked checked(bool training, const std::string& size) override {
    const int T = slots(size);
    const int64_t tokens = int64_t(batch) * T;
    const PositionSample at = positions(T);
    const Tensor y = state.net(Ids({batch, T}, formula::integers("check.tokens", tokens, vocabulary)), T, {at, {}});
    const Ids targets({batch, T}, formula::integers("check.targets", tokens, vocabulary));
    return {y, training ? cross_entropy(y, targets) : Tensor()};
  }
};

}  // namespace

void serve_decoder(const Settings& settings) {
  Settings all = settings;
  all.emplace_back("warmup", "0");
  CausalDecoder decoder(RunSpec(language::configure(all)), DecoderSpec().vocabulary);
  serve(decoder);
}

}  // namespace poslab
