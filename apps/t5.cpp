#include <algorithm>
#include <memory>

#include "apps/all_commands.h"
#include "apps/run_commands.h"
#include "core/error.h"
#include "core/platform/parallel.h"
#include "experiment/align.h"
#include "experiment/build.h"
#include "experiment/no_effect.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/progress.h"
#include "lab/hub/stored_tensors.h"
#include "lab/runs/output.h"
#include "lab/runs/room.h"
#include "lab/runs/run.h"
#include "lab/runs/spelled_file.h"
#include "lab/runs/t5/questions.h"
#include "lab/runs/unreached.h"

namespace poslab {
namespace {

struct T5Words {
  EvalWords eval;                                     // of a run
  std::string hf, task, sizes, questions, positions;  // an external checkpoint and its questions
};

// The model with another scheme or temperature. weights: computes the checksum of the model's weights.
template <class Weights>
T5 changed(T5 net, const Settings& asked, int trained, const Weights& weights) {
  for (const auto& [name, value] : asked) {
    if (name == "encoding") {
      net = net.with_encoding(choose_encoding(value, trained_on(trained)));
      refuse_unreached_parts(net.spec().encoding, std::max(net.spec().layers, net.spec().decoder_layers));
    }
    if (name != "temperature") continue;
    const Chosen<TemperaturePolicy> policy = choose_temperature(value, trained_on(trained));
    net = net.at_temperature(policy);
    check_aligned(policy, weights);
  }
  return net;
}

// Questions in English for an external checkpoint.
void ask_external(const T5Words& w) {
  const Settings asked = w.eval.settings();
  const Keep& keep = w.eval.keep;
  Settings own = {{"eval_samples", "16"}};
  for (const auto& [name, value] : asked) {
    if (name == "tasks" || name == "eval_lengths")
      bad_input("{} {} is for runs; a checkpoint is asked in English, with --task and --sizes",
                name == "tasks" ? "--tasks" : "--lengths", value);
    if (name != "encoding" && name != "temperature") own = joined(own, {{name, value}});
  }
  if (!keep.name.empty())
    bad_input("--name {} is for runs; for a checkpoint, -o FILE keeps the figures", keep.name);
  if (!keep.file.empty()) check_output("-o", keep.file, {csv_output("task,size,")});
  t5::English e = t5::english(w.task, w.questions);
  if (w.sizes.empty())
    bad_input("which sizes? Give --sizes 10/20/30, in the unit that `poslab explain retrieval` names");
  const Choices c = t5::configure(own);
  if (c.whole("threads")) set_threads(c.whole("threads"));
  e.samples = c.whole("eval_samples");
  const Option sizes = Option::wholes("sizes", w.sizes, {1, 1 << 24}, "");
  Choices of_sizes("t5 eval", {sizes});
  of_sizes.set("sizes", w.sizes);
  e.sizes = of_sizes.wholes("sizes");
  t5::check(e);
  t5::HfModel model = t5::open_hf_model(w.hf, device(c));
  model.net =
      changed(model.net, asked, model.config.trained_length, [&] { return weights_checksum(map_weights(w.hf)); });
  begin({.what = "asking", .takes = t5::asking_takes(model, e), .with = "--sizes " + w.sizes, .device = device(c)},
        w.eval.force);
  if (const size_t there = e.questions.size(); there && there < size_t(e.samples))
    tell_repeats(w.questions, fmt::format("{} samples of {} question{}", e.samples, there, there == 1 ? "" : "s"),
                 "more questions");
  const MatmulPrecision as_asked = precision(c);
  const std::string positions = w.positions.empty() ? "sequential" : with_spelled_file("positions", w.positions);
  const Chosen<Sampler> drawn =
      sampler_for(model.net.spec().encoding, choose_sampler(positions, trained_on(model.config.trained_length)));
  refuse_unreached_parts(drawn, model.net.spec().layers);
  const std::vector<t5::AtSize> all = t5::ask(model, e, drawn);
  const T5Spec& s = model.net.spec();
  int longest = 0;
  for (const t5::AtSize& one : all) longest = std::max(longest, one.tokens);
  tell_unreached({s.encoding, drawn, longest, s.temperature, std::max(s.layers, s.decoder_layers)});
  if (!keep.file.empty()) write_file(keep.file, t5::to_csv(all));
  fmt::print("{}\n{}", t5::table(all, e.task->size),
             keep.file.empty() ? "" : fmt::format("all of it is in {}\n", keep.file));
}

void t5_eval_command(const T5Words& w) {
  const std::string& run = w.eval.run;
  if (run.empty() == w.hf.empty())
    bad_input("poslab t5 eval takes a run, as in `poslab t5 eval runs/t5`, or a checkpoint, --hf FOLDER{}",
              run.empty() ? "" : "; not both");
  if (!w.hf.empty()) {
    catch_signals();
    return ask_external(w);
  }
  for (const auto& [option, value] : {std::pair{"--task", &w.task},
                                      {"--sizes", &w.sizes},
                                      {"--questions", &w.questions},
                                      {"--positions", &w.positions}})
    if (!value->empty())
      bad_input("{} {} goes with --hf; the run {} has --tasks and --lengths, and positions of its own", option, *value,
                run);
  test(w.eval, t5_kind());
}

}  // namespace

std::function<void()> add_t5(CLI::App* t5) {
  const auto words = std::make_shared<T5Words>();
  const auto commands = std::make_shared<Commands>(t5);
  const Kind& kind = t5_kind();
  add_train(*commands, kind, "train a T5 to find things in long contexts, then test it");
  add_resume(*commands, kind);

  CLI::App* eval = commands->add("eval", "test a run again, also at other lengths or with another encoding",
                                 [=] { t5_eval_command(*words); });
  add_eval_options(eval, kind, words->eval, false);
  const auto option = [&](const char* name, std::string& to, const char* help, const char* takes) {
    eval->add_option(name, to, help)->type_name(takes);
  };
  option("--hf", words->hf, "a checkpoint in Hugging Face format, not a run, for questions in English", "FOLDER");
  option("--task", words->task, "with --hf: the task", "passkey | line | topic | documents");
  option("--sizes", words->sizes, "with --hf: lines, topics, documents, or characters of filler", "10/20/30");
  option("--questions", words->questions, "with --hf --task documents: questions of your own, in JSON lines", "FILE");
  option("--positions", words->positions, "with --hf: which positions the encoder's tokens carry (sequential)", "NAME");

  commands->add("generate", "let a run or an external checkpoint answer, to the terminal", add_t5_generate);
  commands->add("export", "write a trained T5 in Hugging Face format", add_t5_export);

  return [=] { commands->act("poslab t5"); };
}

}  // namespace poslab
