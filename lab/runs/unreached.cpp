#include "lab/runs/unreached.h"

#include <fmt/format.h>

#include "lab/files/progress.h"

namespace poslab {

std::string unreached(const Chosen<Scheme>& scheme, const Chosen<Sampler>& sampler, int slots) {
  const Reads of_positions = Reads::positions | Reads::distances | Reads::offset_table;
  if (sampler.thing.name != "sequential" && !has(reads(scheme), of_positions))
    return fmt::format("{} reads no positions, so positions = {} change nothing here", scheme.spelled(),
                       sampler.thing.name);
  const int positions = sampler.thing.name == "sequential" ? slots : pool_of(sampler);
  const std::string what = scheme->pages.unreached(scheme.choices, {slots, positions});
  if (what.empty()) return {};
  return fmt::format("{}: {} is not reached, as the longest string has {} slots, so it changes nothing here; take a "
                     "smaller one, such as 0.5L, half of the trained length, or longer strings",
                     scheme.spelled(), what, slots);
}

void tell_unreached(const Chosen<Scheme>& scheme, const Chosen<Sampler>& sampler, int slots) {
  if (const std::string line = unreached(scheme, sampler, slots); Progress::shown && !line.empty())
    tell(log_of_thread(), "{}\n", line);
}

void tell_untrained(const Choices& c, int length, const char* option) {
  if (length > c.whole("train_length"))
    tell(stderr, "{} {} is beyond the trained lengths, up to {}: what is taken there was never trained\n", option,
         length, c["train_length"]);
}

}  // namespace poslab
