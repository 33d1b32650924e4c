// Compiles the code of docs/adding.md and docs/library.md: each block below is on its page word for word, and does what
// the page says.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "autograd/encoder_block.h"
#include "encodings/by_distance.h"
#include "encodings/rotary.h"
#include "encodings/sinusoid.h"
#include "nn/adam.h"
#include "tests/encodings/schemes.h"
#include "tests/support/places.h"

using namespace poslab;
using namespace poslab::test;

namespace {

// page docs/adding.md
struct Both : Rotary {   // s_ij = (R(p_i) q_i) . (R(p_j) k_j) / sqrt(D) - m_h |p_j - p_i|
  std::vector<double> slope;
  // Layers that give Rotary the same spelling share their rotations.
  Both(const LayerParams&, const ModelShape& m, const Choices& c)   // as layer_of makes it
      : Rotary(c.spelled(), frequencies_of({m.head_dim(), m.heads, 0, 1}, c), pairing_of(c)),
        slope(alibi_slopes(m.heads)) {}

  Scores scores(const Heads& in, const Positions& p) const override {
    Scores s = Rotary::scores(in, p);                                  // door 2: rotated queries and keys
    s.bias = distance_table(p, "both bias", in.q.device(), int(slope.size()),
                          [&](double d, int h) { return -slope[size_t(h)] * std::abs(d); });
    s.pairs = p.distances().last_rows(in.q.dim(1));  // door 3: the row of bias that each pair reads
    return s;
  }
  // Rotary::terms describes a rotation without a bias
  std::optional<LayerTerms> terms(const Positions&, const LayerShape&) const override { return std::nullopt; }
};
// end

const SchemePages both_pages = {.summary = "a rotation and a bias"};
// page docs/adding.md
Scheme both() {
  Scheme s = rotary_scheme({.name = "both", .options = {rope_base(), pairing_option()}, .pages = both_pages},
                           [](const HeadAt& at, const Choices& c) { return RotarySpectrum{frequencies_of(at, c)}; });
  s.make = layer_of<Both>;
  s.pages.doors = "2 and 3", s.pages.pictures.matrix = equal_contents;
  s.pages.shows = always("The logit of equal contents.");
  return s;
}
// end

Tensor loss_of(const Params& params) {
  const Tensor error = params.at("w") - 3;   // (2)
  return sum_all(error * error);
}

std::string text_of(const std::string& file) {   // the text of a file of the repository
  std::ostringstream text;
  text << std::ifstream(std::string(source_folder) + "/" + file).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("pages: the code of the pages is in this file word for word") {
  const std::string source = text_of("tests/tree/page_code.cpp"), mark = std::string("// page ") + "docs/";
  int blocks = 0;
  for (size_t at = source.find(mark); at != source.npos; at = source.find(mark, at + 1), ++blocks) {
    const size_t line = source.find('\n', at), indent = at - 1 - source.rfind('\n', at);
    const std::string page = text_of(source.substr(at + 8, line - at - 8)), margin(indent, ' ');
    std::string block;
    std::istringstream lines(source.substr(line + 1));
    for (std::string one; std::getline(lines, one) && one != margin + "// end";)
      block += (one.starts_with(margin) ? one.substr(indent) : one) + "\n";
    CHECK_MESSAGE(page.find("```cpp\n" + block + "```\n") != page.npos, block);
  }
  CHECK(blocks == 3);
}

TEST_CASE("pages: a scheme with a rotation and a bias has the logits of both") {
  const ModelShape shape = shape_of();
  const Params params(1);
  const Scheme scheme = both();
  const Choices choices("both", scheme.options);
  const Both layer({params / "layer", params / "shared"}, shape, choices);
  CHECK(scheme.pages.pictures.frequencies(shape, choices, 6, 0) == frequencies(shape.head_dim()));
  const Model none = model_of("none"), rope = model_of("rope"), alibi = model_of("alibi:symmetric,mode=differences");
  for (const std::vector<double>& at : {std::vector<double>{0, 1, 2, 3, 4, 5}, {1, 2, 5, 11, 12, 20}})
    for (const int queries : {6, 2}) {
      const Positions p = Positions::of_tokens(1, at);
      const Heads in = Content().heads(none, p, queries);
      const Span span{.offset = 6 - queries};
      const Tensor expected = rope->logits(in, p, span) + alibi->logits(in, p, span) - none->logits(in, p, span);
      CHECK(difference(layer.logits(in, p, span), expected) < tolerance);
    }
}

TEST_CASE("pages: a training loop of one's own, and each thing that goes wrong in it") {
  Params params(1);
  params.full("w", {2}, 0), params.pack();
  Adam adam(params, 0.1);
  // page docs/library.md
  for (; adam.step < 200; ++adam.step) {   // count the steps: update() does not
    params.clear_grads();                  // as zero_grad(): backward() adds to what is there
    backward(loss_of(params));             // clears the tape: another backward() needs another forward pass
    adam.update(params);                   // clips the gradient first: adam.clip is 1
  }
  const NoGrad no_grad;                    // until this scope ends. A nameless `NoGrad();` ends at once
  const double loss = loss_of(params).item();
  // end
  CHECK(loss < 1e-3);
  CHECK(tape_length() == 0);
}

TEST_CASE("pages: gradients add up, a second backward is refused, a nameless NoGrad does nothing, Adam clips at 1") {
  Params params(1);
  params.full("w", {2}, 0), params.pack();
  const Tensor w = params.at("w");
  const Tensor loss = loss_of(params);
  backward(loss);
  const std::vector<real> once = w.grad().values();
  CHECK(once == std::vector<real>{-6, -6});
  CHECK_THROWS_AS(backward(loss), BadInput);
  backward(loss_of(params));
  CHECK(w.grad().values() == std::vector<real>{-12, -12});
  NoGrad();                                // NOLINT(bugprone-unused-raii): the mistake that the page warns of
  loss_of(params);
  CHECK(tape_length() > 0);
  clear_tape();
  Adam adam(params, 0.1), free(params, 0.1);
  free.clip = 1e12;
  adam.update(params), free.update(params);
  CHECK(double(adam.m.data()[0]) == doctest::Approx(-0.1 / std::sqrt(2.)));   // (1 - beta1) of a gradient of norm 1
  CHECK(double(free.m.data()[0]) == doctest::Approx(-1.2));
  CHECK(adam.step == 0);
}
