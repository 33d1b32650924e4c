// Traces: seeing a value changes no bit, replaced values enter the rest of the computation, gradients flow through.
#include "nn/trace.h"

#include <doctest/doctest.h>

#include "autograd/tape.h"
#include "encodings/checks/setup.h"
#include "nn/decoder.h"
#include "nn/t5.h"
#include "nn/transformer.h"
#include "tests/support/formula.h"

using namespace poslab;

namespace {

constexpr int B = 2, T = 6, H = 2, D = 4, C = H * D;

PositionSample sequential(int time = T) { return {choose_sampler("sequential"), Resample::per_forward, {}, 1, time}; }
Ids tokens(const char* name = "tokens") { return Ids({B, T}, formula::integers(name, B * T, 5)); }

// A model of one kind, as a function that maps a trace to logits.
struct Traced {
  std::string kind;
  Params params{3};
  std::function<Tensor(Trace*)> run;
};

Traced encoder(const std::string& encoding, bool causal = false) {
  Traced m{encoding};
  const TransformerSpec spec{.symbols_in = 5,
                             .symbols_out = 3,
                             .layers = 2,
                             .heads = H,
                             .d_model = C,
                             .causal = causal,
                             .encoding = choose_encoding(encoding)};
  m.run = [net = Transformer(m.params, spec)](Trace* t) { return net(tokens(), 4, {sequential(), {}, t}); };
  return m;
}
Traced decoder(int gau) {
  Traced m{gau ? "gau" : "decoder"};
  DecoderSpec s;
  s.vocabulary = 5, s.layers = 2, s.heads = s.key_heads = gau ? 1 : H, s.d_model = C, s.d_ff = 12, s.gau = gau;
  s.encoding = choose_encoding("rope");
  m.run = [net = Decoder(m.params, s)](Trace* t) { return net(tokens(), T, {sequential(), {}, t}); };
  return m;
}
Traced t5() {
  Traced m{"t5"};
  T5Spec s;
  s.vocabulary = 5, s.layers = s.decoder_layers = 1, s.heads = H, s.head_dim = D, s.d_model = C, s.d_ff = 12;
  m.run = [net = T5(m.params, s)](Trace* t) {
    const Tensor states = net.encode(tokens(), {}, {sequential(), {}, t});
    return net.decode(tokens("read"), states, {}, {sequential(), {}, t});
  };
  return m;
}

std::vector<Traced> all_models() {
  std::vector<Traced> all = {
      encoder("rope"), encoder("sincos"), encoder("relative"), encoder("cope", true), decoder(0), decoder(4), t5()};
  for (const Traced& m : all) m.params.pack(), formula::fill(m.params);
  return all;
}

std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

// Replaces the attention weights of head 0 by uniform weights.
Tensor even_head_0(const std::string&, const Tensor& x) {
  const Tensor even = Tensor::full({x.dim(0), 1, x.dim(2), x.dim(3)}, real(1) / real(x.dim(3)));
  return concat({even, slice(x, 1, 1, x.dim(1))}, 1);
}

Tensor loss_of(const Tensor& logits) { return sum_all(logits * checks::random_tensor(logits.shape(), 7)); }

}  // namespace

TEST_CASE("trace: neither reading values nor replacing them with equal values changes a bit") {
  for (const Traced& m : all_models()) {
    CAPTURE(m.kind);
    for (const bool recorded : {false, true}) {
      const auto values = [&](Trace* t) {
        std::optional<NoGrad> off;
        if (!recorded) off.emplace();
        const std::vector<real> all = m.run(t).values();
        clear_tape();
        return all;
      };
      const std::vector<real> plain = values(nullptr);
      Trace sees({"*"}), changes;
      std::vector<std::string> names;
      changes.replace("*", [&](const std::string& name, const Tensor& x) {
        names.push_back(name);
        return last_part(name) == "statistics" ? x : Tensor::from(x.shape(), x.values());
      });
      CHECK(values(&sees) == plain);
      CHECK(values(&changes) == plain);
      CHECK(names.size() == sees.captured.size());
      CHECK(names.back() == "logits");
      CHECK(sees.captured.at("logits").values() == plain);
    }
  }
}

