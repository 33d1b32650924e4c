// The limits of schemes and samplers: combined options, ends of tables, and spans and positions that few runs have.
#include "encodings/aligned.h"
#include "encodings/calibrated.h"
#include "encodings/grouped_heads.h"
#include "encodings/picture.h"
#include "encodings/rotary.h"
#include "encodings/sinusoid.h"
#include "encodings/temperature.h"
#include "tests/encodings/schemes.h"

using namespace poslab;
using namespace poslab::test;

namespace {

const Positions six_in_order = Positions::of_tokens(1, {0, 1, 2, 3, 4, 5}),
                six_uneven = Positions::of_tokens(1, {0, 1, 5, 6, 7, 12});

std::vector<double> turns_of(const std::string& spelled, const ModelShape& shape) {
  const Chosen<Scheme> s = choose_encoding(spelled, trained_on(1024));
  return s->pages.pictures.frequencies(shape, s.choices, T, 0);
}

}  // namespace

TEST_CASE("schemes: the laws of two combined options, each of which alone follows other laws") {
  for (const char* spelled : {"grape:form=ap,turns=both", "selective_rope:skip_conv,gate",
                              "selective_rope:skip_conv,bias", "deberta:c2p=off,p2c=off"})
    for (const char* law : {"shift", "Toeplitz", "reversal", "permutation"}) {
      CAPTURE(spelled);
      CAPTURE(law);
      const Report r = run(check_named(law), spelled);
      for (const auto& all : {r.failures, r.unseen})
        for (const std::string& failure : all) FAIL_CHECK(failure);
    }
  CHECK(reads(choose_encoding("deberta:c2p=off,p2c=off")) == Reads::nothing);
  CHECK(reads(choose_encoding("deberta:c2p=off")) == Reads::distances);
  CHECK(reads(choose_encoding("selective_rope:skip_conv")) == Reads::nothing);
  CHECK(reads(choose_encoding("selective_rope:skip_conv,bias")) == Reads::slots);
}

TEST_CASE("schemes: frequencies of schemes without rotation, of one with a base, and of heads of one pair") {
  const ModelShape shape = shape_of(), pairs{layers, 4, 8, false, 24, 0};
  CHECK(turns_of("window:window=3,rope=off", shape) == std::vector<double>(D / 2, 0));
  CHECK(turns_of("window:window=3", shape) == turns_of("rope", shape));
  CHECK(turns_of("entmax:base=rope", shape) == turns_of("rope", shape));
  CHECK(turns_of("entmax:base=alibi", shape) == std::vector<double>(D / 2, 0));
  CHECK(turns_of("longrope:short=4/8", pairs) == std::vector<double>{0.25});  // the first number of the list
  CHECK_THROWS_WITH_AS(
      check_pairs("rope", {.heads = 4, .d_model = 64, .head_width = 5}),
      "rope rotates channels in pairs, but a head has 5, an odd number of channels; make the head size even", BadInput);
  CHECK_THROWS_WITH_AS(frequencies(0), "sinusoid: 0 channels cannot be paired; use an even number", BadInput);
}

TEST_CASE("sinusoid: rows that are cached, rows that extend the cache, and rows too far out to be cached") {
  const std::vector<double> f = frequencies(6);
  for (const double p : {3., 2047., 5000., -4000., 65535., 65536., -70000., 1e9, 0.5}) {
    CAPTURE(p);
    const std::vector<real> row = sinusoid({p}, 6).values();
    for (size_t m = 0; m < 3; ++m) {
      CHECK(row[m] == real(std::sin(p * f[m])));
      CHECK(row[m + 3] == real(std::cos(p * f[m])));
    }
  }
}

TEST_CASE("path: a picture of full reflections has 1 for equal slots, and at most slightly more") {
  const Model model = model_of("path:reflect");
  const std::vector<Tensor> all = position_matrices(model.scheme, shape_of(), PositionSample({six_in_order}));
  double least = 1;
  for (const Tensor& m : all) {
    CHECK(m.shape() == Shape{H, T, T});
    for (int n = 0; n < H * T * T; ++n) {
      const double x = double(m.data()[n]);
      if (n % (T * T) % (T + 1) == 0) CHECK(x == doctest::Approx(1).epsilon(2e-3));
      CHECK(std::abs(x) < 1.002);
      least = std::min(least, x);
    }
  }
  CHECK(least < 0.9);
  CHECK(quantity_of(model.scheme, shape_of(), 0) == Quantity::equal_contents);
}

TEST_CASE("pictures: a table of zeros has the cosine 0") {
  const Model model = model_of("learned");
  for (const Params::Entry& e : model.params.entries()) std::fill_n(e.tensor.data(), e.tensor.size(), real(0));
  CHECK(position_matrices(model.scheme, shape_of(), PositionSample({six_in_order})).at(0).values() ==
        std::vector<real>(T * T, 0));
}

