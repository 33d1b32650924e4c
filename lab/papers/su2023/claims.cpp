// What the source claims. A claim is a difference that must be above a number; the same formula is applied to the
// source's own numbers.
#include "lab/papers/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "lab/papers/paper.h"
#include "lab/papers/su2023/su2023.h"

namespace poslab::reproduce::su2023 {
namespace {

// What a set of texts says of the methods.
class Said {
 public:
  Said(const Results& r, bool repeated) : r_(r), repeated_(repeated) {}
  const Setup& setup() const { return r_.setup(); }
  bool repeated() const { return repeated_; }
  Beside at(const Method& m, int times, bool repeated) const {
    const std::string column = times == 1 ? "acc_512_train" : repeated ? "acc_4096_repeated" : "acc_4096_nonrepeated";
    double source = std::nan("");
    for (const char* table : {"su2023_main", "su2023_window", "su2023_leaky"})
      if (std::isnan(source)) source = paper_value(table, m.source, column) / 100;
    return {r_.accuracy(m, times, repeated), source};
  }
  Beside operator()(const Method& m) const { return at(m, stretch, repeated_); }
  Beside ntk(LogN n, const std::string& form) const {
    return (*this)(stretched(setup(), n, "NTK-RoPE", fmt::format("ntk:form={},factor={}", form, stretch), "-" + form));
  }
  Beside rerope(LogN n, int eighths, int leaky = 0) const {
    return (*this)(su2023::rerope(setup(), n, eighths, leaky));
  }
  Beside rope() const { return (*this)(as_it_is(LogN::off)); }
  Beside of(const std::string& model) const {
    for (const Method& m : trained_methods(setup()))
      if (m.model == model) return (*this)(m);
    return {{}, std::nan("")};
  }
  // of the decoder of LLaMA's shape, in nats
  Beside loss(size_t method, int times) const {
    const Method m = llama_methods(setup())[method];
    const std::string column = times == 1 ? "len4096_train" : times == 2 ? "len8192" : "len16384";
    return {r_.loss(m, times), paper_value("su2023_llama", m.source, column)};
  }

