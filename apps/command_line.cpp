#include "apps/command_line.h"

#include <array>

#include "apps/all_commands.h"
#include "apps/columns.h"
#include "apps/explain.h"
#include "apps/refuse.h"
#include "apps/run_commands.h"
#include "core/error.h"
#include "core/names.h"
#include "core/platform/isa.h"
#include "encodings/temperature.h"
#include "experiment/numerics.h"
#include "lab/files/advice.h"
#include "lab/files/interrupt.h"
#include "lab/files/printable.h"
#include "lab/files/progress.h"
#include "lab/files/version.h"
#include "lab/pages/demo.h"
#include "lab/pages/report/report.h"
#include "tasks/curriculum.h"
#include "tasks/retrieval/retrieval.h"
#include "tasks/task.h"

namespace poslab {
namespace {

void list_command(const std::string& kind, const std::string& name) {
  if (!name.empty()) {
    if (kind == "curricula") bad_input("list curricula takes no name; the other lists do");
    fmt::print("{}", explained(kind, name));
    return;
  }
  std::vector<std::array<std::string, 3>> rows;
  if (kind == "tasks")
    for (const Task& t : all_tasks()) rows.push_back({t.name, t.level, t.summary});
  else if (kind == "encodings")
    for (const Scheme& s : all_encodings()) rows.push_back({s.name, s.pages.summary, s.pages.source});
  else if (kind == "samplers")
    for (const Sampler& s : all_samplers()) rows.push_back({s.name, s.summary, s.source});
  else if (kind == "temperatures")
    for (const TemperaturePolicy& t : all_temperatures()) rows.push_back({t.name, t.summary, t.source});
  else if (kind == "curricula")
    for (const Curriculum& c : all_curricula()) rows.push_back({c.name, c.summary, ""});
  else if (kind == "retrievals")
    for (const Retrieval& r : all_retrievals()) rows.push_back({r.name, r.summary, r.source});
  else if (kind == "presets")
    for (const ChoicePreset& p : all_choices().presets) rows.push_back({p.name, p.summary, ""});
  else
    throw BadInput(unknown("list", kind,
                           {"tasks", "encodings", "samplers", "temperatures", "curricula", "retrievals", "presets"}));
  fmt::print("{}", in_columns(rows));
}

void print_numerics() {
  const std::string before = isa();
  fmt::print("\nmeasured with {}:\n", numerics_compiler());
  for (const std::string& set : available_isas()) {
    use_isa(set);
    const std::string measured = measured_numerics(), committed = numerics(set);
    fmt::print("{:<8} {}  {}\n", set, measured,
               committed == measured ? "as committed"
               : committed.empty()   ? "none is committed"
                                     : "committed is " + committed);
  }
  use_isa(before);
}

// -- the program ----------------------------------------------------------------------------------------------------

// CLI11's text, without double blank lines.
struct Help : CLI::Formatter {
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    for (size_t at; (at = text.find("\n\n\n")) != text.npos;) text.erase(at, 1);
    while (text.ends_with("\n\n")) text.pop_back();
    return text;
  }
};

}  // namespace

