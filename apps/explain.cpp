// Prints texts from the lists of tasks, schemes, samplers, policies and presets, with computed examples.
#include "apps/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include "apps/all_commands.h"
#include "apps/columns.h"
#include "core/ascii.h"
#include "core/error.h"
#include "core/names.h"
#include "encodings/aligned.h"
#include "encodings/compose.h"
#include "encodings/picture.h"
#include "encodings/temperature.h"
#include "experiment/config.h"
#include "lab/files/shell.h"
#include "lab/pages/show/show.h"
#include "lab/runs/spelled_file.h"
#include "tasks/retrieval/symbols.h"
#include "tasks/task.h"

namespace poslab {
namespace {

// Rows of two columns: a name and a value.
using Rows = std::vector<std::array<std::string, 2>>;

std::string text_of(const Rows& rows) {
  std::string text;
  for (const auto& [name, what] : rows) {
    if (what.empty()) continue;
    for (bool first = true; const std::string& line : wrapped(what, 90))
      text += fmt::format("{:<10}{}\n", first ? name : "", line), first = false;
  }
  return text;
}

std::string text_of(const std::vector<Option>& options) {
  if (options.empty()) return {};
  std::vector<std::array<std::string, 3>> rows;
  for (const Option& o : options) {
    const std::string standard = o.standard.empty() ? "" : "  (" + o.standard + ")";
    rows.push_back({"  " + o.name, o.takes() + standard, o.help});
  }
  return "\noptions, with their defaults in parentheses\n" + in_columns(rows);
}

// The options, with one of them changed from its default.
Choices moved(Choices c, const Option& o) {
  c.set(o.name, o.kind == Option::Kind::toggle   ? (o.standard == "on" ? "off" : "on")
                : o.kind == Option::Kind::length ? "128"
                : o.kind == Option::Kind::word
                    ? (o.words.empty() ? "@FILE" : o.words[1])
                    : o.value(fmt::format("{}", std::min(o.range.max, 2 * ascii::number(o.standard) + 1))));
  return c;
}

// "alibi, alibi:mode=offset_table,symmetric": the name alone, unless an option is required, and the name with every
// option changed from its default. An option that excludes others, as `works` tells, gets a separate spelling.
std::string spelling(const std::string& name, const std::vector<Option>& options,
                     const std::function<bool(const Choices&)>& works = {}) {
  if (options.empty()) return name;
  Choices together(name, options);
  std::string apart;
  for (const Option& o : options) {
    const Choices more = moved(together, o), only = moved(Choices(name, options), o);
    const bool excluded = works && !works(more) && works(only);
    together = excluded ? together : more;
    if (excluded) apart += ", " + only.spelled();
  }
  const bool alone = std::none_of(options.begin(), options.end(), [](const Option& o) { return o.standard.empty(); });
  return (alone ? name + ", " : "") + together.spelled() + apart;
}

struct Reference { std::string file, spelled, page; };

// The explanation of an entry of any list: its sentences, `rows`, its source and place, the example and the options.
template <class Thing>
std::string text_of(const Thing& thing, const std::string& name, Rows rows, const Reference& at,
                    const std::string& example, const std::vector<Option>& options) {
  if constexpr (requires { thing.source; }) rows.push_back({"source", thing.source});
  rows.insert(rows.end(), {{"file", at.file}, {"spelled", at.spelled}, {"read on", at.page}});
  const std::string about = thing.about.empty() ? "" : thing.about + "\n\n";
  return fmt::format("{}\n\n{}{}\n{}{}", fmt::join(wrapped(name + ": " + thing.summary, 100), "\n"), about,
                     text_of(rows), example, text_of(options));
}

// -- tasks ----------------------------------------------------------------------------------------------------------

std::string of_task(const std::string& name) {
  const Chosen<Task> t = choose("task", all_tasks(), name);
  const Task& made = task(name);
  const TaskExample e = example(made);
  std::vector<int> out;
  for (int symbol = 0; symbol < made.symbols_out; ++symbol) out.push_back(symbol);
  const std::string input = written_input(made, e.input);
  const int ten = made.output_length(10);
  return text_of(t.thing, name,
                 {{"inputs", made.form},
                  {"symbols", fmt::format("{} in, {} out", fmt::join(made.alphabet, " "), fmt::join(out, " "))},
                  {"answer", fmt::format("{} symbol{} to an input of 10", ten, ten == 1 ? "" : "s")},
                  {"level", t->level}},
                 {fmt::format("tasks/{}/{}.cpp", t->level, t->name), "--task " + spelling(t->name, t->options),
                  "docs/tasks.md"},
                 fmt::format("example   {} -> {}\nask       poslab ask RUN {}\n", input, written_answer(e.answer),
                             shell_word(input)),
                 t->options);
}

// -- encodings ------------------------------------------------------------------------------------------------------

std::string words_of(Reads what) {
  std::vector<std::string> all;
  for (const auto& [one, word] : {std::pair{Reads::slots, "the order of slots"},
                                  {Reads::positions, "a position for each token"},
                                  {Reads::distances, "distances of positions"},
                                  {Reads::offset_table, "one offset for each distance of slots"}})
    if (has(what, one)) all.push_back(word);
  return all.empty() ? "nothing" : fmt::format("{}", fmt::join(all, ", "));
}

// "2 or 3" with explanations: each number is one of the four places where positions can enter a transformer.
std::string doors_of(const std::string& doors) {
  static const std::string what[] = {"adds to the embedding", "changes queries and keys", "adds to the logits",
                                     "has weights of its own"};
  std::string text;
  for (const char c : doors) text += c < '1' || c > '4' ? std::string(1, c) : fmt::format("{} ({})", c, what[c - '1']);
  return text + "; a door is one of four places where positions can enter a transformer";
}

// An untrained scheme in the model of the paper.
struct Untrained {
  ModelShape shape{};
  Params params{0};
  PositionLayers layers;
  explicit Untrained(const Chosen<Scheme>& s)
      : shape{.causal = !s->causal_only(s.choices).empty()}, layers(params / "encoding", s, shape) {
    if (learns()) params.pack();
  }
  bool learns() const { return !params.entries().empty(); }
};

std::string learned(const Untrained& u) {
  if (!u.learns()) return "nothing";
  std::string digits = std::to_string(u.params.count());
  for (int at = int(digits.size()) - 3; at > 0; at -= 3) digits.insert(size_t(at), ",");
  return fmt::format("{} parameter{} in {} layers of width {} with {} heads", digits, u.params.count() == 1 ? "" : "s",
                     u.shape.layers, u.shape.d_model, u.shape.heads);
}

constexpr int drawn_slots = 5;

// The matrix of five consecutive slots, in the first layer and head: a row for each query, a column for each key.
// shares: whether some of the scheme's lengths are shares of these slots.
std::string matrix_of(const Chosen<Scheme>& s, const Untrained& u, bool shares) {
  constexpr int T = drawn_slots;
  const PositionSample sample({Positions::of_tokens(1, {0, 1, 2, 3, 4})});
  const std::vector<real> m = position_matrices(u.layers, u.shape, sample)[0].values();
  std::string text = fmt::format("example   positions 0 to 4; a row is a query, a column a key{}{}\n",
                                 u.learns() ? "; before training" : "",
                                 shares ? fmt::format("; with a trained length of {}: {}", T, s.spelled()) : "");
  for (int e = 0; e < T * T; ++e)  // each row begins with 8 spaces
    text += fmt::format("{:>{}.3g}{}", double(m[size_t(e)]) + 0., e % T ? 10 : 18, (e + 1) % T ? "" : "\n");
  for (const auto& line : wrapped(s->pages.shows(u.shape, s.choices), 90)) text += std::string(10, ' ') + line + "\n";
  return text;
}

// A note if switches or words differ from their defaults: a scheme's summary and formula hold for the defaults alone.
std::string note_on_forms(const Chosen<Scheme>& s) {
  std::string all;
  for (const Option& o : s->options)
    if ((o.kind == Option::Kind::toggle || o.kind == Option::Kind::word) && s.choices.has(o.name) &&
        s.choices[o.name] != o.standard)
      all += (all.empty() ? "summary and formula are for the default of " : ", ") + o.name;
  return all;
}

std::string of_encoding(const std::string& name) {
  const std::string typed = choose_encoding(with_spelled_file("encoding", name)).spelled();
  const Chosen<Scheme> s = choose_encoding(typed, trained_on(drawn_slots));
  const bool composed = std::none_of(all_encodings().begin(), all_encodings().end(),
                                     [&](const Scheme& one) { return one.name == s->name; });
  const std::string why_causal = s->causal_only(s.choices);
  const Untrained untrained(s);
  const auto works = [&](const Choices& c) {
    try {
      if (s->check) s->check({.causal = !s->causal_only(c).empty()}, c);
      return true;
    } catch (const BadInput&) { return false; }
  };
  return text_of(s->pages, typed,
                 {{"formula", s->pages.formula},
                  {"but", note_on_forms(s)},
                  {"doors", doors_of(s->pages.doors)},
                  {"reads", words_of(reads(s))},
                  {"mask", why_causal.empty() ? "causal or none" : "causal only: " + why_causal},
                  {"learns", learned(untrained)}},
                 {composed                ? "encodings/compose.cpp"
                  : s->pages.file.empty() ? fmt::format("encodings/{}.cpp", s->name)
                                          : s->pages.file,
                  "--encoding " + (composed ? shell_word(typed) : spelling(s->name, s->options, works)),
                  "docs/encodings.md"},
                 matrix_of(s, untrained, typed != s.spelled()), composed ? std::vector<Option>() : s->options);
}

// -- samplers -------------------------------------------------------------------------------------------------------

std::string of_sampler(const std::string& name) {
  constexpr int T = 6;
  const Chosen<Sampler> s =
      choose_sampler(with_spelled_file("positions", name), trained_on(show::Options().train_length));
  const int d = int(TokenClass::digit), sign = int(TokenClass::sign), empty = int(TokenClass::empty);
  const Ids classes = s->reads_classes ? Ids({1, T}, {d, d, sign, d, empty, empty}) : Ids();
  const PositionSample drawn(s, Resample::per_forward, stream(0, Purpose::positions, 0), 1, T, classes);
  const int layers = s->parts ? int(s->parts->size()) : 1;
  std::string sample;
  for (int layer = s->added ? -1 : 0; layer < layers; ++layer) {
    const Positions& p = layer < 0 ? drawn.at_embedding() : drawn.at_layer(layer);
    const std::string where = layer < 0    ? "embedding: "
                              : layers > 1 ? fmt::format("layer {}: ", layer + 1)
                              : s->added   ? "logits: "
                                           : "";
    const auto line = [&](const char* what, const std::vector<double>& numbers, size_t first = 0, size_t step = 1) {
      std::vector<double> of_it;
      for (size_t n = first; n < numbers.size(); n += step) of_it.push_back(numbers[n]);
      const std::string said = fmt::format("{}{}: {:g}", where, what, fmt::join(of_it, " "));
      sample += text_of(Rows{{sample.empty() ? "example" : "", said}});
    };
    const char* what = s->reads_classes ? "positions of 6 slots, 4 5 + 6 and two empty ones" : "positions of 6 slots";
    if (p.only_offsets())
      line("offsets of 6 slots, from the key 5 to the left to the key 5 to the right", p.distances().value);
    else
      for (int k = 0; k < p.channels(); ++k)
        line(k ? "other numbers of the same slots" : what, p.ids(s->name), size_t(k), size_t(p.channels()));
  }
  const std::string shown = s->parts ? s->name : s.spelled();
  return text_of(s.thing, shown,
                 {{"random", s->random ? "yes" : "no"}},
                 {s->parts ? "encodings/samplers.cpp" : s->file,
                  "--positions " + (s->parts ? shell_word(shown) : spelling(s->name, s->options)), "docs/encodings.md"},
                 sample, s->parts ? std::vector<Option>() : s->options);
}

// -- temperatures ---------------------------------------------------------------------------------------------------

// The factor on the logits of a query that sees this many keys, before training.
double factor(const Chosen<TemperaturePolicy>& t, int keys) {
  if (!t->make) return 1;
  const Params params(0);
  const Temperature made = t->make(params, t.choices, {.layers = 1, .heads = 1, .d_model = 1});
  if (!made.factor) return 1;
  if (!params.entries().empty()) params.pack();
  const Tensor query = Tensor::full({1, 1, 1, 1}, 0), keys_of_it = Tensor::full({1, keys, 1, 1}, 0);
  const Heads in{query, keys_of_it, Tensor::full({1, 1, 1}, 0)};
  return double(made.factor(in, Positions::of_tokens(1, std::vector<double>(size_t(keys), 0.)), {}).values()[0]);
}

std::string of_temperature(const std::string& name) {
  const bool of_nothing = name == "aligned";  // it requires options
  const Chosen<TemperaturePolicy> t =
      choose_temperature(of_nothing ? aligned_example : name, trained_on(show::Options().train_length));
  std::string keys = of_nothing ? fmt::format("example   of    {}\n          keys  ", t.choices["of"])
                                : "example   keys  ",
              factors = "          factor";
  for (const int n : {10, 40, 80, 160, 640, 2560})
    keys += fmt::format("{:>8}", n), factors += fmt::format("{:>8.3f}", factor(t, n));
  return text_of(t.thing, of_nothing ? name : t.spelled(),
                 {{"formula", t->formula}, {"learned", t->learned ? "yes" : "no"}},
                 {"encodings/temperature.cpp", "--temperature " + spelling(t->name, t->options), "docs/encodings.md"},
                 keys + "\n" + factors + "\n", t->options);
}

// -- retrieval tasks ------------------------------------------------------------------------------------------------

std::string of_retrieval(const std::string& name) {
  const Chosen<Retrieval> r = choose_retrieval(name);
  Rng rng(stream(0, Purpose::test_tokens, 0));
  const SymbolQuestion q = draw(r, 32, 0.5, rng);
  return text_of(r.thing, r.spelled(),
                 {{"answer", r->placed ? "anywhere in the context, or at a requested place"
                                       : "always at the beginning of the context"},
                  {"English", fmt::format("its size counts {}", r->size)}},
                 {fmt::format("tasks/retrieval/{}.cpp", r->name), "--tasks " + spelling(r->name, r->options),
                  "docs/tasks.md"},
                 text_of(Rows{{"example", symbols::written(q.tokens) + " -> " + symbols::written(q.answer)}}),
                 r->options);
}

// -- presets --------------------------------------------------------------------------------------------------------

std::string of_preset(const std::string& name) {
  const ChoicePreset& p = find("preset", all_choices().presets, name);
  std::string settings;
  for (const auto& [option, value] : p.settings) settings += fmt::format("  {:<17} {}\n", option, value);
  const std::string example = fmt::format("poslab train --preset {} --task reverse_string{} --out runs/r1", name,
                                          settings.find("  encoding ") == settings.npos ? " --encoding rope" : "");
  return text_of(p, name, {}, {"experiment/presets.txt", "--preset " + name, "docs/reproduce.md"},
                 fmt::format("example   {}\n", example), {}) +
         (settings.empty() ? "" : "\nsets these options\n" + settings);
}

}  // namespace

const std::vector<ExplainedKind>& explained_kinds() {
  static const std::vector<ExplainedKind> all = {
      {"task", [] { return option("task").words; }, of_task},
      {"encoding", [] { return option("encoding").words; }, of_encoding},
      {"sampler", [] { return option("positions").words; }, of_sampler},
      {"temperature", [] { return option("temperature").words; }, of_temperature},
      {"retrieval", [] { return names_of(all_retrievals()); }, of_retrieval},
      {"preset", [] { return option("preset").words; }, of_preset}};
  return all;
}

namespace {

const ExplainedKind* kind_named(const std::string& name) {  // "encoding" or "encodings"
  for (const ExplainedKind& kind : explained_kinds())
    if (name == kind.name || name == kind.name + "s") return &kind;
  return nullptr;
}

// The explanation of a name in one list, "rope"; for a name in several lists, an error says how to ask for each.
std::string explained(const std::string& spelling) {
  if (composed_spelling(spelling)) return of_encoding(spelling);
  const std::string name = read_spelling(spelling).name;
  if (const ExplainedKind* kind = kind_named(name))
    bad_input("which {}? Give its name, as in `poslab explain {}`; `poslab list {}` shows them", kind->name,
              kind->names().back(), kind->name == "curriculum" ? "curricula" : kind->name + "s");
  std::vector<const ExplainedKind*> of;
  std::vector<std::string> known, ways;
  for (const ExplainedKind& kind : explained_kinds())
    for (const std::string& one : kind.names()) {
      known.push_back(one);
      if (one != name) continue;
      of.push_back(&kind);
      ways.push_back(fmt::format("`poslab explain {} {}`", kind.name, shell_word(spelling)));
    }
  if (of.empty()) {  // all names of all lists would be more than a line
    const std::string text = unknown("name", name, known);
    throw BadInput(text.substr(0, text.find(" Known: ")) +
                   (text.find(" Known: ") == text.npos
                        ? ""
                        : " `poslab list encodings` lists the encodings; tasks, samplers, temperatures, retrievals and "
                          "presets have such lists, too"));
  }
  if (of.size() > 1) bad_input("{} is the name of several things; use {}", name, fmt::join(ways, " or "));
  return of[0]->text(spelling);
}

}  // namespace

std::string explained(const std::string& kind, const std::string& name) {
  if (const ExplainedKind* known = kind_named(kind)) return known->text(name);
  const std::string first = kind.substr(0, kind.find(':'));
  for (const ExplainedKind& one : explained_kinds())
    if (const auto names = one.names(); std::find(names.begin(), names.end(), first) != names.end())
      bad_input("explain takes one name at a time; use `poslab explain {}`, then {}", kind, name);
  throw BadInput(unknown("kind", kind, names_of(explained_kinds())));
}

std::function<void()> add_explain(CLI::App* explain) {
  const auto words = std::make_shared<std::pair<std::string, std::string>>();
  explain->add_option("kind", words->first, "task | encoding | sampler | temperature | retrieval | preset")->required();
  explain->add_option("name", words->second, "its name, as in `poslab list tasks`; a name alone is enough");
  const auto numpy = std::make_shared<bool>(false);
  explain->add_flag("--numpy", *numpy, "for an encoding: its formula in NumPy, which runs alone, from poslab.formulas");
  return [=] {
    const auto& [kind, name] = *words;
    if (*numpy) {
      if (!name.empty() && !kind_named(kind)) explained(kind, name);  // two names
      if (!name.empty() && kind_named(kind) != kind_named("encoding"))
        bad_input("--numpy is for encodings, not for a {}; try `poslab explain rope --numpy`", kind);
      fmt::print("{}", in_numpy(name.empty() ? kind : name));
      return;
    }
    fmt::print("{}", name.empty() ? explained(kind) : explained(kind, name));
  };
}

}  // namespace poslab
