// The list of samplers, with the choice of one and its draws.
#include "encodings/samplers.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "autograd/argument_checks.h"
#include "core/error.h"
#include "encodings/compose.h"
#include "encodings/own.h"

namespace poslab {

std::vector<Sampler>& list_of_samplers() {
  static std::vector<Sampler> list = [] {
    std::vector<Sampler> all;
    for (const auto& [family, samplers] : {std::pair{"spread", spread_samplers()},
                                           {"subset", subset_samplers()},
                                           {"shifted", shifted_samplers()},
                                           {"segment", segment_samplers()}})
      for (Sampler s : samplers) s.file = fmt::format("encodings/samplers_{}.cpp", family), all.push_back(std::move(s));
    return all;
  }();
  return list;
}

const std::vector<Sampler>& all_samplers() { return list_of_samplers(); }

Option pool_option() {
  return {"max_position", 2048, {1, 1 << 24},
          "size of the pool of positions, rows of the learned table; also --max-position"};
}
Option first_option() {
  return {"first", 0, {0, 1},
          "smallest position of the pool: 0 in the released code, 1 in the paper; also --first-position"};
}

Positions sample(const Chosen<Sampler>& s, const Slots& slots, Rng& rng) {
  const std::string& name = s.thing.name;
  if (slots.sequences < 1 || slots.time < 1)
    bad_input("{}: {} sequences of {} slots; both must be at least 1", name, slots.sequences, slots.time);
  if (const int pool = pool_of(s); slots.time > pool)
    bad_input("{}: {} slots (input and output) but only {} positions; {}", name, slots.time, pool,
              s.choices.has("at") ? "add to the list" : "raise max_position");
  if (slots.classes && (slots.classes.shape().size() != 2 || slots.classes.shape()[1] != slots.time))
    bad_input("{}: classes {} for {} slots; give one class to each slot of each sequence", name,
              to_string(slots.classes.shape()), slots.time);
  if (const int64_t i = first_outside(slots.classes, int(TokenClass::empty) + 1); i >= 0)
    bad_input("{}: class {} of a token; give 0 for a digit, 1 for another symbol, 2 for an empty slot", name,
              slots.classes[i]);
  return s->draw(s.choices, slots, rng);
}

Chosen<Sampler> choose_sampler(const std::string& text, const RunValues& run) {
  if (const size_t at = text.find('&'); at != std::string::npos) {
    split_names("sampler", text, '&');  // refuses an empty side
    return pair_samplers(choose("sampler", all_samplers(), text.substr(0, at), run),
                         choose_sampler(text.substr(at + 1), run));
  }
  if (text.find('|') == std::string::npos) return choose("sampler", all_samplers(), text, run);
  std::vector<Chosen<Sampler>> parts;
  for (const std::string& part : split_names("sampler", text, '|'))
    parts.push_back(choose("sampler", all_samplers(), part, run));
  return in_turn(std::move(parts));
}

Chosen<Sampler> in_turn(std::vector<Chosen<Sampler>> parts) {
  Sampler s{.summary = "a sampler for each layer, in turn", .source = "its parts"};
  std::vector<std::string> names;
  for (const Chosen<Sampler>& part : parts) {
    names.push_back(part.spelled());
    s.random = s.random || part->random, s.only_offsets = s.only_offsets || part->only_offsets;
    s.reads_classes = s.reads_classes || part->reads_classes, s.by_length = s.by_length || part->by_length;
    s.options.insert(s.options.end(), part->options.begin(), part->options.end());
  }
  s.name = fmt::format("{}", fmt::join(names, "|"));
  s.parts = std::make_shared<const std::vector<Chosen<Sampler>>>(std::move(parts));
  return {s, {}};
}

Chosen<Sampler> pair_samplers(const Chosen<Sampler>& added, const Chosen<Sampler>& layers) {
  if (layers->added)
    bad_input("{}&{}: more than two parts; & stands between the sampler of the embedding and that of the logits",
              added.spelled(), layers.spelled());
  Sampler s = layers->parts ? layers.thing : in_turn({layers}).thing;
  s.summary = "a sampler for what is added to the embedding, and another for the logits";
  s.name = fmt::format("{}&{}", added.spelled(), layers.spelled());
  s.random = s.random || added->random, s.reads_classes = s.reads_classes || added->reads_classes;
  s.by_length = s.by_length || added->by_length;
  s.options.insert(s.options.begin(), added->options.begin(), added->options.end());
  s.added = std::make_shared<const Chosen<Sampler>>(added);
  return {s, {}};
}

int pool_of(const Chosen<Sampler>& s) {
  int pool = s->added ? pool_of(*s->added) : std::numeric_limits<int>::max();
  if (s->parts)
    for (const Chosen<Sampler>& part : *s->parts) pool = std::min(pool, pool_of(part));
  if (s.choices.has("at")) return int(numbers_of(s.choices["at"]).size());
  return s.choices.has("max_position") ? s.choices.whole("max_position") : pool;
}

}  // namespace poslab