 private:
  const Results& r_;
  bool repeated_;
};

struct SourceClaim {
  std::string text, difference;  // and what must be above `least`, or between -within and within
  std::function<Beside(const Said&)> value;
  double within = 0;
  enum class On { both, repeated_minus_long, nats } on = On::both;
};

const std::vector<SourceClaim>& all_claims() {
  using enum LogN;
  static const std::vector<SourceClaim> list = {
      {"RoPE fails beyond the training length: it loses a quarter of its accuracy or more",
       "3/4 of RoPE at the trained length - RoPE",
       [](const Said& s) { return 0.75 * s.at(as_it_is(off), 1, false) - s.rope(); }},
      {"PI fails without training: it is below RoPE as it is", "RoPE - PI",
       [](const Said& s) {
         return s.rope() - s(stretched(s.setup(), off, "PI-RoPE", fmt::format("pi:factor={}", stretch)));
       }},
      {"NTK mixed is above NTK fixed", "mixed - fixed",
       [](const Said& s) { return s.ntk(off, "mixed") - s.ntk(off, "fixed"); }},
      {"NTK fixed is above NTK old", "fixed - old",
       [](const Said& s) { return s.ntk(off, "fixed") - s.ntk(off, "old"); }},
      {"ReRoPE is above the best NTK", "ReRoPE - NTK mixed",
       [](const Said& s) { return s.rerope(off, 4) - s.ntk(off, "mixed"); }},
      {"So it is with log n", "ReRoPE-logn - NTK-logn-mixed",
       [](const Said& s) { return s.rerope(trained, 4) - s.ntk(trained, "mixed"); }},
      {"ReRoPE with log n is above HFWA, which is trained for it", "ReRoPE-logn - HFWA",
       [](const Said& s) { return s.rerope(trained, 4) - s.of("hfwa"); }},
      {"log n adds to ReRoPE", "ReRoPE-logn - ReRoPE",
       [](const Said& s) { return s.rerope(trained, 4) - s.rerope(off, 4); }},
      {"log n adds to NTK mixed", "NTK-logn-mixed - NTK-mixed",
       [](const Said& s) { return s.ntk(trained, "mixed") - s.ntk(off, "mixed"); }},
      {"More than half of what log n adds to ReRoPE comes at test alone", "test only - the middle of off and trained",
       [](const Said& s) { return s.rerope(at_test, 4) - 0.5 * s.rerope(trained, 4) - 0.5 * s.rerope(off, 4); }},
      {"A window as large as the training length fails: below half the accuracy of half that window",
       "half of w = 1/2 - w = 1", [](const Said& s) { return 0.5 * s.rerope(off, 4) - s.rerope(off, 8); }},
      {"Between a quarter and a half the window hardly matters: less than 2 points", "w = 1/2 - w = 1/4",
       [](const Said& s) { return s.rerope(off, 4) - s.rerope(off, 2); }, 0.02},
      {"So it is with log n", "w = 1/2 - w = 1/4, logn",
       [](const Said& s) { return s.rerope(trained, 4) - s.rerope(trained, 2); }, 0.02},
      {"w = 0, no distances at all, is very bad: below RoPE as it is", "RoPE - ReRoPE-w0",
       [](const Said& s) { return s.rope() - s(no_distances()); }},
      {"Leaky ReRoPE with k = 16 gains or loses little: less than 2 points", "k = 16 - ReRoPE, w = 1/4, logn",
       [](const Said& s) { return s.rerope(trained, 2, 16) - s.rerope(trained, 2); }, 0.02},
      {"Leaky ReRoPE with k = 8 falls behind, as its distances leave the trained ones", "ReRoPE - k = 8, w = 1/2, logn",
       [](const Said& s) { return s.rerope(trained, 4) - s.rerope(trained, 4, 8); }},
      {"NoPE does not extrapolate either: it is below RoPE as it is", "RoPE - NoPE",
       [](const Said& s) { return s.rope() - s.of("none"); }},
      {"Repeated texts are above long ones: what is far away is used", "ReRoPE-logn, repeated - long",
       [](const Said& s) {
         const Method m = rerope(s.setup(), trained, 4);
         return s.at(m, stretch, true) - s.at(m, stretch, false);
       },
       0, SourceClaim::On::repeated_minus_long},
      {"LLaMA's shape: RoPE's loss rises at twice the length", "RoPE at 2x - at 1x",
       [](const Said& s) { return s.loss(0, 2) - s.loss(0, 1); }, 0, SourceClaim::On::nats},
      {"LLaMA's shape: NTK costs loss at the trained length", "NTK - RoPE at 1x",
       [](const Said& s) { return s.loss(1, 1) - s.loss(0, 1); }, 0, SourceClaim::On::nats},
      {"LLaMA's shape: with ReRoPE a longer context has a lower loss", "ReRoPE at 1x - at 4x",
       [](const Said& s) { return s.loss(2, 1) - s.loss(2, 4); }, 0, SourceClaim::On::nats},
  };
  return list;
}

}  // namespace

Section claims_list(const Results& r) {
  using enum SourceClaim::On;
  Section s;
  s.data = {
      {"claim", "difference", "set", "seeds", "mean", "interval_low", "interval_high", "within", "source", "verdict"},
      {}};
  Verdicts verdicts;
  const auto value = [&](size_t row, size_t column) -> Value {
    const SourceClaim& c = all_claims()[row];
    if (c.on != both && column == 1) return {{""}};  // it is of no set, or of one
    Value one = verdicts.cell(c.value(Said(r, column == 0)), c.within, c.on == nats);
    const std::string of_both = column ? "plain" : "repeated", of_one = c.on == nats ? "plain" : "both";
    if (!one.data.empty()) one.data.insert(one.data.begin(), c.on == both ? of_both : of_one);
    return one;
  };
  const std::vector<Line> sets = {{{"repeated"}}, {{"long"}}};
  const auto claim = [](const SourceClaim& c) { return Line{{c.text, c.difference}, {c.text, c.difference}}; };
  add(s, {"Holds, does not, or is inconclusive; below that the difference in points (of losses in nats), its interval, "
          "and the source's",
          "claim", lines(all_claims(), claim), sets, value});
  s.readings = {verdicts.reading()};
  s.notes = {verdicts.note() + " Window 1 is the trained length.", poslab::about_intervals(r.setup().seeds)};
  return s;
}

}  // namespace poslab::reproduce::su2023
