#include "apps/lm.h"

#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>

#include "apps/refuse.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/stop.h"
#include "lab/files.h"
#include "lab/interrupt.h"
#include "lab/language/run.h"
#include "lab/shell.h"
#include "nn/generate.h"

namespace poslab {
namespace {

struct Words {
  std::map<std::string, std::string> typed;  // options of a run
  std::vector<std::pair<std::string, CLI::Option*>> options;
  std::string run, encoding, temperature, times, samples, file, threads;
  std::string prompt = "#include <";
  int count = 300;
  TokenChoice choice{.temperature = 0.8};
  uint64_t seed = 0;
};

void use_threads(const Choices& c) {
  if (c.whole("threads")) set_threads(c.whole("threads"));
}

void use_threads(const Words& w) {
  if (!w.threads.empty()) use_threads(language::configure({{"threads", w.threads}}));
}

void test(const language::Run& run, const std::string& file) {
  const std::vector<language::AtLength> all = language::evaluate(run);
  write_file(file, language::to_csv(all));
  fmt::print("{}\nall of it is in {}\n", language::table(all), file);
}

void train_command(const Words& w) {
  language::Settings settings;
  for (const auto& [name, option] : w.options)
    if (option->count()) {
      const bool switch_alone = w.typed.at(name).empty() && option->get_expected_min() == 0;
      settings.emplace_back(name, switch_alone ? "on" : w.typed.at(name));
    }
  const Choices c = language::configure(settings);
  use_threads(c);
  catch_signals();
  language::Run run = language::create(c);
  language::train(run);
  test(run, run.folder.file("eval.csv"));
}

void resume_command(const Words& w) {
  use_threads(w);
  catch_signals();
  language::Run run = language::open(w.run);
  const int steps = run.state.config.whole("steps");
  if (run.state.adam.step == steps && std::filesystem::exists(run.folder.file("eval.csv"))) {
    fmt::print("{} is complete: {} steps; `poslab lm eval {}` tests it again\n", w.run, steps, shell_word(w.run));
    return;
  }
  language::train(run);
  test(run, run.folder.file("eval.csv"));
}

// What a model writes may hold bytes that would command a terminal: there they are question marks.
std::string shown(std::string text) {
  if (isatty(STDOUT_FILENO))
    for (char& c : text)
      if ((static_cast<unsigned char>(c) < 32 && c != '\n' && c != '\t') || c == 127) c = '?';
  return text;
}

// Another scheme or temperature at test.
Decoder changed(const Decoder& net, const Words& w) {
  Decoder other = net;
  if (!w.encoding.empty()) other = other.with_encoding(choose_encoding(w.encoding));
  if (!w.temperature.empty()) other = other.at_temperature(choose_temperature(w.temperature));
  return other;
}

void eval_command(const Words& w) {
  use_threads(w);
  catch_signals();
  language::Run run = language::open(w.run);
  if (!w.times.empty()) run.state.config.set("eval_times", w.times);
  if (!w.samples.empty()) run.state.config.set("eval_samples", w.samples);
  language::check(run.state.config);
  run.state.net = changed(run.state.net, w);
  const bool other = !w.encoding.empty() || !w.temperature.empty();
  if (other && w.file.empty())
    bad_input("with another encoding or temperature, -o FILE says where the figures go; eval.csv is the run's own");
  test(run, w.file.empty() ? run.folder.file("eval.csv") : w.file);
}

void generate_command(const Words& w) {
  use_threads(w);
  catch_signals();
  w.choice.check();
  const language::Run run = language::open(w.run);
  const bool grammar = run.source.grammar.has_value();
  const std::vector<int> prompt =
      grammar ? std::vector{run.source.grammar->symbols} : run.source.vocabulary.encode(w.prompt);
  if (prompt.empty()) bad_input("--prompt is empty; give the model a letter to begin with");
  const auto written = [&](int token) {
    return grammar ? fmt::format("{} ", token) : shown(run.source.vocabulary.text(token));
  };
  for (const int token : prompt) fmt::print("{}", written(token));
  const Generation wanted{w.count, w.choice, w.seed, language::sampler(run.state.config)};
  generate(changed(run.state.net, w), prompt, wanted, [&](int token) {
    fmt::print("{}", written(token));
    std::fflush(stdout);
    return caught_signal() == 0;
  });
  fmt::print("\n");
  if (const int signal = caught_signal()) throw Interrupted(signal, "stopped writing");
}

const char* train_footer = R"(
Defaults stand in parentheses; the options override the preset. A run folder has config.toml, metrics.jsonl,
checkpoint.safetensors, vocabulary.json and eval.csv. One file in ten is of the test, by the hash of its path.

Examples:
  poslab lm train --preset tiny --out runs/lm
  poslab lm train --preset tiny --text copy_grammar --encoding alibi --out runs/grammar
  poslab lm train --text ~/books --merges 768 --encoding rope --temperature log_n:length=256 --out runs/books)";

const char* eval_footer = R"(
Tests at the run's lengths or at --times, on texts that are long and on texts that are repeated to fill the length.
--encoding and --temperature put another one into the trained model, if it learns nothing.

Examples:
  poslab lm eval runs/lm --times 1/4/16
  poslab lm eval runs/lm --encoding rerope:window=64 --temperature log_n:length=128,only_longer -o rerope.csv)";

