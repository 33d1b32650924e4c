#include "apps/lm.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "apps/commands.h"
#include "apps/finite_loss.h"
#include "apps/kept_test.h"
#include "apps/number_option.h"
#include "apps/typed_choices.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/stop.h"
#include "experiment/align.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/shell.h"
#include "lab/hub/hf_export.h"
#include "lab/hub/hf_run.h"
#include "lab/runs/language/run.h"
#include "lab/runs/output.h"
#include "lab/runs/spelled_file.h"
#include "lab/runs/unreached.h"
#include "nn/generate.h"

namespace poslab {
namespace {

struct Words {
  TypedChoices training;
  std::string run, encoding, temperature, times, samples, file, name, threads;
  std::string hf, text, positions, length, to;  // a checkpoint of others, and what is asked of it; where to export
  std::string prompt = "#include <";
  int count = 300;
  std::optional<double> sampling_temperature, top_p;  // of the tokens that are drawn; absent: as the model has them
  std::optional<int> top_k;
  uint64_t seed = 0;
};

void use_threads(const Choices& c) {
  if (c.whole("threads")) set_threads(c.whole("threads"));
}

void use_threads(const Words& w) {
  if (!w.threads.empty()) use_threads(language::configure({{"threads", w.threads}}));
}

// file: "" for none
void show(const std::vector<language::AtLength>& all, const std::string& file, bool after_training) {
  if (!file.empty()) write_file(file, language::to_csv(all));
  fmt::print("{}\n{}", language::table(all), file.empty() ? "" : fmt::format("all of it is in {}\n", file));
  must_be_finite(all, after_training);
}

void train_to_end(language::Run& run) {
  language::train(run);
  show(language::evaluate(run), run.folder.file("eval.csv"), true);
}

void train_command(const Words& w) {
  const Choices c = language::configure(of_new_run(w.training.settings()));
  use_threads(c);
  catch_signals();
  language::Run run = language::create(c);
  train_to_end(run);
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
  train_to_end(run);
}

// What a model writes may hold bytes that would command a terminal: there they are question marks.
std::string shown(std::string text) {
  if (isatty(STDOUT_FILENO))
    for (char& c : text)
      if ((static_cast<unsigned char>(c) < 32 && c != '\n' && c != '\t') || c == 127) c = '?';
  return text;
}

// Another scheme at test may read other draws of the positions.
language::Run opened_run(const Words& w) {
  language::Run run = language::open(w.run);
  if (!w.encoding.empty()) run.state.config.set("encoding", with_usual_lengths(w.encoding));
  return run;
}

// Another scheme or temperature at test.
Decoder changed(const language::State& state, const Choices& c, const Words& w) {
  Decoder other = state.net;
  if (!w.encoding.empty()) other = other.with_encoding(scheme(c));
  if (!w.temperature.empty()) {
    const Chosen<TemperaturePolicy> policy = choose_temperature(with_spelled_file("temperature", w.temperature));
    other = other.at_temperature(policy);
    check_aligned(policy, state.params);
  }
  return other;
}

// A run or a checkpoint of others, and what only one of them has.
bool of_others(const Words& w, const char* command) {
  if (w.run.empty() == w.hf.empty())
    bad_input("poslab lm {} takes a run, as in `poslab lm {} runs/lm`, or a checkpoint, --hf FOLDER{}", command,
              command, w.run.empty() ? "" : "; not both");
  for (const auto& [option, value] :
       {std::pair{"--text", &w.text}, {"--positions", &w.positions}, {"--length", &w.length}})
    if (w.hf.empty() && !value->empty())
      bad_input("{} {} goes with --hf; the run {} has its own", option, *value, w.run);
  return !w.hf.empty();
}

language::HfRun opened(const Words& w, bool to_test) {
  language::Settings asked;
  for (const auto& [name, value] : {std::pair{"positions", &w.positions}, {"train_length", &w.length},
                                    {"eval_times", &w.times}, {"eval_samples", &w.samples}, {"text", &w.text}})
    if (!value->empty()) asked.emplace_back(name, *value);
  if (!w.encoding.empty()) asked.emplace_back("encoding", with_usual_lengths(w.encoding));
  if (to_test && !w.temperature.empty())
    asked.emplace_back("temperature", with_spelled_file("temperature", w.temperature));
  return language::open_hf_run(w.hf, asked, to_test);
}

void tell_unreached(const Decoder& net, const Choices& c) {
  const std::vector<int> lengths = language::eval_lengths(c);
  tell_unreached(net.spec().encoding, sampler(c), *std::max_element(lengths.begin(), lengths.end()));
}

void eval_command(const Words& w) {
  use_threads(w);
  catch_signals();
  if (of_others(w, "eval")) {
    if (!w.name.empty()) bad_input("--name {} goes with a run; of a checkpoint, -o FILE keeps the figures", w.name);
    if (!w.file.empty()) check_output("-o", w.file, {csv_output("length,set,")});
    const language::HfRun run = opened(w, true);
    tell_unreached(run.net, run.config);
    show(language::evaluate(run.net, run.config, run.source, "poslab lm eval --hf " + shell_word(w.hf)), w.file,
         false);
    return;
  }
  const language::Run run = language::open(w.run);
  Choices c = run.state.config;
  if (!w.encoding.empty()) c.set("encoding", with_usual_lengths(w.encoding));  // it may read other positions
  if (!w.times.empty()) c.set("eval_times", w.times);
  if (!w.samples.empty()) c.set("eval_samples", w.samples);
  language::check(c);
  const Decoder net = changed(run.state, c, w);
  tell_unreached(net, c);
  if (!w.temperature.empty()) c.set("temperature", net.spec().temperature.spelled());
  const KeptTest test(run.folder, run.state.config, c, run.state.adam.step, w.file, w.name);
  const std::vector<language::AtLength> all = language::evaluate(net, c, run.source, test.again());
  test.keep(language::to_csv(all), language::table(all));
  must_be_finite(all, false);
}

// A run as a checkpoint of others is opened.
language::HfRun writer(const Words& w) {
  if (of_others(w, "generate")) return opened(w, false);
  language::Run run = opened_run(w);
  return {run.state.config, run.source, changed(run.state, run.state.config, w)};
}

// How tokens are drawn: as the user says, else as the model has it.
TokenChoice choice_of(const Words& w, TokenChoice c) {
  c.temperature = w.sampling_temperature.value_or(c.temperature);
  c.top_k = w.top_k.value_or(c.top_k), c.top_p = w.top_p.value_or(c.top_p);
  c.check();
  return c;
}

void generate_command(const Words& w) {
  use_threads(w);
  catch_signals();
  choice_of(w, {});  // before anything is opened
  const language::HfRun of = writer(w);
  const std::vector<int> prompt = of.source.prompt(w.prompt);
  fmt::print("{}", shown(of.source.grammar ? of.source.text(prompt.back()) : w.prompt));
  const Generation wanted{w.count, choice_of(w, of.choice), w.seed, sampler(of.config)};
  generate(of.net, prompt, wanted, [&](int token) {
    if (std::find(of.ends.begin(), of.ends.end(), token) != of.ends.end()) return false;
    fmt::print("{}", shown(of.source.text(token)));
    std::fflush(stdout);
    return caught_signal() == 0;
  });
  fmt::print("\n");
  if (const int signal = caught_signal()) throw Interrupted(signal, "stopped writing");
}

void export_command(const Words& w) {
  if (w.to.empty()) bad_input("to which folder? Say --to FOLDER");
  const language::Run run = language::open(w.run);
  language::export_hf(run.state, run.source, w.to);
  fmt::print("{} has {}config.json and model.safetensors: AutoModelForCausalLM.from_pretrained(\"{}\") reads it\n",
             w.to, run.source.grammar ? "" : "tokenizer.json, ", w.to);
}

const char* train_footer = R"(
Defaults stand in parentheses; the options override the preset. A run folder has config.toml, metrics.jsonl,
checkpoint.safetensors, vocabulary.json, result.json and eval.csv; `poslab report` and `poslab inspect` draw it. Of a
folder one file in ten is of the test, by the hash of its path; of a single file the last tenth.

Examples:
  poslab lm train --preset tiny --out runs/lm
  poslab lm train --preset tiny --text copy_grammar --encoding alibi --out runs/grammar
  poslab lm train --text shakespeare.txt --preset tiny --out runs/shakespeare
  poslab lm train --text ~/books --merges 768 --encoding rope --temperature log_n:length=256 --out runs/books)";

const char* eval_footer = R"(
Tests at the run's lengths or at --times, on texts that are long and on texts that are repeated to fill the length.
--encoding and --temperature put another one into the trained model, if it learns nothing.

The run's own test is written to its eval.csv. A test at other lengths or of other samples is kept beside it, as
eval-NAME.csv, with its options in eval-NAME.json. One with another encoding or temperature is printed, and kept if
--name or -o says where. `poslab report` draws what a run has as lines of their own.

With --hf a checkpoint of the Hugging Face form is tested: a folder with config.json, model.safetensors and
tokenizer.json or tokenizer.model, of LLaMA, Mistral or Qwen 2. Its trained length is max_position_embeddings, or
--length; --times counts from there, once if not said. Options that --encoding leaves open are the model's: base,
pairing and length.

Examples:
  poslab lm eval runs/lm --times 1/4/16
  poslab lm eval runs/lm --encoding rerope:window=64 --temperature log_n:length=128,only_longer --name rerope
  poslab lm eval --hf ~/models/qwen2 --length 2048 --times 1/2/4 --encoding rerope:window=512 --text ~/books)";

