// Which choices fit together. Each rule names both values and what to do.
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"
#include "encodings/fits.h"
#include "experiment/build.h"

namespace poslab {
namespace {

void check_sizes(const Choices& c) {
  if (c.whole("d_model") % c.whole("heads") != 0) {
    int fits = c.whole("heads");
    while (c.whole("d_model") % fits != 0) --fits;
    bad_input("heads = {} does not divide d_model = {}; try heads = {}", c.whole("heads"), c.whole("d_model"), fits);
  }
  check_fits(scheme(c), transformer_spec(c).shape());
}

// The same sampler may serve training and test, so it is the lengths that say which of the two asks for too much.
void check_memory(const Choices& c, const Chosen<Sampler>& sampler) {
  const int there = room(c, sampler), training = slots(c, c.whole("train_length")), needed = longest(c);
  if (needed <= there) return;
  const std::string who = training > there ? fmt::format("in training (train_length = {})", c.whole("train_length"))
                                           : fmt::format("at test (eval_lengths = {}:{})",
                                                         c.lengths("eval_lengths").from, c.lengths("eval_lengths").to);
  if (sampler.choices.has("at"))
    bad_input("the longest string of {} has {} slots {}, output slots included, but the list of {} ends after {}; add "
              "positions, one for each slot, or take shorter strings",
              c["task"], training > there ? training : needed, who, sampler->name, there);
  bad_input(
      "the longest string of {} has {} slots {}, output slots included, but max_position = {} has no positions "
      "for them; train with max_position = {}, or take shorter strings",
      c["task"], training > there ? training : needed, who, there, needed);
}

// An option that all runs have fits if the scheme or the sampler has it.
void check_owned(const Choices& c) {
  std::vector<Option> owned = scheme(c)->options;
  const Chosen<Sampler> sampler = choose_sampler(c["positions"], run_values(c));
  for (const Option& o : sampler->options) owned.push_back(o);
  for (const auto& [name, value] : owned_values(c)) {
    if (std::any_of(owned.begin(), owned.end(), [&, &name = name](const Option& o) { return o.run_option == name; }))
      continue;
    std::vector<std::string> owners;
    const auto add = [&, &name = name](const auto& things) {
      for (const auto& thing : things)
        for (const Option& o : thing.options)
          if (o.run_option == name) owners.push_back(thing.name);
    };
    add(all_encodings()), add(all_samplers());
    bad_input("{} = {} does not fit encoding = {} with positions = {}; it belongs to {}", name, value, c["encoding"],
              c["positions"], fmt::join(owners, " and "));
  }
}

// A mode that says how random positions are read, where none are random.
void check_table(const Choices& c) {
  const Chosen<Scheme> s = scheme(c);
  const bool usual = has(s->reads(Choices(s.thing.name, s->options)), Reads::offset_table);
  if (has(reads(s), Reads::offset_table) && !usual && !sampler(c)->random)
    bad_input("{} says how random positions are read, but positions = {} has none; use positions = randomized",
              s.spelled(), c["positions"]);
}

}  // namespace

void check(const Choices& c) {
  if (c["task"].empty()) bad_input("which task? Say --task NAME; `poslab list tasks` shows them");
  if (c["encoding"].empty()) bad_input("which encoding? Say --encoding NAME; `poslab list encodings` shows them");
  kernels(device(c));   // throws if this program or this machine does not have it
  const MatmulPrecision tried(device(c), matmul(c), products(c));   // throws if it cannot
  check_sizes(c);
  check_owned(c);
  check_table(c);
  if (c["test_temperature"] != "same" && test_temperature(c)->learned)
    bad_input("test_temperature = {}: it learns parameters, which belong to training; say temperature = {}, or choose "
              "one that learns nothing, such as log_n", c["test_temperature"], c["test_temperature"]);
  if (read_spelling(c["temperature"]).name == "aligned")
    bad_input("temperature = {}: it is of a trained model; say test_temperature = {}", c["temperature"],
              c["temperature"]);
  check_memory(c, sampler(c));
  check_memory(c, test_sampler(c));
}

}  // namespace poslab
