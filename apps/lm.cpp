#include "apps/lm.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "apps/commands.h"
#include "apps/number_option.h"
#include "apps/run_commands.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/stop.h"
#include "experiment/language/learner.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/shell.h"
#include "lab/hub/hf_export.h"
#include "lab/hub/hf_run.h"
#include "lab/runs/output.h"
#include "lab/runs/results_csv.h"
#include "lab/runs/unreached.h"
#include "nn/generate.h"

namespace poslab {
namespace {

struct LmWords {
  EvalWords eval;                                   // of a run
  std::string run, encoding, temperature, threads;  // of generate and export
  std::string hf, text, positions, length, to;      // an external checkpoint, and what is asked of it; where to export
  std::string prompt = "#include <";
  int count = 300;
  std::optional<double> sampling_temperature, top_p;  // of the tokens that are drawn; absent: as the model has them
  std::optional<int> top_k;
  uint64_t seed = 0;
};

using LmRun = RunOf<language::TextLearner>;
LmRun open_lm(const std::string& folder) { return open_as<language::TextLearner>(language_kind(), folder); }

// What a model writes may hold bytes that would command a terminal: there they are question marks.
std::string shown(std::string text) {
  if (isatty(STDOUT_FILENO))
    for (char& c : text)
      if ((static_cast<unsigned char>(c) < 32 && c != '\n' && c != '\t') || c == 127) c = '?';
  return text;
}

// A run or an external checkpoint, and what only one of them has.
bool external(const LmWords& w, const std::string& run, const char* command) {
  if (run.empty() == w.hf.empty())
    bad_input("poslab lm {} takes a run, as in `poslab lm {} runs/lm`, or a checkpoint, --hf FOLDER{}", command,
              command, run.empty() ? "" : "; not both");
  if (w.hf.empty() && std::filesystem::exists(run + "/config.json") && !std::filesystem::exists(run + "/config.toml"))
    bad_input("{0} is a checkpoint of Hugging Face's form and no run; say --hf {0}", shell_word(run));
  if (w.hf.empty() && !std::filesystem::exists(run))
    bad_input("there is no run folder {}; `poslab lm train` makes one, and --hf FOLDER names a checkpoint on this disk",
              shell_word(run));
  for (const auto& [option, value] :
       {std::pair{"--text", &w.text}, {"--positions", &w.positions}, {"--length", &w.length}})
    if (w.hf.empty() && !value->empty()) bad_input("{} {} goes with --hf; the run {} has its own", option, *value, run);
  return !w.hf.empty();
}

// An external checkpoint. asked: what was typed of a test.
language::HfRun opened(const LmWords& w, Settings asked, bool to_test) {
  for (const auto& [name, value] :
       {std::pair{"positions", &w.positions}, {"train_length", &w.length}, {"text", &w.text}})
    if (!value->empty()) asked.emplace_back(name, *value);
  return language::open_hf_run(w.hf, asked, to_test);
}

void eval_command(const LmWords& w) {
  if (!external(w, w.eval.run, "eval")) return test(w.eval, language_kind());
  catch_signals();
  const Keep& keep = w.eval.keep;
  if (!keep.name.empty()) bad_input("--name {} goes with a run; of a checkpoint, -o FILE keeps the figures", keep.name);
  if (!keep.file.empty()) check_output("-o", keep.file, {csv_output(header_of(language_kind()))});
  Settings asked = w.eval.settings();
  std::erase_if(asked, [](const auto& s) {
    if (s.first == "threads") set_threads(std::stoi(s.second));
    return s.first == "threads";
  });
  const language::HfRun run = opened(w, asked, true);
  tell_unreached(run.net.spec().encoding, sampler(run.config), language_kind().longest(run.config));
  const Results all = evaluate(language::test_of(run.net, run.config, std::make_shared<language::Source>(run.source)),
                               "poslab lm eval --hf " + shell_word(w.hf));
  if (!keep.file.empty()) write_file(keep.file, to_csv(all));
  fmt::print("{}\n{}", language_kind().shown(run.config, all),
             keep.file.empty() ? "" : fmt::format("all of it is in {}\n", keep.file));
  must_be_finite(all, false);
}

// Who writes: an external checkpoint, or a run as one is opened, with another scheme or temperature.
language::HfRun writer(const LmWords& w) {
  Settings asked;
  if (!w.encoding.empty()) asked.emplace_back("encoding", with_usual_lengths(w.encoding));
  if (external(w, w.run, "generate")) return opened(w, asked, false);
  const LmRun run = open_lm(w.run);
  const language::State& state = run.learner->state;
  Choices c = state.config;
  for (const auto& [name, value] : asked) c.set(name, value);
  return {c, *run.learner->source, language::tested_net(state.net, state.params, state.config, c)};
}

// How tokens are drawn: as the user says, else as the model has it.
TokenChoice choice_of(const LmWords& w, TokenChoice c) {
  c.temperature = w.sampling_temperature.value_or(c.temperature);
  c.top_k = w.top_k.value_or(c.top_k), c.top_p = w.top_p.value_or(c.top_p);
  c.check();
  return c;
}

void generate_command(const LmWords& w) {
  if (!w.threads.empty()) set_threads(language::configure({{"threads", w.threads}}).whole("threads"));
  catch_signals();
  choice_of(w, {});  // before anything is opened
  const language::HfRun of = writer(w);
  const std::vector<int> prompt = of.source.prompt(w.prompt);
  fmt::print("{}", shown(of.source.grammar ? of.source.text(prompt.back()) : w.prompt));
  const Generation wanted{w.count, choice_of(w, of.choice), w.seed, sampler(of.config)};
  const MatmulPrecision as_the_run = precision(of.config);
  generate(of.net, prompt, wanted, [&](int token) {
    if (std::find(of.ends.begin(), of.ends.end(), token) != of.ends.end()) return false;
    fmt::print("{}", shown(of.source.text(token)));
    std::fflush(stdout);
    return caught_signal() == 0;
  });
  fmt::print("\n");
  if (const int signal = caught_signal()) throw Interrupted(signal, "stopped writing");
}

void export_command(const LmWords& w) {
  if (w.to.empty()) bad_input("to which folder? Say --to FOLDER");
  const LmRun run = open_lm(w.run);
  language::export_hf(run.learner->state, *run.learner->source, w.to);
  fmt::print("{} has {}config.json and model.safetensors: AutoModelForCausalLM.from_pretrained(\"{}\") reads it\n",
             w.to, run.learner->source->grammar ? "" : "tokenizer.json, ", w.to);
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
tokenizer.json or tokenizer.model, of LLaMA, Mistral, Qwen 2, Qwen 3, OLMo 2, Phi-3 or Gemma 3. Its trained length is
max_position_embeddings, or --length; --times counts from there, once if not said. Options that --encoding leaves open
are the model's: base, pairing and length.

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
  const auto words = std::make_shared<LmWords>();
  const auto commands = std::make_shared<Commands>(lm);
  const auto command = [&](const char* name, const char* summary, const char* footer, void (*action)(const LmWords&)) {
    return commands->add(name, summary, footer, [=] { action(*words); });
  };
  const auto hf = [&](CLI::App* c) {
    c->add_option("--hf", words->hf, "a checkpoint of the Hugging Face form in its place")->type_name("FOLDER");
    c->add_option("--positions", words->positions, "with --hf: which positions the tokens carry (sequential)")
        ->type_name("NAME");
    c->add_option("--length", words->length, "with --hf: the trained length (max_position_embeddings)")
        ->type_name("2 .. 1048576");
  };

  const Kind& kind = language_kind();
  add_train(*commands, kind, {"train a language model into a new run folder, then test it", train_footer});
  add_resume(*commands, kind);

  CLI::App* eval = command("eval", "test a run again, or an external checkpoint, also with another encoding",
                           eval_footer, eval_command);
  add_eval_options(eval, kind, words->eval, false);
  hf(eval);
  eval->add_option("--text", words->text, "with --hf: a file or a folder (the compiler's headers)")->type_name("PATH");

  CLI::App* write = command("generate", "let a trained model or an external checkpoint write, to the terminal",
                            generate_footer, generate_command);
  write->add_option("run", words->run, "the run folder");
  hf(write);
  write->add_option("--encoding", words->encoding, "another scheme at test, without parameters")->type_name("NAME");
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
  hand_over->add_option("run", words->run, "the run folder")->required();
  hand_over->add_option("--to", words->to, "the folder to make")->type_name("FOLDER");

  return [=] { commands->act("poslab lm"); };
}

}  // namespace poslab