const char* generate_footer = R"(
Examples:
  poslab lm generate runs/lm --prompt 'template <' --count 500 --encoding rerope:window=64
  poslab lm generate --hf ~/models/qwen2 --prompt 'Once upon a time' --temperature 0)";

const char* export_footer = R"(
Writes config.json, model.safetensors and tokenizer.json into a new folder. transformers reads it as a
LlamaForCausalLM, and with the encoding window as a MistralForCausalLM. A model that this form cannot say is refused,
with the reason.

Example:
  poslab lm export runs/lm --to lm-hf)";

}  // namespace

std::function<void()> add_lm(CLI::App* lm) {
  const auto words = std::make_shared<Words>();
  const auto commands = std::make_shared<Commands>(lm);
  const auto command = [&](const char* name, const char* summary, const char* footer, void (*action)(const Words&)) {
    return commands->add(name, summary, footer, [=] { action(*words); });
  };
  const auto run = [&](CLI::App* c) { c->add_option("run", words->run, "the run folder")->required(); };
  const auto run_or_hf = [&](CLI::App* c) {
    c->add_option("run", words->run, "the run folder");
    c->add_option("--hf", words->hf, "a checkpoint of the Hugging Face form in its place")->type_name("FOLDER");
    c->add_option("--positions", words->positions, "with --hf: which positions the tokens carry (sequential)")
        ->type_name("NAME");
    c->add_option("--length", words->length, "with --hf: the trained length (max_position_embeddings)")
        ->type_name("2 .. 1048576");
  };
  const auto other = [&](CLI::App* c) {
    c->add_option("--encoding", words->encoding, "another scheme at test, without parameters")->type_name("NAME");
  };

  CLI::App* train =
      command("train", "train a language model into a new run folder, then test it", train_footer, train_command);
  words->training.add(train, language::all_choices());

  CLI::App* resume = command("resume", "go on with a run that was stopped, exactly as if it had not been",
                             "\nExample:\n  poslab lm resume runs/lm", resume_command);
  run(resume), add_threads(resume, words->threads);

  CLI::App* eval = command("eval", "test a run again, or a checkpoint of others, also with another encoding",
                           eval_footer, eval_command);
  run_or_hf(eval), other(eval);
  eval->add_option("--text", words->text, "with --hf: a file or a folder (the compiler's headers)")->type_name("PATH");
  eval->add_option("--temperature", words->temperature, "another factor on the logits of attention")->type_name("NAME");
  eval->add_option("--times", words->times, "lengths, in trained lengths (as the run has them)")->type_name("1/2/4");
  eval->add_option("--samples", words->samples, "windows for each length (as the run has them)")
      ->type_name("1 .. 16384");
  eval->add_option("--name", words->name, "of a test under other options than the run's (made from these)")
      ->type_name("NAME");
  eval->add_option("-o,--out", words->file, "a CSV file of your own, in place of one in the run")->type_name("FILE");
  add_threads(eval, words->threads);

  CLI::App* write = command("generate", "let a trained model or a checkpoint of others write, to the terminal",
                            generate_footer, generate_command);
  run_or_hf(write), other(write);
  write->add_option("--prompt", words->prompt, "how the text begins ('#include <')")->type_name("TEXT");
  add_number(write, "count", words->count, "new tokens (300)", {1, 1000000});
  add_number(write, "temperature", words->sampling_temperature,
             "0: always the most probable token (0.8, or as --hf has it)", {0, 1e6});
  add_number(write, "top-k", words->top_k, "only the K most probable tokens; 0: all (0, or as --hf has it)",
             {0, 1 << 30});
  add_number(write, "top-p", words->top_p, "only the most probable tokens of that share (1, or as --hf has it)",
             {0, 1});
  add_number(write, "seed", words->seed, "the same seed writes the same text (0)", {0, 999999999999999});
  add_threads(write, words->threads);

  CLI::App* hand_over =
      command("export", "write a trained model in the Hugging Face form", export_footer, export_command);
  run(hand_over);
  hand_over->add_option("--to", words->to, "the folder to make")->type_name("FOLDER");

  return [=] { commands->act("poslab lm"); };
}

}  // namespace poslab
