// The frequencies of RoPE's variants: golden ratios to RoPE's, limits in which one variant equals another, refusals.
#include <doctest/doctest.h>

#include <numbers>

#include "encodings/rotary.h"
#include "tests/encodings/schemes.h"

using namespace poslab;
using namespace poslab::test;

namespace {

// The frequencies of one of `heads` heads that have `channels` channels each.
std::vector<double> frequencies_of(const std::string& spelled, int channels, int slots = 1, int head = 0,
                                   int heads = 1) {
  const Chosen<Scheme> s = choose_encoding(spelled, trained_on(40));
  const ModelShape m{1, heads, heads * channels};
  s->check(m, s.choices);
  return s->pages.pictures.frequencies(m, s.choices, slots, head);
}

// RoPE's frequency divided by the scheme's, at pair m.
double slowed(const std::string& spelled, int channels, size_t m, int slots = 1, const std::string& rope = "rope") {
  return frequencies_of(rope, channels)[m] / frequencies_of(spelled, channels, slots)[m];
}

// The factor on the scheme's logits relative to RoPE's, measured at distance 0.
double factor(const std::string& spelled, int slots = 1) {
  const Chosen<Scheme> s = choose_encoding(spelled, trained_on(40));
  const ModelShape m{1, 1, 4};
  Params params(1);
  const std::vector<double> here(size_t(slots), 0);
  return double(position_matrix(PositionLayers(params, s, m), m, Positions::of_tokens(1, here)).values()[0]);
}

// Logits of one sequence of T slots with positions far apart.
Tensor logits_of(const std::string& spelled) {
  const Model model(choose_encoding(spelled, trained_on(40)), {layers, H, C});
  const Positions p = Positions::of_tokens(1, {0, 3, 4, 7.5, 10, 2000});
  return model->logits(Content().heads(model, p), p, {});
}

void same(const std::string& a, const std::string& b) {
  CAPTURE(a);
  CHECK(difference(logits_of(a), logits_of(b)) < tolerance);
}

doctest::Approx near(double x) { return doctest::Approx(x).epsilon(1e-4); }

}  // namespace

TEST_CASE("rotary: NTK-aware frequencies, golden ratios of its four forms for D = 64 and factor 8") {
  const std::vector<std::pair<const char*, std::vector<double>>> golden = {
      {"ntk:form=old", {1, 1.0671, 2.6505, 7.4967}},
      {"ntk", {1, 1.0694, 2.7351, 8}},
      {"ntk:form=fixed", {1.0671, 1.1388, 2.8284, 8}},
      {"ntk:form=mixed", {1.2692, 1.4443, 3.8511, 8}}};
  for (const auto& [spelled, ratios] : golden)
    for (size_t n = 0; n < 4; ++n) CHECK(slowed(spelled, 64, std::array{0u, 1u, 15u, 31u}[n]) == near(ratios[n]));
  for (size_t m = 0; m < 4; ++m) {
    CHECK(slowed("ntk:form=mixed,exponent=1", 8, m) == near(slowed("ntk:form=fixed", 8, m)));
    CHECK(slowed("ntk:form=mixed,exponent=0", 8, m) == near(8));
    CHECK(slowed("pi:factor=3", 8, m) == near(3));
  }
}

TEST_CASE("rotary: dynamic laws, golden bases; up to the trained length they change nothing") {
  const auto base = [](const char* spelled, int slots) {   // from the second frequency of 128 channels
    return std::pow(frequencies_of(spelled, 128, slots)[1], -64);
  };
  CHECK(base("dynamic_ntk:length=2048", 4096) == near(20221));
  CHECK(base("dynamic_ntk:length=2048,factor=2", 4096) == near(30528));
  CHECK(base("dynamic_ntk:length=2048,factor=2", 2048) == near(10000));
  CHECK(base("dynamic_ntk:length=2048,factor=2", 100) == near(10000));
  CHECK(slowed("pi:dynamic,length=40", 8, 3, 100) == near(2.5));
  CHECK(slowed("pi:dynamic,length=40", 8, 3, 40) == near(1));
  CHECK(slowed("yarn:dynamic,length=40", 8, 3, 100) == near(2.5));
  CHECK(slowed("yarn:dynamic,length=40", 8, 3, 40) == near(1));
  CHECK(factor("yarn:dynamic,length=2", 1) == near(1));
  CHECK(factor("yarn:dynamic,length=2", 4) == near(std::pow(0.1 * std::log(2) + 1, 2)));
}

