// `poslab check`: schemes that must fail, and the output. Schemes that pass are tested in tests/encodings.
#include <doctest/doctest.h>

#include <cmath>

#include "encodings/by_distance.h"
#include "encodings/checks/checks.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;

namespace {

// Whether the check finds that a scheme breaks the laws that it declares.
bool fails(const std::string& name, const std::string& scheme, const Laws& declared, bool causal = false) {
  checks::Setup setup = checks::setups(causal, {scheme}).at(0);
  setup.scheme.thing.laws = [=](auto&, auto&) { return declared; };
  for (const checks::Outcome& o : checks::check_named(name).run(setup).all)
    if (o.expect == checks::Outcome::Expect::below && !(o.error < o.bound)) return true;
  return false;
}

}  // namespace

TEST_CASE("check: a scheme that declares more than it obeys fails") {
  CHECK(fails("shift", "sincos", {}));
  CHECK(!fails("shift", "sincos", {.shift = false}));
  CHECK(fails("Toeplitz", "sincos", {}));
  CHECK(fails("reversal", "rope", {.two_sided = true}));
  CHECK(!fails("reversal", "rope", {}));
  CHECK(fails("permutation", "window:window=2", {}));
  CHECK(fails("cached", "dynamic_ntk:length=3", {}, true));
  CHECK(!fails("cached", "dynamic_ntk:length=3", {.by_length = true}, true));
  CHECK_THROWS_AS(checks::check_named("shfit"), BadInput);
}

namespace {

// A bias of -slope |d| that is cached under a name with its slope, or without it.
struct Kept : ByDistance {
  double slope;
  bool named;
  Kept(double s, bool n) : slope(s), named(n) {}
  void rows(Scores& s, const Positions& p, Device device) const override {
    s.bias = distance_table(p, named ? fmt::format("kept {}", slope) : "kept", device, checks::H,
                          [&](double d, int) { return -slope * std::abs(d); });
  }
};

}  // namespace

TEST_CASE("check: a scheme fails if it caches what depends on an option under a name without that option") {
  for (const bool named : {true, false}) {
    Scheme scheme{.name = "kept", .options = {Option("slope", 1., {0, 9}, "")}};
    scheme.reads = always(Reads::distances);
    scheme.make = [=](auto&, auto&, const Choices& c, int) { return std::make_unique<Kept>(c.number("slope"), named); };
    checks::Setup setup = checks::setups(false, {"alibi"}).at(0);
    setup.scheme = {scheme, Choices("kept", scheme.options)};
    setup.scheme.choices.set("slope", "2");
    setup.variant = "slope=2";
    const checks::Outcome found = checks::check_named("kept").run(setup).all.at(0);
    CHECK((found.error < found.bound) == named);
  }
}

TEST_CASE("check: the table has a row for each check, and a reason if one does not apply") {
  const TemporaryFolder folder;
  Program one(folder, "check sincos 'none*1+cope*7'", "cd " + folder.path + ";");
  const std::string text = one.output();
  INFO(text);
  CHECK(one.status() == 0);
  CHECK(holds(text, "shift        not claimed  breaks by "));
  CHECK(holds(text, "mass         yes          "));
  CHECK(holds(text, "two routes   -            it has no rows by distance"));
  CHECK(holds(text, "reversal     -            it needs a causal mask"));
  CHECK(holds(text, "golden       -            not in a source tree"));
  Program page(folder, "check rope alibi --markdown", "cd " + folder.path + ";");
  CHECK(holds(page.output(), "| `alibi` | 0 | 0 | 0 | 0 | 0 | "));
  CHECK(page.status() == 0);
}
