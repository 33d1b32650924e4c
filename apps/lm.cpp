#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <tuple>

#include "apps/all_commands.h"
#include "apps/number_option.h"
#include "apps/run_commands.h"
#include "core/error.h"
#include "experiment/build.h"
#include "experiment/language/learner.h"
#include "experiment/no_effect.h"
#include "lab/files/interrupt.h"
#include "lab/files/progress.h"
#include "lab/files/shell.h"
#include "lab/hub/hf_export.h"
#include "lab/hub/hf_run.h"
#include "lab/runs/room.h"
#include "lab/runs/spelled_file.h"
#include "lab/runs/unreached.h"
#include "nn/generate.h"

namespace poslab {
namespace {

struct LmWords {
  std::string run, encoding, matmul, device, threads;  // for generate and export
  std::string hf, positions, length;                   // an external checkpoint and its options
  std::string to;                                      // where to export
  std::optional<std::string> prompt;
  int count = 300;
  bool force = false;
  std::optional<double> sampling_temperature, top_p;  // options for drawing tokens; absent: the model's
  std::optional<int> top_k;
  std::optional<uint64_t> seed;
};

using LmRun = RunOf<language::TextLearner>;
LmRun open_lm(const std::string& folder, const std::string& device = "cpu") {
  return open_as<language::TextLearner>(language_kind(), folder, device);
}

// A model's text may contain control bytes, which a terminal would obey: question marks replace them.
std::string shown(std::string text) {
  if (isatty(STDOUT_FILENO))
    for (char& c : text)
      if ((static_cast<unsigned char>(c) < 32 && c != '\n' && c != '\t') || c == 127) c = '?';
  return text;
}

// The writing model: an external checkpoint, or a run with another scheme or temperature.
language::HfRun writer(const LmWords& w) {
  Settings asked;
  if (!w.encoding.empty()) asked.emplace_back("encoding", with_spelled_file("encoding", w.encoding));
  if (!w.matmul.empty()) asked.emplace_back("matmul", w.matmul);
  const bool checkpoint = external(w.run, w.hf, "generate");
  for (const auto& [name, option, value] :
       {std::tuple{"positions", "--positions", &w.positions}, {"train_length", "--length", &w.length}}) {
    if (value->empty()) continue;
    if (!checkpoint) bad_input("{} {} goes with --hf; the run {} has its own", option, *value, w.run);
    asked.emplace_back(name, with_spelled_file(name, *value));
  }
  if (checkpoint) {
    if (!w.device.empty()) asked.emplace_back("device", w.device);
    if (!w.length.empty() && w.encoding.empty() && w.positions.empty())
      bad_input(
          "--length {} changes nothing: the model's own encoding and counted positions depend on no trained length; "
          "give --encoding or --positions, too, or leave it out",
          w.length);
    language::HfRun run = language::open_hf_run(w.hf, asked, false);
    refuse_without_effect(run.config, asked);
    return run;
  }
  const LmRun run = open_lm(w.run, w.device);
  const language::State& state = run.learner->state;
  const RunSpec c = state.config.with(asked);
  refuse_without_effect(c, asked);
  return {c, *run.learner->source, language::tested_net(state.net, state.params, state.config, c)};
}

// How tokens are drawn: by the user's options, then the model's.
TokenChoice choice_of(const LmWords& w, TokenChoice c) {
  c.temperature = w.sampling_temperature.value_or(c.temperature);
  c.top_k = w.top_k.value_or(c.top_k), c.top_p = w.top_p.value_or(c.top_p);
  c.check();
  return c;
}

void generate_command(const LmWords& w) {
  use_threads(w.threads);
  catch_signals();
  choice_of(w, {});  // before anything is opened
  const language::HfRun of = writer(w);
  refuse_without_draws(choice_of(w, of.choice), w.top_k, w.top_p, w.seed, dashed);
  if (of.source.grammar && w.prompt)
    bad_input(
        "--prompt {} changes nothing: copy_grammar has no letters, and its texts begin by themselves; leave it "
        "out",
        shell_word(*w.prompt));
  const std::string typed = w.prompt.value_or("#include <");
  const std::vector<int> prompt = of.source.prompt(typed);
  const Generation wanted{w.count, choice_of(w, of.choice), w.seed.value_or(0), test_sampler(of.config),
                          of.source.written()};
  const MatmulPrecision as_the_run = precision(of.config);
  begin({.what = "writing",
         .takes = language::writing_takes(of.net.spec(), double(prompt.size()), w.count),
         .with = fmt::format("--count {}", w.count),
         .device = device(of.config)},
        w.force);
  if (!w.encoding.empty() || !w.positions.empty())
    tell_unreached({of.net.spec().encoding, wanted.positions, int(prompt.size()) + w.count, of.net.spec().temperature,
                    of.net.spec().layers});
  if (!of.passed_over.empty()) tell(stderr, "{}\n", of.passed_over);
  check_generation(of.net, prompt, wanted);  // before the first token
  fmt::print("{}", shown(of.source.grammar ? of.source.text(prompt.back()) : typed));
  generate(of.net, prompt, wanted, [&](int token) {
    if (std::count(of.source.ends.begin(), of.source.ends.end(), token)) return false;
    fmt::print("{}", shown(of.source.text(token)));
    std::fflush(stdout);
    return caught_signal() == 0;
  });
  fmt::print("\n");
  if (const int signal = caught_signal()) throw Interrupted(signal, "stopped writing");
}

void export_command(const LmWords& w) {
  if (w.to.empty()) bad_input("to which folder? Give --to FOLDER");
  const LmRun run = open_lm(w.run);
  language::export_hf(run.learner->state, *run.learner->source, w.to, token_files(run.folder.path()));
  fmt::print("{} has {}config.json and model.safetensors: AutoModelForCausalLM.from_pretrained(\"{}\") reads it\n",
             w.to, run.learner->source->grammar ? "" : "tokenizer.json, ", w.to);
}

}  // namespace

std::function<void()> add_lm(CLI::App* lm) {
  const auto words = std::make_shared<LmWords>();
  const auto commands = std::make_shared<Commands>(lm);
  const auto command = [&](const char* name, const char* summary, void (*action)(const LmWords&)) {
    return commands->add(name, summary, [=] { action(*words); });
  };
  const Kind& kind = language_kind();
  add_train(*commands, kind, "train a language model into a new run folder, then test it");
  add_resume(*commands, kind);

  add_lm_eval(*commands);

  CLI::App* write =
      command("generate", "let a trained model or an external checkpoint write text to the terminal", generate_command);
  write->add_option("run", words->run, "the run folder");
  write->add_option("--hf", words->hf, "a checkpoint in Hugging Face format, not a run")->type_name("FOLDER");
  write->add_option("--positions", words->positions, "with --hf: which positions the tokens carry (sequential)")
      ->type_name("NAME");
  write->add_option("--length", words->length, "with --hf: the trained length (max_position_embeddings)")
      ->type_name("2 .. 1048576");
  write->add_option("--encoding", words->encoding, "one without parameters, instead of the model's")->type_name("NAME");
  write->add_option("--prompt", words->prompt, "how the text begins; with --hf also '' ('#include <')")
      ->type_name("TEXT");
  add_number(write, "count", words->count, "new tokens (300)", {1, 1000000});
  add_number(write, "temperature", words->sampling_temperature,
             "0: always the most probable token (0.8, or as --hf has it)", {0, 1e6});
  add_number(write, "top-k", words->top_k, "only the K most probable tokens; 0: all (0, or as --hf has it)",
             {0, 1 << 30});
  add_number(write, "top-p", words->top_p,
             "only the most probable tokens that make up this share, above 0 (1, or as --hf has it)", {0, 1});
  add_number(write, "seed", words->seed, "the same seed writes the same text (0)", {0, 999999999999999});
  add_matmul(write, words->matmul);
  add_device(write, words->device);
  add_threads(write, words->threads);
  add_force(write, words->force);

  CLI::App* hand_over = command("export", "write a trained model in Hugging Face format", export_command);
  hand_over->add_option("run", words->run, "the run folder")->required();
  hand_over->add_option("--to,-o,--out", words->to, "the folder to make")->type_name("FOLDER");

  return [=] { commands->act("poslab lm"); };
}

}  // namespace poslab