TEST_CASE("rotary: YaRN's two ramps, golden ratios for D = 64, 512 positions and factor 8; its factor on the logits") {
  const std::vector<std::pair<const char*, std::vector<double>>> golden = {
      {"yarn:length=512", {1.072, 1.507, 2.537, 5.2, 8, 8}},
      {"yarn:length=512,ramp=turns", {1.213, 3.060, 5.899, 7.847, 8, 8}}};
  for (const auto& [spelled, ratios] : golden)
    for (size_t n = 0; n < 6; ++n)
      CHECK(slowed(spelled, 64, std::array{4u, 8u, 12u, 15u, 16u, 31u}[n]) == doctest::Approx(ratios[n]).epsilon(5e-4));
  CHECK(slowed("yarn:length=512", 64, 3) == near(1));
  CHECK(slowed("yarn:length=512,truncate=off", 64, 15) > 1.01 * slowed("yarn:length=512", 64, 15));
  CHECK(choose_encoding("rope:base=1e+16").spelled() == "rope:base=1e16");
  CHECK(choose_encoding("none*2+rope:base=1e+16*2").spelled() == "none*2+rope:base=1e16*2");
  const double t = 0.1 * std::log(8) + 1;
  CHECK(factor("yarn") == near(t * t));
  CHECK(factor("yarn:mscale=0") == near(1));
  CHECK(factor("yarn:mscale_all_dim=1") == near(1));
  CHECK(factor("yarn:mscale=0.7,mscale_all_dim=1") == near(std::pow((0.07 * std::log(8) + 1) / t, 2)));
  CHECK(factor("yarn:mscale=0.7,attention=0.8") == near(0.64));
  // If all pairs turn faster, or slower, than at the ramp's ends, the ramp falls, as in the released code.
  for (size_t m = 0; m < 4; ++m) {
    CHECK(slowed("yarn:length=48,base=10,beta_fast=0.05,beta_slow=0.01", 8, m, 1, "rope:base=10") == near(8));
    CHECK(slowed("yarn:length=16,base=100,beta_fast=40,beta_slow=20", 8, m, 1, "rope:base=100") == near(1));
  }
}

TEST_CASE("rotary: in small heads YaRN's ramp is a step, and no length gives NaN") {
  CHECK(slowed("yarn", 8, 0) == near(1));
  for (size_t m = 1; m < 4; ++m) CHECK(slowed("yarn", 8, m) == near(8));
  for (const char* spelled : {"yarn:", "yarn:ramp=turns,", "yarn:truncate=off,", "ntk_by_parts:", "yarn:resonance,"})
    for (int length : {1, 2, 7, 40, 1 << 24})
      for (int channels : {2, 4, 8, 128}) {
        const std::string text = fmt::format("{}length={}", spelled, length);
        CAPTURE(text);
        const std::vector<double> f = frequencies_of(text, channels), rope = frequencies_of("rope", channels);
        for (size_t m = 0; m < f.size(); ++m) CHECK((f[m] >= rope[m] / 8 * 0.9 && f[m] <= rope[m] * 1.1));
      }
}

