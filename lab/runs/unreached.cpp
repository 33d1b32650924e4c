#include "lab/runs/unreached.h"

#include <fmt/format.h>

#include <algorithm>

#include "encodings/compose.h"
#include "experiment/build.h"
#include "experiment/kind.h"
#include "experiment/lengths.h"
#include "experiment/no_effect.h"
#include "lab/files/progress.h"
#include "lab/runs/option_effect.h"

namespace poslab {

namespace {

std::string line_of(const std::string& spelled, const std::string& what, int slots) {
  if (what.find(" is ") != what.npos)                               // for any strings
    return fmt::format("{}: {}, so it changes nothing here; take a smaller one", spelled, what);
  return fmt::format("{}: {} is not reached, because the longest string has {} slots, so it changes nothing here; "
                     "take a smaller one, such as 0.5L, half of the trained length, or longer strings",
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
             ? line("only how far apart two positions are") : "";
}

namespace {

using Lines = std::vector<std::string>;

// Notes on the sampler and the temperature, which a test may replace.
Lines of_draws(const AtWork& w) {
  Lines lines = {unread_positions(w.scheme, w.sampler), line_of(w.sampler, w.slots)};
  if (w.sampler->parts)
    for (const Chosen<Sampler>& part : *w.sampler->parts) lines.push_back(line_of(part, w.slots));
  if (w.sampler->added) lines.push_back(line_of(*w.sampler->added, w.slots));
  lines.push_back(line_of(w.temperature, w.slots));
  std::erase(lines, "");
  return lines;
}

Lines of_scheme(const AtWork& w) {
  const int least = w.scheme->pages.least_layers(w.scheme.choices);
  const int positions = w.sampler.thing.name == "sequential" ? w.slots : pool_of(w.sampler);
  Lines lines;
  if (w.layers < least)
    lines.push_back(fmt::format("{} has another kind of layer, which layers = {} do not reach, so it equals a simpler "
                                "scheme here; take at least {} layers", w.scheme.spelled(), w.layers, least));
  if (const std::string option = w.scheme->pages.unreached(w.scheme.choices, {w.slots, positions}); !option.empty())
    lines.push_back(line_of(w.scheme.spelled(), option, w.slots));
  return lines;
}

// Notes on the schedule of the learning rate.
Lines of_schedule(const RunSpec& c) {
  const double steps = c.number("steps"), warmup = c.number("warmup"), share = c.number("cooling");
  if (warmup > steps)
    return {fmt::format("warmup = {} is longer than steps = {}, so the learning rate does not reach lr = {}",
                        c["warmup"], c["steps"], c["lr"])};
  if (share == 0) return {};
  if (c.number("lr_floor") == 1) return {fmt::format("lr_floor = 1 keeps lr, so cooling = {} changes nothing here",
                                                     c["cooling"])};
  if (share * steps > 1 && steps - warmup <= 1)
    return {fmt::format("cooling = {} changes nothing here: steps = {} and warmup = {} leave no step "
                        "in which the learning rate could fall", c["cooling"], c["steps"], c["warmup"])};
  if (share < 1 && share * steps > steps - warmup)      // 1 means all of them after the warm-up
    return {fmt::format("cooling = {} is cut: warmup = {} of steps = {} leaves {} of them, a share of {:.3g}, in which "
                        "the learning rate falls", c["cooling"], c["warmup"], c["steps"], steps - warmup,
                        1 - warmup / steps)};
  return {};
}

bool has_pool(const Chosen<Sampler>& s) {
  const auto pools = [](const Chosen<Sampler>& part) { return has_pool(part); };
  return s.choices.has("max_position") || (s->added && has_pool(*s->added)) ||
         (s->parts && std::any_of(s->parts->begin(), s->parts->end(), pools));
}

// Whether an option differs from its preset and from the run that this one begins with.
bool own(const RunSpec& c, const std::string& option, const Settings& inherited) {
  const auto is = [&](const auto& s) { return s.first == option; };
  const Settings& preset = find("preset", kind_of(c).table().presets, c["preset"]).settings;
  for (const Settings* settings : {&inherited, &preset})
    if (const auto at = std::find_if(settings->begin(), settings->end(), is); at != settings->end())
      return c[option] != at->second;
  return c[option] != kind_of(c).table().standard[option];
}

// Notes on the pool of positions, which is an option apart from the sampler.
Lines of_pool(const RunSpec& c, const Settings& inherited) {
  if (!c.has("max_position")) return {};
  Lines lines;
  const bool table = finite(c.scheme) || c.scheme.spelled().find("mode=released") != std::string::npos;
  if (own(c, "max_position", inherited) && !table && !has_pool(sampler(c)) && !has_pool(test_sampler(c)))
    lines.push_back(fmt::format("max_position = {} changes nothing here: neither {} nor positions = {} has a pool; a "
                                "later test may, as with --test-positions randomized",
                                c["max_position"], c.scheme.spelled(), c.positions.spelled()));
  if (own(c, "first_position", inherited) && no_effect(c, "first_position").empty() && !c.scheme->embed &&
      c.scheme->laws(transformer_spec(c).shape(), c.scheme.choices).shift)
    lines.push_back(fmt::format("first_position = {} changes only rounding here: {} reads how far apart two "
                                "positions are", c["first_position"], c.scheme.spelled()));
  return lines;
}

// Notes on options that the command line refuses, but that files and grids of a sweep may have.
Lines of_options(const RunSpec& c, const Settings& inherited) {
  Lines lines;
  for (const Option& o : kept_options(kind_of(c)))
    if (const std::string why = no_effect(c, o.name); !why.empty() && own(c, o.name, inherited))
      lines.push_back(fmt::format("{} = {} changes nothing: {}", o.name, c[o.name], why));
  return lines;
}

void add(Lines& all, const Lines& more, const std::string& prefix = "") {
  for (const std::string& line : more)
    if (std::find(all.begin(), all.end(), line) == all.end()) all.push_back(prefix + line);
}

}  // namespace

std::vector<std::string> unreached(const AtWork& w) {
  Lines lines = of_scheme(w);
  add(lines, of_draws(w));
  return lines;
}

std::vector<std::string> unreached(const RunSpec& c, const Settings& inherited) {
  const int slots = kind_of(c).longest(c), layers = deepest_stack(c);
  Lines lines = unreached(AtWork{c.scheme, sampler(c), slots, c.temperature, layers});
  add(lines, of_draws({c.scheme, test_sampler(c), slots, c.test_temperature, layers}), "at test ");
  if (lines.empty()) lines = options_without_effect(c);           // else those settings may hide an effect
  add(lines, of_options(c, inherited)), add(lines, of_schedule(c)), add(lines, of_pool(c, inherited));
  if (c.has("tokens") && c.whole("tokens") < c.whole("shortest"))
    lines.push_back(fmt::format("tokens = {} is less than one question of shortest = {}: a step reads one question, "
                                "so it has more tokens than that", c["tokens"], c["shortest"]));
  return lines;
}

namespace {

void tell_lines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) tell(log_of_thread(), "{}\n", line);
}

}  // namespace

void tell_unreached(const AtWork& w) {
  if (Progress::shown) tell_lines(unreached(w));
}
void tell_unreached(const RunSpec& c, const Settings& inherited) {
  if (Progress::shown) tell_lines(unreached(c, inherited));
}

void tell_example(const Chosen<Scheme>& scheme, const Chosen<Sampler>& sampler) {
  if (!Progress::shown) return;
  each_part(scheme.spelled(), [](const std::string& part) {
    if (part == "calibrated")
      tell(log_of_thread(), "calibrated has the biases of an example, {}, because none are given; `poslab calibrate "
                            "RUN` writes those of a run into a FILE, for calibrated:of=@FILE\n",
           choose_encoding(part).choices["of"]);
    return part;
  });
  if (sampler.thing.name == "given" && sampler.spelled() == "given")
    tell(log_of_thread(), "given has the positions of an example, {}, because none are given; write your own as "
                          "given:at=@FILE\n", sampler.choices["at"]);
}

void tell_untrained(const Choices& c, int length, const char* option) {
  const Lengths trained = trained_lengths(c);
  if (length > trained.to || (length && length < trained.from))    // 0: the trained one
    tell(stderr, "{} {} is {} the trained lengths, {} {}: values there were never trained{}\n", option, length,
         length > trained.to ? "beyond" : "below", length > trained.to ? "up to" : "from",
         length > trained.to ? trained.to : trained.from, after_origin(c));
}

}  // namespace poslab