const char* generate_footer = R"(
Example:
  poslab lm generate runs/lm --prompt 'template <' --count 500 --encoding rerope:window=64)";

}  // namespace

std::function<void()> add_lm(CLI::App* lm) {
  const auto words = std::make_shared<Words>();
  lm->require_subcommand(0, 1);
  const auto actions = std::make_shared<std::map<CLI::App*, std::function<void()>>>();
  const auto command = [&](const char* name, const char* summary, const char* footer, void (*action)(const Words&)) {
    CLI::App* c = lm->add_subcommand(name, summary);
    c->footer(footer);
    c->allow_extras();
    (*actions)[c] = [=] { action(*words); };
    return c;
  };
  const auto threads = [&](CLI::App* c) {
    c->add_option("--threads", words->threads, "0: one for each core; never changes a result")->type_name("0 .. 256");
  };
  const auto run = [&](CLI::App* c) { c->add_option("run", words->run, "the run folder")->required(); };
  const auto other = [&](CLI::App* c) {
    c->add_option("--encoding", words->encoding, "another scheme at test, without parameters")->type_name("NAME");
  };

  CLI::App* train =
      command("train", "train a language model into a new run folder, then test it", train_footer, train_command);
  for (const language::RunOption& o : language::all_options()) {
    const std::string standard = o.option.standard.empty() ? "" : "  (" + o.option.standard + ")";
    const bool path = o.option.name == "text" || o.option.name == "out";
    const std::string takes = path ? "PATH" : o.option.takes() == "text" ? "NAME" : o.option.takes();
    CLI::Option* added = train->add_option(dashed(o.option.name), words->typed[o.option.name], o.option.help);
    added->type_name(takes + standard)->group(o.group)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    if (o.option.kind == Option::Kind::toggle) added->expected(0, 1);
    words->options.emplace_back(o.option.name, added);
  }

  CLI::App* resume = command("resume", "go on with a run that was stopped, exactly as if it had not been",
                             "\nExample:\n  poslab lm resume runs/lm", resume_command);
  run(resume), threads(resume);

  CLI::App* eval = command("eval", "test a run again, also with another encoding", eval_footer, eval_command);
  run(eval), other(eval);
  eval->add_option("--temperature", words->temperature, "another factor on the logits of attention")->type_name("NAME");
  eval->add_option("--times", words->times, "lengths, in trained lengths (as the run has them)")->type_name("1/2/4");
  eval->add_option("--samples", words->samples, "windows for each length (as the run has them)")
      ->type_name("1 .. 16384");
  eval->add_option("-o,--out", words->file, "the CSV file to write (eval.csv of the run)")->type_name("FILE");
  threads(eval);

  CLI::App* write =
      command("generate", "let a trained model write, to the terminal", generate_footer, generate_command);
  run(write), other(write);
  write->add_option("--prompt", words->prompt, "how the text begins ('#include <')")->type_name("TEXT");
  write->add_option("--count", words->count, "new tokens (300)")
      ->type_name("1 .. 1000000")
      ->check(CLI::Range(1, 1000000).description(""));
  write->add_option("--temperature", words->choice.temperature, "0: always the most probable token (0.8)")
      ->type_name("0 or more");
  write->add_option("--top-k", words->choice.top_k, "only the K most probable tokens; 0: all (0)")->type_name("K");
  write->add_option("--top-p", words->choice.top_p, "only the most probable tokens of that share together (1)")
      ->type_name("0 .. 1");
  write->add_option("--seed", words->seed, "the same seed writes the same text (0)")->type_name("N");
  threads(write);

  return [=] { actions->at(chosen_command(*lm, "poslab lm"))(); };
}

}  // namespace poslab
