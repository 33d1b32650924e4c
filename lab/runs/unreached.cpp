#include "lab/runs/unreached.h"

#include <fmt/format.h>

#include "encodings/compose.h"
#include "experiment/kind.h"
#include "experiment/no_effect.h"
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
  const auto line = [&](const char* reads) {
    return fmt::format("{} reads {}, so positions = {} change nothing here", scheme.spelled(), reads,
                       sampler.thing.name);
  };
  const Reads of_positions = Reads::positions | Reads::distances | Reads::offset_table;
  if (sampler.thing.name == "sequential") return "";
  if (!has(reads(scheme), of_positions)) return line("no positions");
  return sampler->shifts && reads_differences_alone(scheme)
             ? line("no position alone, only how far apart two are") : "";
}

std::vector<std::string> unreached(const AtWork& w) {
  const int least = w.scheme->pages.least_layers(w.scheme.choices);
  const int positions = w.sampler.thing.name == "sequential" ? w.slots : pool_of(w.sampler);
  const std::string positions_unread = unread_positions(w.scheme, w.sampler),
                    option = w.scheme->pages.unreached(w.scheme.choices, {w.slots, positions});
  std::vector<std::string> lines = {positions_unread};
  if (w.layers < least)
    lines.push_back(fmt::format("{} has another kind of layer, which layers = {} do not reach, so it equals a simpler "
                                "scheme here; take at least {} layers", w.scheme.spelled(), w.layers, least));
  if (!option.empty()) lines.push_back(line_of(w.scheme.spelled(), option, w.slots));
  lines.push_back(line_of(w.sampler, w.slots));
  if (w.sampler->parts)
    for (const Chosen<Sampler>& part : *w.sampler->parts) lines.push_back(line_of(part, w.slots));
  if (w.sampler->added) lines.push_back(line_of(*w.sampler->added, w.slots));
  lines.push_back(line_of(w.temperature, w.slots));
  std::erase(lines, "");
  return lines;
}

std::vector<std::string> unreached(const RunSpec& c) {
  const int slots = kind_of(c).longest(c);
  std::vector<std::string> lines = unreached(AtWork{c.scheme, sampler(c), slots, c.temperature, deepest_stack(c)});
  if (c.has("test_positions") && c["test_positions"] != "same")
    if (const std::string line = unread_positions(c.scheme, test_sampler(c)); !line.empty())
      lines.push_back("at test " + line);
  return lines;
}

namespace {

void tell_lines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines)
    if (Progress::shown) tell(log_of_thread(), "{}\n", line);
}

}  // namespace

void tell_unreached(const AtWork& w) { tell_lines(unreached(w)); }
void tell_unreached(const RunSpec& c) { tell_lines(unreached(c)); }

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
