// The cross's measurements of a trained model.
#include "core/error.h"
#include "experiment/align.h"
#include "experiment/dummy_keys.h"
#include "experiment/evaluate.h"
#include "lab/papers/chi2023/chi2023.h"

namespace poslab::reproduce::chi2023 {
namespace {

constexpr int looked_at = 16;  // strings, for the statistics of attention

int longest_tested(const Choices& c) { return c.lengths("eval_lengths").to; }

std::string aligned(const State& s, AlignMode mode) {
  const Aligning wanted{.mode = mode,
                        .shortest = s.config.whole("train_length"),
                        .longer = steps_beyond(s.config.whole("train_length"), longest_tested(s.config), 4)};
  AlignedTemperatures found = align(probed(s, looked_at), wanted, {}).temperatures;
  found.layers = found.heads = 0;  // 0: not checked, because only this model uses them
  return "aligned:of=" + text_of(found);
}

double largest_weight(const State& s, int length, double tau) {
  return dispersion(probed(s, looked_at), length, choose_temperature(fmt::format("constant:tau={}", tau)))
      .of_model()
      .largest_weight;
}

// The temperature at which strings of the trained length are as dispersed as the longest ones, by bisection.
double flattening(const State& s) {
  const double target = largest_weight(s, longest_tested(s.config), 1);
  double low = 1, high = 32;
  for (int n = 0; n < 10; ++n) {
    const double middle = std::sqrt(low * high);
    (largest_weight(s, s.config.whole("train_length"), middle) > target ? low : high) = middle;
  }
  return low;
}

// Counted positions with one jump in the middle, up to the last position of the longest strings.
std::string with_a_jump(const Choices& c) {
  const int now = slots(c, c.whole("train_length")), then = slots(c, longest_tested(c));
  std::string at;
  for (int n = 0; n < now; ++n)
    at += fmt::format("{}{}", n ? " " : "", c.whole("first_position") + n + (2 * n < now ? 0 : then - now));
  return "given:at=" + at;
}

}  // namespace

double accuracy_beyond(State s, const std::string& policy) {
  RunSpec& c = s.config;
  c.set("test_temperature", policy == "log"
                                ? fmt::format("log_n:length={},only_longer", slots(c, c.whole("train_length")))
                                : aligned(s, policy == "pmax" ? AlignMode::pmax : AlignMode::entropy));
  double sum = 0;
  for (int length = c.whole("train_length") + 1; length <= longest_tested(c); ++length)
    sum += accuracy_at(s, length, c.whole("eval_samples"));
  return sum / (longest_tested(c) - c.whole("train_length"));
}

bool can_move(const Choices& c, Moved moved) {
  // a table of offsets, without positions of slots
  const bool table = has(reads(RunSpec(c).scheme), Reads::offset_table);
  if (moved == Moved::positions) return c["positions"] == "sequential" && !table;
  return moved != Moved::gaps || (c["positions"] == "randomized" && !table);
}

double accuracy_moved(State s, Moved moved) {
  RunSpec& c = s.config;
  if (moved == Moved::positions) c.set("test_positions", with_a_jump(c));
  if (moved == Moved::gaps) c.set("test_positions", gap_shift::scattered(gap_shift::own_gap(c, longest_tested(c))));
  if (moved == Moved::keys)
    s.net = with_dummy_keys(s.net, slots(c, longest_tested(c)) - slots(c, c.whole("train_length")));
  if (moved == Moved::dispersion) c.set("test_temperature", fmt::format("constant:tau={}", flattening(s)));
  return accuracy_at(s, moved == Moved::length ? longest_tested(c) : c.whole("train_length"), gap_shift::strings(c));
}

}  // namespace poslab::reproduce::chi2023