TEST_CASE(
    "rerope: pieces for positions in even steps, whole logits for others, with key heads that several heads read") {
  const Model model = model_of("rerope:window=3");
  const Content content;
  Heads in = content.heads(model, six_in_order);
  in.k = slice(in.k, 2, 0, H / 2);
  const auto logits = [&](const Heads& some, const Positions& p) { return model->logits(some, p, {}); };
  Heads each = in;
  each.k = repeat_heads(in.k, H);
  CHECK(fit_key_heads(*model, in, six_in_order).k.dim(2) == H / 2);
  CHECK(fit_key_heads(*model, in, six_uneven).k.dim(2) == H);
  for (const Positions& p : {six_in_order, six_uneven})
    CHECK(difference(logits(fit_key_heads(*model, in, p), p), logits(each, p)) < tolerance);
  CHECK_THROWS_WITH_AS(model->scores(each, six_uneven), doctest::Contains("need evenly spaced positions"),
                       Failure);
}

TEST_CASE("schemes: a sliding window of the span also masks logits that are computed in full") {
  const Content content;
  for (const bool causal : {false, true})
    for (const char* spelled : {"entmax", "rerope:window=2", "cope"}) {
      if (!causal && spelled == std::string("cope")) continue;  // cope needs a mask
      CAPTURE(spelled);
      CAPTURE(causal);
      const Model model = model_of(spelled, shape_of(H, causal));
      const Heads in = content.heads(model, six_uneven);  // at these positions rerope computes its logits in full
      const Tensor all = model->logits(in, six_uneven, {.causal = causal}),
                   some = model->logits(in, six_uneven, {.causal = causal, .window = 3}),
                   weights = model->weights(in, six_uneven, {.causal = causal, .window = 3});
      for (int n = 0; n < all.size(); ++n) {
        const bool hidden = n / T % T - n % T >= 3;
        CHECK(some.data()[n] == (hidden ? -std::numeric_limits<real>::infinity() : all.data()[n]));
        if (hidden) CHECK(weights.data()[n] == 0);
      }
    }
}

TEST_CASE("schemes: files of biases and temperatures that are too short, or for another model") {
  CHECK(text_of(read_calibration("all -1:0.5 0:0.25")) == "all -1:0.5 0:0.25");
  CHECK_THROWS_WITH_AS(read_calibration(" "), doctest::Contains("calibrated has no numbers"), BadInput);
  for (const char* text : {"2.4. 64 256:0.85", "2.4 64 256:0.85"})
    CHECK_THROWS_WITH_AS(read_aligned(text), doctest::Contains("\"2.4"), BadInput);
  const auto of_model = [](const std::string& model) {
    temperature_layers(Params(1), choose_temperature("aligned:of=" + model + ".1c291ca3 64 256:0.85"), shape_of());
  };
  of_model("2.4");
  for (const char* other : {"2.8", "3.4"})
    CHECK_THROWS_WITH_AS(of_model(other), doctest::Contains("but this one has 2 and 4"), BadInput);
  CHECK(temperature_layers(Params(1), choose_temperature("none"), shape_of()).at(0).absent());
  CHECK(!temperature_layers(Params(1), choose_temperature("key_norm"), shape_of()).at(0).absent());
}

TEST_CASE("tupe: a table whose rows begin at position 1 has no row 0") {
  ModelShape shape = shape_of();
  shape.first = 1;
  const Model model = model_of("tupe:table=learned", shape);
  const Content content;
  CHECK_THROWS_WITH_AS(
      model->scores(content.heads(model, six_in_order), six_in_order),
      "tupe: position 0 is not in the table of 24 rows from position 1 on; use larger positions", BadInput);
}

TEST_CASE("samplers: a table of offsets may take turns with others, and is refused for a scheme that cannot read it") {
  const Chosen<Sampler> offsets = choose_sampler("randomized_offsets|sequential|sequential");
  CHECK(offsets->only_offsets);
  CHECK(!choose_sampler("randomized|sequential")->only_offsets);
  CHECK_THROWS_WITH_AS(
      sampler_for(choose_encoding("alibi|deberta"), choose_sampler("randomized")),
      "alibi|deberta: one part reads a table of random offsets and another positions, but randomized draws only one "
      "of the two; choose parts that read the same",
      BadInput);
  Setup both{choose_encoding("scale_invariant:of=rope"), shape_of(), "", choose_sampler("randomized_offsets"),
             Resample::per_forward};
  CHECK(!both.fits());  // it reads positions besides distances
  both.scheme = choose_encoding("scale_invariant");
  CHECK(both.fits());
  CHECK_THROWS_AS(difference(Tensor::full({2}, 0), Tensor::full({3}, 0)), BadInput);
}

TEST_CASE("positions: constants are made once a pass, for the layers and for the embedding") {
  int made = 0;
  const auto use = [&](const Positions& p) {
    p.once("one", Device::cpu, [&](Device) { return ++made, Tensor::full({1}, 1); });
  };
  const PositionSample s(choose_sampler("randomized&randomized"), Resample::per_layer, stream(1, Purpose::positions, 0),
                         1, 4);
  for (int pass = 1; pass <= 2; ++pass) {
    s.begin_pass();
    for (int twice = 0; twice < 2; ++twice) use(s.at_embedding()), use(s.at_layer(2));  // no other layer is used
    CHECK(made == 2 * pass);
  }
}