CommandLine::CommandLine()
    : app_(
          "Train small transformers on short strings, test them on long ones, and see where each positional encoding "
          "breaks.",
          "poslab") {
  give_advice();
  app_.formatter(std::make_shared<Help>());
  app_.footer(help_text("poslab"));
  app_.allow_extras();
  app_.set_version_flag(
      "-v,-V,--version", [] { return version_line(); }, "Print the version and exit");

  CLI::App* list = commands_.add("list", "list tasks, encodings, samplers and other choices",
                                 [this] { list_command(listed_kind_, listed_); });
  list->add_option("kind", listed_kind_,
                   "tasks | encodings | samplers | temperatures | curricula | retrievals | presets")
      ->required();
  list->add_option("name", listed_, "one of them, to see what `poslab explain` says");

  const Kind& strings = strings_kind();
  add_train(commands_, strings, "train a model into a new run folder, then test it");

  const auto add_demo = [this](CLI::App* demonstrate) {
    demonstrate->add_option("--out", demo_folder_, "the folder of both runs and of the page (runs)")->type_name("PATH");
    demonstrating_.add(demonstrate, demo_choices());
    return [this] {
      catch_signals();
      fmt::print("{}\n", demo(demo_folder_, demonstrating_.settings()));
    };
  };
  commands_.add("demo", "train one small model with plain and with randomized positions, and draw both", add_demo);

  add_resume(commands_, strings);
  add_eval(commands_, strings, "test a run again, also under other options");

  CLI::App* report = commands_.add("report", "compare runs on one HTML page that works without a network", [this] {
    for (const std::string& one : report::write(runs_, page_, width_, slides_))
      tell(stderr, "skipped: {}\n", printable(one));
    fmt::print("{}\n", page_);
  });
  report->add_option("runs", runs_, "run folders, a sweep's folder or its plan.jsonl")->required();
  report
      ->add_option("-o,--out", page_,
                   "the page to write (report.html), or its chart of accuracy: .svg, .pdf, .png, .pgf, .json or .csv")
      ->type_name("FILE");
  add_width(report, width_);
  report->add_flag("--slides", slides_, "write slides: one picture at a time, turned with the arrow keys");

  commands_.add("ask", "ask a trained run about strings of your own", add_ask);
  commands_.add("explain", "explain a task, an encoding, a sampler, a temperature, a retrieval task or a preset",
                add_explain);
  commands_.add("show", "draw what an encoding or a sampler does, without training", add_show);
  commands_.add("check", "check an encoding, also your own, against the laws it must obey", add_check);
  commands_.add("inspect", "inspect runs: positions seen in training, activations in a plane, attention", add_inspect);
  commands_.add("view", "draw attention cell by cell, to 4096 slots, with all kept checkpoints", add_view);
  commands_.add("web", "write the page that trains in the browser, with runs in it", add_web);
  commands_.add("graph", "draw the tape of a training step: ops, inputs, times and gradients", add_graph);
  commands_.add("align", "find temperatures for inputs longer than those of training", add_align);
  commands_.add("calibrate", "write the mean attention of a run's heads, as the bias of another run", add_calibrate);
  commands_.add("sweep", "train many runs as one sweep: plan, run, status, collect, submit to Slurm", add_sweep);
  commands_.add("lm", "language models on text: train, resume, eval, generate, export", add_lm);
  commands_.add("t5", "encoder-decoders, which read a text and answer: train, resume, eval, generate, export", add_t5);
  add_kinds(commands_);
  commands_.add("reproduce", "reproduce the tables and figures of a paper, or of poslab's own experiments",
                add_reproduce);
  commands_.add("rerun", "train one trial of a committed table again, and compare it digit by digit", add_rerun);
  commands_.add("compare", "train many encodings on the same tasks, and rank them", add_compare);

  commands_
      .add("version", "print the version of the program, and its machine",
           [this] {
             for (auto& [name, word] : about()) fmt::print("{:<8} {}\n", name, word);
             fmt::print("openblas {}\n", openblas_in_full());
             if (measure_) print_numerics();
           })
      ->add_flag("--numerics", measure_, "also measure the numerics number with each instruction set");
  commands_.add("completion", "print a script for completion in a shell", add_completion);
  commands_.add("help", "explain a command", [this] { print_help(whole(), explained_); })
      ->add_option("command", explained_, "one of those that `poslab help` lists");
}

bool CommandLine::parse(int argc, const char* const* argv) {
  for (int n = 1; n + 1 < argc; ++n)
    if (std::string_view(argv[n]) == "--" && std::string_view(argv[n + 1]).starts_with("--"))
      bad_input("-- ends the options, and {} comes after it; leave the -- out", argv[n + 1]);
  try {
    app_.parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help
    const auto is_word = [&](const CLI::App* command) { return command->get_name() == argv[1]; };
    if (argv[1][0] != '-' && whole().get_subcommands(is_word).empty()) return parse(2, argv);  // unknown in any case
    app_.exit(e);
    return false;
  } catch (const CLI::ParseError& e) { refuse(e, whole()); }
  return true;
}

const CLI::App& CommandLine::whole() {
  commands_.declare_all();
  return app_;
}

void CommandLine::act() {
  const CLI::App* command = &app_;  // the current one
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  try {
    commands_.act("poslab");
  } catch (const BadInput& e) { throw BadInput(as_options(e.what(), *command)); }
}

}  // namespace poslab
