// The lists that the page offers for choice, taken from the program's own.
#include "encodings/compose.h"
#include "encodings/temperature.h"
#include "experiment/config.h"
#include "tasks/task.h"
#include "web/calls.h"

namespace poslab::web {
namespace {

// The names of the values of Option::Kind, in order.
const char* const types[] = {"toggle", "word", "whole", "number", "wholes", "numbers", "length", "lengths"};

Json option_json(const Option& o, const std::string& group, bool kept) {
  return Json::object({{"name", o.name},
                       {"about", o.help},
                       {"type", types[int(o.kind)]},
                       {"default", o.standard},
                       {"choices", Json::list(o.words)},
                       {"takes", o.takes()},
                       {"least", o.range.min},
                       {"most", o.range.max},
                       {"spelled", o.sets != nullptr},       // the choice may have options of its own: alibi:symmetric
                       {"group", group},
                       {"kept", kept}});
}

Json task_json(const Task& t) {
  const Task& made = task(t.name);
  const TaskExample e = example(made);
  return Json::object({{"name", t.name},
                       {"summary", t.summary},
                       {"about", t.about},
                       {"source", t.source},
                       {"level", t.level},
                       {"alphabet", Json::list(made.alphabet)},
                       {"inputs", made.form},
                       {"symbols_out", made.symbols_out},
                       {"example", Json::object({{"input", written_input(made, e.input)},
                                                 {"answer", written_answer(e.answer)}})},
                       {"options", options_of(t.options)}});
}

Json encoding_json(const Scheme& s) {
  const Chosen<Scheme> plain = choose_encoding(s.name);
  return Json::object({{"name", s.name},
                       {"summary", s.pages.summary},
                       {"about", s.pages.about},
                       {"source", s.pages.source},
                       {"formula", s.pages.formula},
                       {"doors", s.pages.doors},
                       {"file", s.pages.file.empty() ? "encodings/" + s.name + ".cpp" : s.pages.file},
                       {"causal_only", plain->causal_only(plain.choices)},
                       {"options", options_of(s.options)}});
}

Json sampler_json(const Sampler& s) {
  return Json::object({{"name", s.name},
                       {"summary", s.summary},
                       {"about", s.about},
                       {"source", s.source},
                       {"random", s.random},
                       {"options", options_of(s.options)}});
}

Json temperature_json(const TemperaturePolicy& t) {
  return Json::object({{"name", t.name},
                       {"summary", t.summary},
                       {"about", t.about},
                       {"source", t.source},
                       {"formula", t.formula},
                       {"learned", t.learned},
                       {"options", options_of(t.options)}});
}

Json preset_json(const ChoicePreset& p) {
  return Json::object({{"name", p.name},
                       {"summary", p.summary},
                       {"about", p.about},
                       {"settings", Json::list(p.settings, [](const auto& s) {
                          return Json::list(std::vector<std::string>{s.first, s.second});
                        })}});
}

Response catalog(Request&) {
  return {Json::object(
      {{"version", POSLAB_VERSION},
       {"tasks", Json::list(all_tasks(), task_json)},
       {"encodings", Json::list(all_encodings(), encoding_json)},
       {"samplers", Json::list(all_samplers(), sampler_json)},
       {"temperatures", Json::list(all_temperatures(), temperature_json)},
       {"presets", Json::list(all_choices().presets, preset_json)},
       {"options", Json::list(all_choices().options, [](const ChoiceOption& o) {
          return option_json(o.option, o.group, o.kept);
        })}})};
}

}  // namespace

Json options_of(const std::vector<Option>& options) {
  return Json::list(options, [](const Option& o) { return option_json(o, "", true); });
}

std::vector<Call> catalog_calls() { return {{"catalog", catalog}}; }

}  // namespace poslab::web
