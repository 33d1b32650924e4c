#include "experiment/no_effect.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "encodings/compose.h"
#include "experiment/kind.h"

namespace poslab {
namespace {

bool has_option(const Chosen<Sampler>& s, const char* name) {
  return std::any_of(s->options.begin(), s->options.end(), [&](const Option& o) { return o.name == name; });
}

// An encoding composed of more parts than layers.
std::string parts_beyond(int layers, int parts) {
  return fmt::format("layers take its {0} parts in turn, and layers = {1} reaches only the first {1}; train with at "
                     "least layers = {0}", parts, layers);
}

void refuse_option(const std::string& option, const std::string& value, const std::string& why) {
  if (!why.empty()) bad_input("{} = {} changes nothing: {}, or leave it out", option, value, why);
}

}  // namespace

std::string no_effect(const RunSpec& c, const std::string& option) {
  const auto is = [&](const char* name) { return option == name; };
  if (is("resample") && !sampler(c)->random && !test_sampler(c)->random)
    return fmt::format("positions = {} are not random; choose a random sampler, such as positions = randomized",
                       c["positions"]);
  if (is("resample") && c["resample"] == "per_layer" && deepest_stack(c) == 1 && !c.scheme->embed)
    return "layers = 1 draws once in a pass anyway; train with more layers";
  const bool of_positions = is("positions") || is("test_positions");
  const Chosen<Sampler>& drawn = is("positions") ? c.positions : c.test_positions;
  const int parts = int(of_positions ? parts_in_turn(drawn) : is("encoding") ? parts_in_turn(c.scheme) : 1);
  if (of_positions && parts > 1 && embedding_alone(c.scheme))
    return fmt::format("layers take its {} parts in turn, but {} reads only the first, because it adds to the "
                       "embedding, before all layers; give positions one part", parts, c.scheme.spelled());
  if (parts > deepest_stack(c)) return parts_beyond(deepest_stack(c), parts);
  if (is("first_position") && reads_differences_alone(c.scheme))
    return fmt::format("{} reads only how far apart two positions are, or none; choose an encoding that reads them, "
                       "such as encoding = learned", c.scheme.spelled());
  if (is("first_position") && !composed_spelling(c["encoding"]) && finite(c.scheme) &&
      has_option(sampler(c), "first") && has_option(test_sampler(c), "first"))
    return fmt::format("the table of {} begins at it, and so do positions = {}; leave it at 0", c.scheme.spelled(),
                       c["positions"]);
  if (is("test_dropout") && c.number("dropout") == 0) return "dropout = 0 drops nothing; train with a dropout above 0";
  if ((is("heads") || is("key_heads") || is("biases")) && c.has("unit") && c["unit"] == "gau")
    return "a layer of unit = gau has one head and no biases; choose unit = llama";
  if (is("growing") && c["shortest"] == c["train_length"])
    return fmt::format("all contexts have train_length = {}; choose a smaller shortest", c["train_length"]);
  if (is("accumulate") && c.has("batch") && c.whole("accumulate") > c.whole("batch"))
    return fmt::format("batch = {} has fewer sequences than that; choose at most as many", c["batch"]);
  if (is("separator") && c["documents"] == "whole")
    return "documents = whole reads over the ends of documents; choose documents = packed";
  if (is("separator") && c["text"] == "copy_grammar") return "text = copy_grammar has documents of its own";
  if (is("optimizer") && c["from"].empty()) return "without from = RUN there is nothing to keep; name a run";
  if ((is("schedule") || is("lr_floor")) && c.number("cooling") == 0)
    return "cooling = 0 keeps the learning rate as it is; choose the share of the steps in which it falls";
  if (is("cooling") && c.number("cooling") * c.number("steps") <= 1)
    return fmt::format("of steps = {} it is at most one step, the last, and the rate falls after it; choose a larger "
                       "share", c["steps"]);
  return "";
}

int deepest_stack(const Choices& c) {
  return std::max(c.whole("layers"), c.has("decoder_layers") ? c.whole("decoder_layers") : 0);
}

bool reads_differences_alone(const Chosen<Scheme>& s) { return !s->embed && !has(reads(s), Reads::positions); }

void refuse_unreached_parts(const Chosen<Scheme>& s, int layers) {
  const int parts = int(parts_in_turn(s));
  if (parts > layers) refuse_option("encoding", s.spelled(), parts_beyond(layers, parts));
}

void refuse_unreached_parts(const Chosen<Sampler>& s, int layers) {
  const int parts = int(parts_in_turn(s));
  if (parts > layers) refuse_option("positions", s.spelled(), parts_beyond(layers, parts));
}

void refuse_without_effect(const RunSpec& c, const Settings& typed) {
  const std::vector<Option>& all = kept_options(kind_of(c));
  const auto is_typed = [&](const Option& o) {
    return std::any_of(typed.begin(), typed.end(), [&](const auto& s) { return s.first == o.name; });
  };
  // A sweep sets every option of its runs, and its grid may vary one that some of them do not use.
  if (std::all_of(all.begin(), all.end(), [&](const Option& o) { return c[o.name].empty() || is_typed(o); })) return;
  for (const Option& o : all) {
    if (c[o.name] == o.standard || !is_typed(o)) continue;
    refuse_option(o.name, c[o.name], no_effect(c, o.name));
  }
}

void refuse_without_draws(const TokenChoice& c, std::optional<int> top_k, std::optional<double> top_p,
                          std::optional<uint64_t> seed, OptionName typed) {
  if (c.temperature != 0) return;
  const char* option = top_k.value_or(0) ? "top_k" : top_p.value_or(1) < 1 ? "top_p" : seed ? "seed" : nullptr;
  if (option)
    bad_input("{} changes nothing at temperature 0, which always takes the most probable token; give a {} above 0, or "
              "leave it out", typed(option), typed("temperature"));
}

void refuse_without_beams(int beams, std::optional<double> length_penalty, std::optional<EarlyStopping> early_stopping,
                          OptionName typed) {
  if (beams == 1 && (early_stopping || length_penalty.value_or(1) != 1))
    bad_input("{} changes nothing with one beam; give {}, or leave it out",
              typed(early_stopping ? "early_stopping" : "length_penalty"), typed("beams"));
}

}  // namespace poslab
