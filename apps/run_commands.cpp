#include "apps/run_commands.h"

#include <algorithm>
#include <optional>

#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/spelled_file.h"

namespace poslab {
namespace {

struct TrainWords {
  TypedChoices typed;
  std::optional<std::string> config;
  std::vector<std::string> sets;
  bool force = false;
};

const ChoiceOption* option_of(const Kind& kind, const std::string& name) {
  for (const ChoiceOption& o : kind.table().options)
    if (o.option.name == name) return &o;
  return nullptr;
}

// The values of a file take precedence, so a preset on the command line must not contradict them.
void check_preset(const Kind& kind, const std::string& file, const Settings& of_file, const Settings& typed) {
  const auto last = std::find_if(typed.rbegin(), typed.rend(), [](auto& s) { return s.first == "preset"; });
  if (last == typed.rend()) return;
  Settings of_preset = find("preset", kind.table().presets, last->second).settings;
  of_preset.emplace_back("preset", last->second);
  for (const auto& [name, value] : of_file)
    for (const auto& [same, other] : of_preset)
      if (name == same && value != other)
        bad_input(
            "--preset {} with --config {}: the file sets {} to {} and takes precedence; leave out --preset, "
            "or change options with --set",
            last->second, file, name, value);
}

void train_command(const Kind& kind, const TrainWords& w) {
  Settings of_file, sets;
  if (w.config) of_file = read_toml(read_input(*w.config), *w.config, kind, SpelledFiles::read);
  for (const std::string& s : w.sets) {
    const size_t equals = s.find('=');
    if (equals == std::string::npos || equals == 0)
      bad_input("--set {} is not KEY=VALUE; write it as in --set lr=0.001", s);
    const std::string name = s.substr(0, equals);
    if (name == "config") bad_input("--set {}: give a file of options as --config FILE", s);
    if (!option_of(kind, name)) kept_option(kind, name);  // throws
    sets.emplace_back(name, with_spelled_file(name, s.substr(equals + 1)));
  }
  const Settings typed = w.typed.settings();
  if (w.config) check_preset(kind, *w.config, of_file, joined(typed, sets));
  catch_signals();
  fmt::print("{}\n", train_run(kind, of_file, {typed, sets}, w.force));
}

// "--lengths,--eval-lengths" for eval_lengths
std::string words_of(const std::string& option) {
  if (option.starts_with("eval_")) return dashed(option.substr(5)) + "," + dashed(option);
  if (option.starts_with("test_") && option != "test_dropout") return dashed(option) + "," + dashed(option.substr(5));
  return dashed(option);
}

void add_if_there(TypedChoices& typed, CLI::App* c, const Kind& kind, const std::string& name, bool of_run) {
  if (const ChoiceOption* o = option_of(kind, name)) typed.add(c, *o, words_of(name), of_run);
}

}  // namespace

void add_train(Commands& commands, const Kind& kind, const char* summary) {
  commands.add("train", summary, [&kind](CLI::App* c) {
    const auto w = std::make_shared<TrainWords>();
    c->add_option("--config", w->config, "a TOML file of options, such as another run's config.toml")
        ->type_name("FILE");
    c->add_option("--set", w->sets, "override an option; may be repeated")
        ->type_name("KEY=VALUE")
        ->take_all()
        ->expected(1)
        ->allow_extra_args(false);
    add_force(c, w->force);
    w->typed.add(c, kind.table());
    return [w, &kind] { train_command(kind, *w); };
  });
}

void add_resume(Commands& commands, const Kind& kind) {
  commands.add("resume", "continue a stopped run, with the same bits as an uninterrupted one", [&kind](CLI::App* c) {
    const auto w = std::make_shared<EvalWords>();
    c->footer(fmt::format("\nExample:\n  poslab {} runs/r1", kind.command("resume")));
    c->add_option("run", w->run, "the run folder")->required();
    add_if_there(w->tested, c, kind, "threads", false);
    add_if_there(w->tested, c, kind, "device", true);
    add_force(c, w->force);
    return [w, &kind] {
      catch_signals();
      fmt::print("{}\n", resume_run(w->run, w->settings(), w->force, nullptr, &kind));
    };
  });
}

void test(const EvalWords& w, const Kind& kind) {
  catch_signals();
  const Tested t = test_run(w.run, w.settings(), w.keep, w.force, &kind);
  fmt::print("{}\n", t.said);
  check_finite(t.results, false);
}

void add_eval_options(CLI::App* c, const Kind& kind, EvalWords& w, bool required) {
  c->add_option("run", w.run, "the run folder")->required(required);
  for (const std::string& name : kind.tested) add_if_there(w.tested, c, kind, name, true);
  c->add_option("--name", w.keep.name, "name of a test under other options (the default is made from them)")
      ->type_name("NAME");
  c->add_option("-o,--out", w.keep.file, "a CSV file to write instead of one in the run folder")->type_name("FILE");
  add_if_there(w.tested, c, kind, "threads", false);
  add_if_there(w.tested, c, kind, "device", true);
  add_force(c, w.force);
}

void add_eval(Commands& commands, const Kind& kind, const char* summary) {
  commands.add("eval", summary, [&kind](CLI::App* c) {
    const auto w = std::make_shared<EvalWords>();
    add_eval_options(c, kind, *w, true);
    return [w, &kind] { test(*w, kind); };
  });
}

void add_kinds(Commands& commands) {
  for (const Kind* kind : all_kinds()) {
    if (kind->summary.empty()) continue;
    const std::string name = kind->word.substr(0, kind->word.size() - 1);
    commands.add(name.c_str(), kind->summary.c_str(), [kind, name](CLI::App* group) -> std::function<void()> {
      const auto own = std::make_shared<Commands>(group);
      add_train(*own, *kind, "train a model into a new run folder, then test it");
      add_resume(*own, *kind);
      add_eval(*own, *kind, "test a run again, also under other options");
      return [own, name] { own->act("poslab " + name); };
    });
  }
}

}  // namespace poslab