TEST_CASE("trace: logits of the last queries are the last rows of all logits, also if only those are computed") {
  const NoGrad off;
  const Traced m = encoder("rope", true);  // its last block computes 4 of 6 slots
  m.params.pack(), formula::fill(m.params);
  const auto logits = [&](int queries) {
    Trace t({"*.logits"});
    t.queries = queries;
    m.run(&t);
    return t.captured;
  };
  const auto all = logits(T), two = logits(2);
  for (const auto& [block, rows] : {std::pair{"block0", T}, {"block1", 4}}) {
    CAPTURE(block);
    const std::string name = std::string(block) + ".attention.logits";
    CHECK(all.at(name).shape() == Shape{B, H, rows, T});
    CHECK(two.at(name).values() == slice(all.at(name), 2, rows - 2, rows).values());
    for (int b = 0, row = 0; b < B * H; ++b)
      for (int i = T - rows; i < T; ++i, ++row)
        for (int j = 0; j < T; ++j) CHECK((all.at(name).data()[row * T + j] == -INFINITY) == (j > i));
  }
}

TEST_CASE("trace: silencing a head equals zeros in its rows of the output projection, and leaves it without gradient") {
  for (Traced m : {encoder("rope"), encoder("t5"), decoder(0)}) {
    CAPTURE(m.kind);
    m.params.pack(), formula::fill(m.params);
    Trace silent({"block1.attention.heads"});
    silent.replace("block1.attention.heads", [](const std::string&, const Tensor& x) {
      const Tensor rest = slice(x, 2, 1, H);
      return concat({Tensor::full({x.dim(0), x.dim(1), 1, D}, 0), rest}, 2);
    });
    m.params.clear_grads();
    const Tensor logits = m.run(&silent);
    backward(loss_of(logits));
    const Tensor &output = m.params.at("block1.attention.output"), &query = m.params.at("block1.attention.query");
    for (int row = 0; row < C; ++row)
      for (int column = 0; column < C; ++column) {
        CHECK((query.grad().data()[row * C + column] == 0) == (column < D));
        CHECK((output.grad().data()[row * C + column] == 0) == (row < D));
      }
    std::fill_n(output.data(), D * C, real(0));
    const NoGrad off;
    CHECK(logits.values() == m.run(nullptr).values());
  }
}

TEST_CASE("trace: an activation of another pass can replace this pass's") {
  const Traced m = encoder("rope"), n = encoder("rope");
  m.params.pack(), formula::fill(m.params), n.params.pack();
  const NoGrad off;
  Trace other({"block1.out"}), patched;
  const std::vector<real> expected = n.run(&other).values();
  patched.replace("block1.out", [&](const std::string& name, const Tensor&) { return other.captured.at(name); });
  CHECK(m.run(nullptr).values() != expected);
  std::copy_n(n.params.at("head.w").data(), n.params.at("head.w").size(), m.params.at("head.w").data());
  std::copy_n(n.params.at("head.b").data(), n.params.at("head.b").size(), m.params.at("head.b").data());
  CHECK(m.run(&patched).values() == expected);
}

TEST_CASE("trace: a value of another shape, an empty one, and one that nothing reads are refused") {
  const Traced m = encoder("rope");
  const NoGrad off;
  const auto with = [&](const char* pattern, const Tensor& y) {
    Trace t;
    t.replace(pattern, [y](const std::string&, const Tensor&) { return y; });
    m.run(&t);
  };
  CHECK_THROWS_WITH_AS(with("block0.out", Tensor::full({B, T}, 0)),
                       "trace: block0.out has shape (2, 6, 8), and its replacement (2, 6); give a tensor of "
                       "shape (2, 6, 8) on its device", BadInput);
  CHECK_THROWS_AS(with("embedding", Tensor()), BadInput);
  CHECK_THROWS_WITH_AS(with("block0.attention.statistics", Tensor::full({B, H, T, statistics_per_row}, 0)),
                       "trace: block0.attention.statistics is computed only to be shown, and nothing reads it; replace "
                       "block0.attention.heads", BadInput);
}

