#include "lab/runs/unreached.h"

#include <fmt/format.h>

#include "encodings/compose.h"
#include "lab/files/progress.h"

namespace poslab {

namespace {

std::string line_of(const std::string& spelled, const std::string& what, int slots) {
  return fmt::format("{}: {} is not reached, as the longest string has {} slots, so it changes nothing here; take a "
                     "smaller one, such as 0.5L, half of the trained length, or longer strings",
                     spelled, what, slots);
}

template <class Thing>
std::string line_of(const Chosen<Thing>& chosen, int slots) {
  const std::string what = chosen->unreached ? chosen->unreached(chosen.choices, slots) : "";
  return what.empty() ? "" : line_of(chosen.spelled(), what, slots);
}

}  // namespace

std::string unread_positions(const Chosen<Scheme>& scheme, const Chosen<Sampler>& sampler) {
  const Reads of_positions = Reads::positions | Reads::distances | Reads::offset_table;
  if (sampler.thing.name == "sequential" || has(reads(scheme), of_positions)) return "";
  return fmt::format("{} reads no positions, so positions = {} change nothing here", scheme.spelled(),
                     sampler.thing.name);
}

std::string unreached(const Chosen<Scheme>& scheme, const Chosen<Sampler>& sampler, int slots) {
  if (const std::string why = unread_positions(scheme, sampler); !why.empty()) return why;
  const int positions = sampler.thing.name == "sequential" ? slots : pool_of(sampler);
  const std::string what = scheme->pages.unreached(scheme.choices, {slots, positions});
  return what.empty() ? "" : line_of(scheme.spelled(), what, slots);
}

void tell_unreached(const Chosen<Scheme>& scheme, const Chosen<Sampler>& sampler, int slots,
                    const Chosen<TemperaturePolicy>& temperature) {
  std::vector<std::string> lines = {unreached(scheme, sampler, slots), line_of(sampler, slots),
                                    line_of(temperature, slots)};
  if (sampler->parts)
    for (const Chosen<Sampler>& part : *sampler->parts) lines.push_back(line_of(part, slots));
  if (sampler->added) lines.push_back(line_of(*sampler->added, slots));
  for (const std::string& line : lines)
    if (Progress::shown && !line.empty()) tell(log_of_thread(), "{}\n", line);
}

void tell_example(const Chosen<Scheme>& scheme, const Chosen<Sampler>& sampler) {
  if (!Progress::shown) return;
  each_part(scheme.spelled(), [](const std::string& part) {
    if (part == "calibrated")
      tell(log_of_thread(), "calibrated has the biases of an example, {}, as none are given; `poslab calibrate RUN` "
                            "writes those of a run into a FILE, for calibrated:of=@FILE\n",
           choose_encoding(part).choices["of"]);
    return part;
  });
  if (sampler.thing.name == "given" && sampler.spelled() == "given")
    tell(log_of_thread(), "given has the positions of an example, {}, as none are given; write your own as "
                          "given:at=@FILE\n", sampler.choices["at"]);
}

void tell_untrained(const Choices& c, int length, const char* option) {
  if (length > c.whole("train_length"))
    tell(stderr, "{} {} is beyond the trained lengths, up to {}: what is taken there was never trained\n", option,
         length, c["train_length"]);
}

}  // namespace poslab