TEST_CASE("rotary: Llama 3's bands, LongRoPE's lists and factor, golden") {
  const std::vector<std::pair<size_t, double>> golden = {{0, 1},       {28, 1},      {29, 1.2075}, {30, 1.5534},
                                                         {32, 2.6945}, {34, 5.2573}, {35, 8},      {63, 8}};
  for (const auto& [m, ratio] : golden) CHECK(slowed("llama3:length=8192", 128, m, 1, "abf") == near(ratio));
  CHECK(std::sqrt(factor("longrope:length=4096")) == near(1.118034));
  CHECK(factor("longrope:factor=1") == near(1));
  CHECK(factor("longrope:attention=0.8") == near(0.64));
  const std::string lists = "longrope:length=40,long=1/2/5/9,short=1/3";
  for (size_t m = 0; m < 4; ++m) {
    CHECK(slowed(lists, 8, m, 41) == near(std::array{1., 2., 5., 9.}[m]));
    CHECK(slowed(lists, 8, m, 40) == near(1 + 2. * double(m) / 3));
  }
  CHECK(slowed("longrope", 64, 31, 41) == near(8));
  for (const int slots : {40, 41})  // of 8 channels the first 4 turn, like a head of 4
    CHECK(frequencies_of("longrope:fraction=0.5,length=40,long=1/5,short=1/2", 8, slots) ==
          std::vector<double>{1, slots == 41 ? 0.01 / 5 : 0.01 / 2, 0, 0});
  CHECK(choose_encoding("longrope:long=1/2.50/9").spelled() == "longrope:long=1/2.5/9,length=1L");
}

TEST_CASE("rotary: pairs that do not turn, whole wavelengths, and half a turn of a Moebius strip, golden") {
  CHECK(frequencies_of("partial_rope:fraction=0.5", 8) == std::vector<double>{1, 0.01, 0, 0});
  CHECK(frequencies_of("p_rope:fraction=0.5", 8) == std::vector<double>{1, 0.1, 0, 0});
  CHECK(frequencies_of("hope_hf", 8) == std::vector<double>{1, 0, 0, 0});
  CHECK(frequencies_of("hope_hf:length=63", 8) == std::vector<double>{1, 0.1, 0, 0});
  const std::vector<double> clipped = frequencies_of("clipped_rope", 8);
  CHECK(clipped[1] == near(0.1));
  CHECK(clipped[2] == near(0.005));
  CHECK(clipped[3] == 0);
  CHECK(frequencies_of("clipped_rope:taper=hard", 8) == frequencies_of("hope_hf", 8));
  CHECK(frequencies_of("clipped_rope:planes=2", 8)[1] == near(0.1));
  CHECK(frequencies_of("clipped_rope:planes=2", 8)[2] == near(0.01));

  const std::vector<double> whole = frequencies_of("resonance", 8), golden = {1.047198, .099733, .010005, .001};
  for (size_t m = 0; m < 4; ++m) CHECK(whole[m] == near(golden[m]));

  const auto mean_cosine = [](const std::vector<double>& f, double distance) {
    double sum = 0;
    for (double x : f) sum += std::cos(distance * x) / double(f.size());
    return sum;
  };
  const std::vector<double> strip = frequencies_of("mobius:length=64", 8, 1, 0, 4);
  for (const auto& [distance, cosine] : {std::pair{1, .97489}, {8, 0.}, {32, 0.}, {63, -.97489}, {64, -1.}})
    CHECK(mean_cosine(strip, distance) == doctest::Approx(cosine).epsilon(1e-4));
  CHECK(frequencies_of("mobius", 8, 1, 1, 4) == frequencies_of("rope", 8));
  CHECK(frequencies_of("mobius", 8, 1, 1, 8) == frequencies_of("mobius", 8, 1, 0, 4));
}

TEST_CASE("rotary: limits in which a scheme equals RoPE, or another scheme") {
  for (const char* one :
       {"pi:factor=1", "pi:dynamic", "ntk:factor=1", "ntk:form=old,factor=1", "ntk:form=fixed,factor=1",
        "ntk:form=mixed,factor=1", "dynamic_ntk", "yarn:factor=1", "yarn:ramp=turns,factor=1", "ntk_by_parts:factor=1",
        "llama3:factor=1,base=10000", "longrope:factor=1", "partial_rope:fraction=1", "p_rope:fraction=1",
        "hope_hf:length=100000", "clipped_rope:length=100000", "mobius:fraction=0", "abf:base=10000"})
    same(one, "rope");
  same("rope:base=500000", "abf");
  same("ntk:form=mixed,exponent=0", "pi");
  same("ntk:form=mixed,exponent=1", "ntk:form=fixed");
  same("yarn:ramp=turns,beta_slow=1000,beta_fast=1001,mscale=0", "pi");
  same("yarn:beta_slow=1e-6,beta_fast=2e-6,mscale=0,ramp=turns", "rope");
  same("longrope:factor=1,length=5,long=8", "pi");
  same("fope:sigma=0", "hope_hf:pairing=half");
  same("fope:sigma=0,length=100000", "rope:pairing=half");
  CHECK(difference(logits_of("pi"), logits_of("rope")) > 1e-3);
  CHECK(difference(logits_of("yarn:mscale=0"), logits_of("yarn")) > 1e-3);
}

