#include "experiment/no_effect.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "experiment/kind.h"

namespace poslab {
namespace {

// Why an option changes nothing, and a remedy; "": it changes something.
std::string no_effect(const RunSpec& c, const std::string& option) {
  const auto is = [&](const char* name) { return option == name; };
  if (is("resample") && !sampler(c)->random && !test_sampler(c)->random)
    return fmt::format("positions = {} are not random; choose a random sampler, as positions = randomized",
                       c["positions"]);
  if (is("test_dropout") && c.number("dropout") == 0) return "dropout = 0 drops nothing; train with a dropout above 0";
  if ((is("heads") || is("key_heads") || is("biases")) && c.has("unit") && c["unit"] == "gau")
    return "a layer of unit = gau has one head and no biases; choose unit = llama";
  if (is("growing") && c["shortest"] == c["train_length"])
    return fmt::format("all contexts have train_length = {}; choose a smaller shortest", c["train_length"]);
  if (is("accumulate") && c.has("batch") && c.whole("accumulate") > c.whole("batch"))
    return fmt::format("batch = {} has no more parts than sequences; choose at most as many", c["batch"]);
  if (is("cooling") && c.number("cooling") * c.number("steps") <= 1)
    return fmt::format("of steps = {} it is not a whole step; choose a larger share", c["steps"]);
  return "";
}

}  // namespace

void refuse_without_effect(const RunSpec& c, const Settings& typed) {
  const std::vector<Option>& all = kept_options(kind_of(c));
  const auto is_typed = [&](const Option& o) {
    return std::any_of(typed.begin(), typed.end(), [&](const auto& s) { return s.first == o.name; });
  };
  // A sweep gives its trainings every option, and its grid may vary one that some of them do not use.
  if (std::all_of(all.begin(), all.end(), [&](const Option& o) { return c[o.name].empty() || is_typed(o); })) return;
  for (const Option& o : all) {
    if (c[o.name] == o.standard || !is_typed(o)) continue;
    if (const std::string why = no_effect(c, o.name); !why.empty())
      bad_input("{} = {} changes nothing: {}, or leave it out", o.name, c[o.name], why);
  }
}

}  // namespace poslab
