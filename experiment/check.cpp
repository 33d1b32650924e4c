// Rules for choices that do not fit together. Each names both values and the remedy.
#include "core/error.h"
#include "encodings/fits.h"
#include "experiment/build.h"

namespace poslab {
namespace {

void check_sizes(const RunSpec& c) {
  if (c.whole("d_model") % c.whole("heads") != 0) {
    int fits = c.whole("heads");
    while (c.whole("d_model") % fits != 0) --fits;
    bad_input("heads = {} does not divide d_model = {}; try heads = {}", c.whole("heads"), c.whole("d_model"), fits);
  }
  check_loops(c, std::max(c.whole("train_length"), c.lengths("eval_lengths").to));
  check_fits(c.scheme, transformer_spec(c).shape());
}

// The strings of training, or of the test, which may have another sampler.
struct Strings {
  const char* option;            // the option that names their sampler
  std::string who;               // "in training (train_length = 40)"
  int slots;                     // slots of the longest
};

void check_memory(const RunSpec& c, const Chosen<Sampler>& sampler, const Strings& of) {
  const int there = room(c, sampler);
  if (of.slots <= there) return;
  if (sampler.choices.has("at"))
    bad_input("the longest string of {} has {} slots {}, output slots included, but the list of {} ends after {}; add "
              "positions, one for each slot, or take shorter strings",
              c["task"], of.slots, of.who, sampler->name, there);
  const bool own = there != c.whole("max_position");       // the sampler's own option, not the run's
  bad_input(
      "the longest string of {} has {} slots {}, output slots included, but {} has no positions for them; {}, or take "
      "shorter strings",
      c["task"], of.slots, of.who,
      own ? fmt::format("{} = {}", of.option, sampler.spelled()) : fmt::format("max_position = {}", there),
      own ? fmt::format("give it max_position={}", of.slots) : fmt::format("train with max_position = {}", of.slots));
}

// A finite scheme has no row for a position, or a distance, beyond its table.
void check_rows(const RunSpec& c, const Chosen<Scheme>& s, const Chosen<Sampler>& sampler, const Strings& of) {
  if (s->parts)
    for (const Chosen<Scheme>& part : *s->parts) check_rows(c, part, sampler, of);
  if (s->parts || !finite(s)) return;
  std::vector<Chosen<Sampler>> read = {sampler};
  if (sampler->parts) read = *sampler->parts;
  if (s->embed) read = {sampler->added ? *sampler->added : read[0]};
  const int first = c.whole("first_position"), rows = c.whole("max_position");
  for (const Chosen<Sampler>& each : read) {
    if (each->only_offsets) continue;  // its positions are differences of two from its pool
    const auto [least, most] = least_and_most(each, of.slots);
    const bool inside = has(reads(s), Reads::positions) ? least >= first && most <= first + rows - 1
                                                        : most - least <= rows - 1;
    if (!inside)
      bad_input(
          "{} = {}: the longest string of {} has {} slots {}, whose positions are {} to {}, but the table of {} "
          "has {} rows, from position {} on; {}take other positions or shorter strings",
          of.option, c[of.option], c["task"], of.slots, of.who, least, most, s.spelled(), rows, first,
          least < 0 ? "" : "train with a larger max_position, or ");
  }
}

void check_positions(const RunSpec& c, const Chosen<Sampler>& sampler, const Strings& of) {
  check_memory(c, sampler, of);
  check_rows(c, c.scheme, sampler, of);
}

// Refuses a mode of reading random positions if none are random.
void check_table(const RunSpec& c) {
  const Chosen<Scheme>& s = c.scheme;
  const bool usual = has(s->reads(Choices(s.thing.name, s->options)), Reads::offset_table);
  if (has(reads(s), Reads::offset_table) && !usual && !sampler(c)->random)
    bad_input("{} says how random positions are read, but positions = {} has none; use positions = randomized",
              s.spelled(), c["positions"]);
}

}  // namespace

void check(const RunSpec& c) {
  if (c["task"].empty()) bad_input("which task? Give --task NAME; `poslab list tasks` shows them");
  if (c["encoding"].empty()) bad_input("which encoding? Give --encoding NAME; `poslab list encodings` shows them");
  kernels(device(c));   // throws if this program or this machine lacks it
  const MatmulPrecision tried(device(c), rounding(c), products(c));   // throws for an impossible choice
  check_sizes(c);
  check_table(c);
  if (c["test_temperature"] != "same" && c.test_temperature->learned)
    bad_input("test_temperature = {}: it learns parameters, which belong to training; use temperature = {}, or choose "
              "one that learns nothing, such as log_n", c["test_temperature"], c["test_temperature"]);
  if (c.temperature->name == "aligned")
    bad_input("temperature = {}: it belongs to a trained model; use test_temperature = {}", c["temperature"],
              c["temperature"]);
  const Lengths training{1, c.whole("train_length")}, test = c.lengths("eval_lengths");
  check_positions(c, sampler(c),
                  {"positions", fmt::format("in training (train_length = {})", training.to), most_slots(c, training)});
  check_positions(c, test_sampler(c),
                  {c["test_positions"] == "same" ? "positions" : "test_positions",
                   fmt::format("at test (eval_lengths = {}:{})", test.from, test.to), most_slots(c, test)});
}

}  // namespace poslab