TEST_CASE("rotary: heads of one scheme may differ, and each turns by its own frequencies") {
  const Content c;
  const Positions p = Positions::of_tokens(1, {0, 3, 4, 7.5, 10, 2000});
  const Tensor all = logits_of("mobius:fraction=0.5"), rope = logits_of("rope"), strip = logits_of("mobius:fraction=1");
  CHECK(difference(slice(all, 1, 0, 2), slice(strip, 1, 0, 2)) < tolerance);
  CHECK(difference(slice(all, 1, 2, H), slice(rope, 1, 2, H)) < tolerance);
  CHECK(difference(slice(all, 1, 0, 2), slice(rope, 1, 0, 2)) > 1e-3);
}

TEST_CASE("rotary: with any number of groups, each group's heads turn their own queries and keys") {
  const std::vector<std::vector<double>> f = {{1, 0.5}, {0.25, 0.125}, {2, 0.75}};
  const Rotary three("three", Pairing::interleaved, [&](int) -> std::vector<Rotary::Group> {
    return {{{f[0]}, 1}, {{f[1]}, 2}, {{f[2]}, 1}};
  });
  const Positions p = Positions::of_tokens(1, {0, 3, 4, 7.5, 10, 2000});
  const Content c;
  const Heads in{.q = c.q, .k = c.k, .x = c.x};
  const Tensor all = three.logits(in, p, {});
  for (int head = 0; head < H; ++head) {
    const size_t group = size_t((head + 1) / 2);
    const Rotary one(fmt::format("group {}", group), f[group], Pairing::interleaved);
    CHECK(difference(slice(all, 1, head, head + 1), slice(one.logits(in, p, {}), 1, head, head + 1)) < tolerance);
  }
}

TEST_CASE("rotary: every scheme that turns by frequencies shows them, at most 2 radians a position") {
  int shown = 0;
  for (const Scheme& s : all_encodings()) {
    if (!s.pages.pictures.frequencies) continue;
    CAPTURE(s.name);
    const Chosen<Scheme> chosen = choose_encoding(s.name, trained_on(1024));
    const ModelShape m{1, 4, 32};
    for (int head = 0; head < 4; ++head)
      for (int slots : {1, 1000}) {
        const std::vector<double> f = s.pages.pictures.frequencies(m, chosen.choices, slots, head);
        CHECK(f.size() == 4);
        for (double x : f) CHECK_MESSAGE(std::abs(x) <= 2, s.name, " turns by ", x, " radians a position");
      }
    ++shown;
  }
  CHECK(shown >= 16);
}

TEST_CASE("rotary: refusals name a remedy") {
  CHECK(refused("yarn", {1, 4, 12}).find("yarn rotates channels in pairs") == 0);
  CHECK(refused("fope", {1, 4, 12}).find("make the head size even") != std::string::npos);
  CHECK(refused("yarn:beta_fast=1").find("beta_fast = 1 must be above beta_slow = 1") != std::string::npos);
  CHECK(refused("llama3:low=4").find("high = 4 must be above low = 4") != std::string::npos);
  CHECK(refused("pi:factor=0.5").find("factor = 0.5 is out of range; it takes 1 .. 1000000") != std::string::npos);
  CHECK(refused("hope_hf:length=6").find("it takes 7 ..") != std::string::npos);
  CHECK(refused("longrope:long=1/x").find("\"x\" is not a number; it takes 0.001 .. 1000000, one or more as 1/2/4") !=
        std::string::npos);
  CHECK(refused("longrope:long=1//2").find("is not a number") != std::string::npos);
  CHECK(refused("rope:base=1").find("base = 1 is out of range") != std::string::npos);
}