TEST_CASE("trace: heads read values by the replaced weights, and gradients are those of this computation") {
  for (const char* block : {"block0", "block1"}) {
    for (Traced m : {encoder("rope"), encoder("geometric"), encoder("cope", true), decoder(0), t5()}) {
      const std::string at = (m.kind == "t5" ? "encoder.block0" : std::string(block)) + ".attention.";
      CAPTURE(m.kind);
      CAPTURE(at);
      m.params.pack(), formula::fill(m.params);
      const auto gradients = [&](Trace& t) {
        m.params.clear_grads();
        backward(loss_of(m.run(&t)));
        return std::vector<real>(m.params.grads(), m.params.grads() + m.params.count());
      };
      Trace changed({at + "heads"}), plain({at + "heads"}), formula;
      changed.replace(at + "weights", even_head_0);
      Tensor v;
      formula.replace(at + "value", [&](const std::string&, const Tensor& x) { return v = x; });
      formula.replace(at + "heads", [&](const std::string&, const Tensor& x) {
        const Tensor read = slice(mean(v, 1).reshape({B, 1, H, D}), 2, 0, 1) + Tensor::full({B, x.dim(1), 1, D}, 0);
        return concat({read, slice(x, 2, 1, H)}, 2);
      });
      const std::vector<real> ours = gradients(changed), theirs = gradients(formula);
      gradients(plain);
      for (size_t n = 0; n < ours.size(); ++n) CHECK(ours[n] == doctest::Approx(theirs[n]).epsilon(1e-4).scale(0.1));
      const Tensor of_others = slice(changed.captured.at(at + "heads").detach(), 2, 1, H);
      CHECK(of_others.values() == slice(plain.captured.at(at + "heads").detach(), 2, 1, H).values());
      CHECK(changed.captured.at(at + "heads").values() != plain.captured.at(at + "heads").values());
    }
  }
}

TEST_CASE("trace: weights cannot be replaced where a head reads more than values") {
  const Traced m = encoder("shaw");
  m.params.pack(), formula::fill(m.params);
  const NoGrad off;
  Trace t;
  t.replace("block1.attention.weights", even_head_0);
  CHECK_THROWS_WITH_AS(m.run(&t),
                       "trace: block1.attention.weights: the result of this encoding's heads is not weights times "
                       "values, so new weights do not determine it; replace block1.attention.heads", BadInput);
}

TEST_CASE("trace: gradients of all activations are finite differences" * doctest::skip(sizeof(real) == 4)) {
  constexpr double step = 1e-5;
  for (const Traced& m : all_models()) {
    CAPTURE(m.kind);
    Trace sees({"*"});
    backward(loss_of(m.run(&sees)));
    int checked = 0;
    for (const auto& [name, x] : sees.captured) {
      if (last_part(name) == "statistics" || last_part(name) == "weights") continue;  // these have no gradient
      CAPTURE(name);
      const std::vector<real> gradient = x.grad().values();
      for (int64_t e = 0; e < x.size(); e += std::max<int64_t>(1, x.size() / 5)) {
        const auto moved = [&](double by) {
          const NoGrad off;
          Trace t;
          t.replace(name, [&](const std::string&, const Tensor& y) {
            Tensor z = Tensor::from(y.shape(), y.values());
            z.data()[e] += real(by);
            return z;
          });
          return double(loss_of(m.run(&t)).item());
        };
        const double slope = (moved(step) - moved(-step)) / (2 * step);
        CHECK(double(gradient[size_t(e)]) == doctest::Approx(slope).epsilon(1e-6).scale(1));
        ++checked;
      }
    }
    CHECK(checked > 50);
  }
}
