#include "lab/hub/hf_rope.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "encodings/compose.h"
#include "encodings/rotary.h"
#include "encodings/sinusoid.h"

namespace poslab {
namespace {

using json = Keys::json;

// A number for each pair of channels, as in "1/1.5/8".
std::string list_of(Keys& of, const std::string& key, int pairs) {
  std::vector<std::string> numbers;
  for (const double x : of.numbers(key)) numbers.push_back(spelled(x));
  if (int(numbers.size()) != pairs)
    bad_input("{}: \"{}\" has {} numbers, but a head has {} rotated pairs of channels; it needs one for each",
              of.where(), key, numbers.size(), pairs);
  return fmt::format("{}", fmt::join(numbers, "/"));
}

// ",attention=1.2" if the file has it: a factor on cosines and sines. The logits have its square, so its sign is lost.
std::string attention_of(Keys& of) {
  if (of.get("attention_factor").is_null()) return "";
  const double attention = std::abs(of.number("attention_factor"));
  if (attention == 0 || attention > 1000)
    of.refuse("attention_factor", "at most 1000, and not 0, with which all keys weigh the same");
  return ",attention=" + spelled(attention);
}

// The default of attention_factor is 1 + 0.1 ln factor or, with mscale and mscale_all_dim, the ratio of two such terms,
// in which these multiply 0.1.
std::string yarn(Keys& of, int length, int longest) {
  const double factor = of.number("factor", double(longest) / length);
  std::string text = fmt::format("yarn:factor={},length={}", spelled(factor), length);
  const double fast = of.number("beta_fast", 0), slow = of.number("beta_slow", 0);
  if (fast != 0) text += ",beta_fast=" + spelled(fast);
  if (slow != 0) text += ",beta_slow=" + spelled(slow);
  const bool null = of.has("truncate") && of.get("truncate").is_null();  // transformers reads null as false
  if (null || !of.on("truncate", true)) text += ",truncate=off";
  const double scale = of.number("mscale", 0), all = of.number("mscale_all_dim", 0);
  if (const std::string attention = attention_of(of); !attention.empty()) return text + attention;
  if (scale != 0 && all != 0) text += fmt::format(",mscale={},mscale_all_dim={}", spelled(scale), spelled(all));
  return text;
}

// The default of attention_factor is the square root of 1 + ln factor / ln length, and 1 if factor is below 1.
std::string longrope(Keys& of, int length, int longest, int pairs) {
  const double factor = std::max(1.0, of.number("factor", double(longest) / length));
  return fmt::format("longrope:length={},factor={},long={},short={}{}", length, spelled(factor),
                     list_of(of, "long_factor", pairs), list_of(of, "short_factor", pairs), attention_of(of));
}

std::string scheme_of(Keys& of, const std::string& type, std::optional<int> trained, int longest, int pairs) {
  of.get("finetuned");  // YaRN's own code reads it only for rotations that depend on the length
  if (type == "default" || type == "linear") of.get("original_max_position_embeddings");
  if (type == "default") return "rope";
  if (type == "linear") return "pi:factor=" + spelled(of.number("factor"));
  if (type == "dynamic") return fmt::format("dynamic_ntk:factor={},length={}", spelled(of.number("factor")), longest);
  const int length = trained ? *trained : of.whole("original_max_position_embeddings", longest);
  if (trained) of.get("original_max_position_embeddings");
  if (type == "yarn") return yarn(of, length, longest);
  if (type == "longrope" || type == "su") return longrope(of, length, longest, pairs);
  if (type == "llama3")
    return fmt::format("llama3:factor={},low={},high={},length={}", spelled(of.number("factor")),
                       spelled(of.number("low_freq_factor")), spelled(of.number("high_freq_factor")), length);
  bad_input("{}: the type \"{}\" is not known; poslab reads default, linear, dynamic, yarn, longrope and llama3",
            of.where(), type);
}

// of: the object that describes the rotation. theta: the key of the base in config.json if `of` has none, and the base
// if both lack it.
HfRotation rotation(Keys& config, Keys& of, const HfRopeForm& form, const std::pair<const char*, double>& theta) {
  const std::string older = of.word("type", "default"), named = of.word("rope_type", older);
  const std::string type = form.phi && named == "yarn" ? "longrope" : named;  // longrope's name in its first release
  if (form.phi && type != "default" && type != "longrope" && type != "su")
    bad_input("{}: the type \"{}\" is not known in a model of Phi-3; use default or longrope", of.where(), type);
  HfRotation r;
  const double outside = config.number(theta.first, theta.second);
  r.base = of.number("rope_theta", outside);
  if (const Range most = rope_base().range; !(r.base >= most.min && r.base <= most.max))
    of.get("rope_theta").is_null() ? config.refuse(theta.first, to_string(most))
                                   : of.refuse("rope_theta", to_string(most));
  for (Keys* keys : {&config, &of})
    if (!keys->get("partial_rotary_factor").is_null()) {
      r.fraction = keys->number("partial_rotary_factor");
      if (r.fraction != 1 && !form.phi)
        keys->refuse("partial_rotary_factor", "1: heads that rotate in part are read only with model_type phi3");
      if (const double turning = r.fraction * form.head_dim;
          !(turning >= 2) || turning > form.head_dim || std::fmod(turning, 2) != 0)
        keys->refuse("partial_rotary_factor",
                     fmt::format("an even number of the {} channels of a head", form.head_dim));
    }
  std::optional<int> trained;
  const char* const outside_too = "original_max_position_embeddings";
  const bool is_outside = !config.get(outside_too).is_null();
  if (form.phi || is_outside) trained = config.whole(outside_too, 4096);  // Phi-3's default
  if (is_outside)
    r.original = std::min(*trained, form.longest);  // Phi-3 writes 4096 for any model
  else if (type != "dynamic" && !of.get(outside_too).is_null())
    r.original = of.whole(outside_too, form.longest);
  const int pairs = int(r.fraction * form.head_dim) / 2;
  std::string scheme = scheme_of(of, type, trained, form.longest, pairs);
  if (r.fraction != 1) scheme = (scheme == "rope" ? "partial_rope:" : scheme + ",") + "fraction=" + spelled(r.fraction);
  if (const std::string key = of.left_over(); !key.empty())
    bad_input("{}: the key \"{}\" is not known with the type \"{}\", and may change what the model computes",
              of.where(), key, type);
  const std::string text =
      fmt::format("{}{}base={},pairing=half", scheme, scheme == "rope" ? ":" : ",", spelled(r.base));
  r.encoding = prefix_errors(of.where(), [&] { return choose_encoding(text).spelled(); });
  return r;
}

Keys keys_of_object(const json& object, const std::string& where) {
  return {object.is_null() ? json::object() : object, where};
}

// Gemma 3: rope_parameters has an object for each kind of layer. Before version 5 of transformers, rope_theta and
// rope_scaling belonged to the layers that see all keys, and rope_local_base_freq was the base of the other layers.
HfRope by_kind_of_layer(Keys& config, const HfRopeForm& form, const json& scaling, const json& parameters) {
  Keys kinds = keys_of_object(parameters, config.where() + ": rope_parameters");
  const json whole = kinds.get("full_attention"), near = kinds.get("sliding_attention");
  if (const std::string key = kinds.left_over(); !key.empty())
    bad_input("{}: the key \"{}\" is not known; poslab reads full_attention and sliding_attention", kinds.where(), key);
  Keys full = scaling.is_null() ? keys_of_object(whole, kinds.where() + ": full_attention")
                                : keys_of_object(scaling, config.where() + ": rope_scaling");
  if (full.has("type") && !full.has("rope_type"))
    full.refuse("type", "called \"rope_type\": transformers ignores its older name in a model of Gemma 3");
  Keys sliding = keys_of_object(near, kinds.where() + ": sliding_attention");
  return {.full = rotation(config, full, form, {"rope_theta", 1e6}),
          .sliding = rotation(config, sliding, form, {"rope_local_base_freq", 1e4}),
          .slides = form.slides};
}

// The shortest composition that gives the layers these schemes when they take its parts in turn.
std::string in_turn(const std::vector<std::string>& layers) {
  size_t period = 1;
  const auto repeats = [&] {
    for (size_t l = period; l < layers.size(); ++l)
      if (layers[l] != layers[l - period]) return false;
    return true;
  };
  while (!repeats()) ++period;
  return fmt::format("{}", fmt::join(layers.begin(), layers.begin() + long(period), "|"));
}

}  // namespace

std::string HfRope::encoding() const {
  if (!sliding) return full.encoding;
  std::vector<std::string> layers;
  for (const bool slide : slides) layers.push_back((slide ? *sliding : full).encoding);
  return in_turn(layers);
}

HfRope hf_rope(Keys& config, const HfRopeForm& form) {
  json scaling = config.get("rope_scaling");
  const json parameters = config.get("rope_parameters");
  if (scaling.empty()) scaling = json();
  if (!scaling.is_null() && !parameters.empty())
    config.refuse("rope_scaling", "left out: \"rope_parameters\" replaces it");
  const std::string name = scaling.is_null() ? "rope_parameters" : "rope_scaling";
  if (!form.slides.empty()) return by_kind_of_layer(config, form, scaling, parameters);
  Keys of = keys_of_object(scaling.is_null() ? parameters : scaling, config.where() + ": " + name);
  return {.full = rotation(config, of, form, {"rope_theta", 10000})};
}

HfRopeKeys hf_rope_keys(const std::string& encoding, int head_dim) {
  const Chosen<Scheme> chosen = choose_encoding(encoding);
  const Choices& c = chosen.choices;
  const std::string& name = chosen->name;
  const auto refuse = [&](const std::string& why) { bad_input("encoding {}: {}", chosen.spelled(), why); };
  const double base = c.has("base") ? c.number("base") : 10000;
  json all = {{"rope_type", "default"}, {"rope_theta", base}};
  const auto scaled = [&](const char* type, const json& keys) {
    all["rope_type"] = type, all["factor"] = c.number("factor");
    all.update(keys);
    return all;
  };
  if (name == "rope" || name == "abf") return {all};
  if (name == "window") {
    if (!c.on("rope")) refuse("the form has no windows without rotations; only window with rope can be exported");
    return {all, {}, c.whole("window")};
  }
  if (name == "pi" && !c.on("dynamic")) return {scaled("linear", json::object())};
  if (name == "ntk" && (c["form"] == "bloc97" || c["form"] == "old")) {
    const double k = c.number("factor");
    all["rope_theta"] = c["form"] == "old" ? base * k : slower_base(base, k, head_dim);
    return {all};
  }
  if (name == "dynamic_ntk") return {scaled("dynamic", json::object()), c.whole("length")};
  if (name == "llama3")
    return {scaled("llama3", {{"low_freq_factor", c.number("low")},
                              {"high_freq_factor", c.number("high")},
                              {"original_max_position_embeddings", c.whole("length")}})};
  const double said = c.has("attention") ? c.number("attention") : 0;
  if (name == "longrope" && c.number("fraction") == 1) {
    const ModelShape one{1, 1, head_dim};
    const auto factors = [&](int slots) {  // for all pairs, even if a shorter list is stretched over them
      std::vector<double> of = frequencies(head_dim, base);
      const std::vector<double> scaled = chosen->pages.pictures.frequencies(one, c, slots, 0);
      for (size_t m = 0; m < of.size(); ++m) of[m] /= scaled[m];
      return of;
    };
    const int length = c.whole("length");
    const double attention = said != 0 ? said : std::sqrt(1 + std::log(c.number("factor")) / std::log(length));
    return {scaled("longrope", {{"original_max_position_embeddings", length},
                                {"attention_factor", attention},
                                {"short_factor", factors(length)},
                                {"long_factor", factors(length + 1)}})};
  }
  if (name == "yarn" && c["ramp"] == "index" && !c.on("dynamic") && !c.on("resonance")) {
    const double s = std::log(c.number("factor"));
    const double usual = (0.1 * c.number("mscale") * s + 1) / (0.1 * c.number("mscale_all_dim") * s + 1);
    return {scaled("yarn", {{"original_max_position_embeddings", c.whole("length")},
                            {"beta_fast", c.number("beta_fast")},
                            {"beta_slow", c.number("beta_slow")},
                            {"truncate", c.on("truncate")},
                            {"attention_factor", said != 0 ? said : usual}})};
  }
  refuse(
      "a checkpoint of this form cannot express it; it can express rope, abf, window, pi, ntk (bloc97 or old), "
      "dynamic_ntk, longrope, yarn as in the released code, and llama3. Train with one of these, or export another "
      "run");
  return {};
}

namespace {

bool turns_in_part(const std::string& scheme) { return scheme == "partial_rope" || scheme == "longrope"; }

// "rerope:window=512" with its open options filled from the model's values.
std::string completed(const std::string& one, RunValues model) {
  const Spelling said = read_spelling(one);
  const Scheme& scheme = find("encoding", all_encodings(), said.name);
  const bool turns = scheme.pages.pictures.frequencies != nullptr;
  if (const auto fraction = model.find("fraction"); fraction != model.end() && !turns_in_part(scheme.name)) {
    if (turns)
      bad_input(
          "encoding {}: it rotates all channels of a head, but this model rotates the first {} of them; choose "
          "partial_rope, longrope, or a scheme that rotates none",
          one, fraction->second);
    model.erase(fraction);
  }
  if (scheme.name == "abf") model.erase("base");  // ABF is itself a change of base
  const Choices c = choose_options(scheme.name, scheme.options, said, model);
  for (const char* option : {"base", "pairing"})
    if (turns && !c.has(option) && model[option] != "10000")
      bad_input("encoding {}: it has no option {}, but the rotation of this model has {} = {}; choose another",
                one, option, option, model[option]);
  return c.spelled();
}

}  // namespace

std::string for_hf_model(const std::string& encoding, const HfRope& rope, int trained_length) {
  const auto with = [&](const std::string& text, const HfRotation& r) {
    const int length = r.original ? r.original : trained_length;
    RunValues model = {{"base", spelled(r.base)}, {"pairing", "half"}, {"length", fmt::format("{}", length)}};
    model.merge(trained_on(length));
    if (r.fraction != 1) model["fraction"] = spelled(r.fraction);
    return each_part(text, [&](const std::string& one) { return completed(one, model); });
  };
  if (!rope.sliding) return with(encoding, rope.full);
  const size_t added = encoding.find('&');  // in "sincos&rope" the first scheme belongs to no layer
  const std::string first = added == std::string::npos ? "" : with(encoding.substr(0, added), rope.full) + "&";
  const std::vector<std::string> said = split(added == std::string::npos ? encoding : encoding.substr(added + 1), '|');
  std::vector<std::string> layers;
  for (size_t l = 0; l < rope.slides.size(); ++l) {
    const HfRotation& its = rope.slides[l] ? *rope.sliding : rope.full;
    layers.push_back(rope.slides[l] && said.size() == 1 ? its.encoding : with(said[l % said.size()], its));
  }
  return first + in_turn(layers);
}

}  // namespace poslab
