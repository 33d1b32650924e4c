#include "apps/t5.h"

#include <filesystem>
#include <memory>

#include "apps/commands.h"
#include "apps/finite_loss.h"
#include "apps/kept_test.h"
#include "apps/t5_generate.h"
#include "apps/typed_choices.h"
#include "core/error.h"
#include "core/parallel.h"
#include "experiment/align.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/shell.h"
#include "lab/hub/stored_tensors.h"
#include "lab/runs/output.h"
#include "lab/runs/spelled_file.h"
#include "lab/runs/t5/questions.h"
#include "lab/runs/t5/run.h"

namespace poslab {
namespace {

struct T5Words {
  TypedChoices training;
  std::string run, encoding, temperature, tasks, lengths, samples, file, name, threads;
  std::string hf, task, sizes, questions, positions;  // a checkpoint of others, and what it is asked
};

void use_threads_of(const Choices& c) {
  if (c.whole("threads")) set_threads(c.whole("threads"));
}

void train_to_end(t5::Run& run) {
  t5::train(run);
  const Choices& c = run.state.config;
  const std::string file = run.folder.file("eval.csv");
  const auto all = t5::evaluate(run.state.net, c, "poslab t5 eval " + shell_word(run.folder.path()));
  write_file(file, t5::to_csv(all));
  fmt::print("{}\nall of it is in {}\n", t5::table(all), file);
  must_be_finite(all, true);
}

void t5_train_command(const T5Words& w) {
  const Choices c = t5::configure(of_new_run(w.training.settings()));
  use_threads_of(c);
  catch_signals();
  t5::Run run = t5::create(c);
  train_to_end(run);
}

void t5_resume_command(const T5Words& w) {
  if (!w.threads.empty()) use_threads_of(t5::configure({{"threads", w.threads}}));
  catch_signals();
  t5::Run run = t5::open(w.run);
  const int steps = run.state.config.whole("steps");
  if (run.state.adam.step == steps && std::filesystem::exists(run.folder.file("eval.csv"))) {
    fmt::print("{} is complete: {} steps; `poslab t5 eval {}` tests it again\n", w.run, steps, shell_word(w.run));
    return;
  }
  train_to_end(run);
}

// weights: the model's, or how to find their checksum.
template <class Weights>
T5 changed(T5 net, const T5Words& w, int trained, const Weights& weights) {
  if (!w.encoding.empty())
    net = net.with_encoding(choose_encoding(with_usual_lengths(w.encoding), trained_on(trained)));
  if (w.temperature.empty()) return net;
  const Chosen<TemperaturePolicy> policy = choose_temperature(with_spelled_file("temperature", w.temperature));
  net = net.at_temperature(policy);
  check_aligned(policy, weights);
  return net;
}

// Questions in English, of a checkpoint of others.
void ask_others(const T5Words& w) {
  for (const auto& [option, value] : {std::pair{"--tasks", &w.tasks}, {"--lengths", &w.lengths}})
    if (!value->empty())
      bad_input("{} {} goes with a run; a checkpoint is asked in English: --task and --sizes", option, *value);
  if (!w.name.empty()) bad_input("--name {} goes with a run; of a checkpoint, -o FILE keeps the figures", w.name);
  if (!w.file.empty()) check_output("-o", w.file, {csv_output("task,size,")});
  t5::English e = t5::english(w.task, w.questions);
  if (w.sizes.empty()) bad_input("of which sizes? Say --sizes 10/20/30, in what `poslab explain retrieval` says");
  const Choices c = t5::configure({{"eval_samples", w.samples.empty() ? "16" : w.samples}});
  e.samples = c.whole("eval_samples");
  const Option sizes = Option::wholes("sizes", w.sizes, {1, 1 << 24}, "");
  Choices of_sizes("t5 eval", {sizes});
  of_sizes.set("sizes", w.sizes);
  e.sizes = of_sizes.wholes("sizes");
  t5::check(e);
  t5::HfModel model = t5::open_hf_model(w.hf);
  model.net = changed(model.net, w, model.config.trained_length, [&] { return weights_checksum(map_weights(w.hf)); });
  const std::vector<t5::AtSize> all =
      t5::ask(model, e,
              sampler_for(model.net.spec().encoding, choose_sampler(w.positions.empty() ? "sequential" : w.positions)));
  if (!w.file.empty()) write_file(w.file, t5::to_csv(all));
  fmt::print("{}\n{}", t5::table(all, e.task->size), w.file.empty() ? "" : fmt::format("all of it is in {}\n", w.file));
}

void t5_eval_command(const T5Words& w) {
  if (!w.threads.empty()) use_threads_of(t5::configure({{"threads", w.threads}}));
  catch_signals();
  if (w.run.empty() == w.hf.empty())
    bad_input("poslab t5 eval takes a run, as in `poslab t5 eval runs/t5`, or a checkpoint, --hf FOLDER{}",
              w.run.empty() ? "" : "; not both");
  if (!w.hf.empty()) return ask_others(w);
  for (const auto& [option, value] : {std::pair{"--task", &w.task},
                                      {"--sizes", &w.sizes},
                                      {"--questions", &w.questions},
                                      {"--positions", &w.positions}})
    if (!value->empty())
      bad_input("{} {} goes with --hf; the run {} has --tasks and --lengths, and positions of its own", option, *value,
                w.run);
  const t5::Run run = t5::open(w.run);
  Choices c = run.state.config;
  for (const auto& [option, value] : {std::pair{"tasks", &w.tasks},
                                      {"eval_lengths", &w.lengths},
                                      {"eval_samples", &w.samples}})
    if (!value->empty()) c.set(option, *value);
  if (!w.encoding.empty()) c.set("encoding", with_usual_lengths(w.encoding));  // it may read other positions
  t5::check(c);
  const T5 net = changed(run.state.net, w, c.whole("train_length"), run.state.params);
  t5::check_rows(net, c);
  if (!w.temperature.empty()) c.set("temperature", net.spec().temperature.spelled());
  const KeptTest test(run.folder, run.state.config, c, run.state.adam.step, w.file, w.name);
  const std::vector<t5::AtLength> all = t5::evaluate(net, c, test.again());
  test.keep(t5::to_csv(all), t5::table(all));
  must_be_finite(all, false);
}

const char* t5_train_footer = R"(
Defaults stand in parentheses; the options override the preset. A run folder has config.toml, metrics.jsonl,
checkpoint.safetensors, result.json and eval.csv; `poslab report` draws it. `poslab list retrievals` has the tasks.

Examples:
  poslab t5 train --preset tiny --out runs/t5
  poslab t5 train --preset tiny --tasks passkey/line/documents:documents=20 --encoding alibi --out runs/alibi)";

const char* t5_eval_footer = R"(
Tests at the run's lengths or at --lengths; answers stand evenly from the beginning of the context to its end.
--encoding and --temperature put another one into the trained model, if it learns nothing.

The run's own test is written to its eval.csv. A test at other lengths or of other samples is kept beside it, as
eval-NAME.csv, with its options in eval-NAME.json. One of other tasks, or with another encoding or temperature, is
printed, and kept if --name or -o says where. `poslab report` draws what a run has as lines of their own.

With --hf a checkpoint of the Hugging Face form is asked the same tasks in English, in the published formats: a T5, T5
v1.1 or Flan-T5, a folder with config.json, model.safetensors and spiece.model or tokenizer.json.

Examples:
  poslab t5 eval runs/t5 --lengths 128/1024/4096/15000
  poslab t5 eval runs/t5 --temperature constant:tau=0.8 --name sharper
  poslab t5 eval --hf ~/models/flan-t5-large --task line --sizes 20/200/600
  poslab t5 eval --hf ~/models/flan-t5-large --task documents --sizes 10/20 --questions nq.jsonl)";

}  // namespace

std::function<void()> add_t5(CLI::App* t5) {
  const auto words = std::make_shared<T5Words>();
  const auto commands = std::make_shared<Commands>(t5);
  const auto command = [&](const char* name, const char* summary, const char* footer, void (*action)(const T5Words&)) {
    return commands->add(name, summary, footer, [=] { action(*words); });
  };
  const auto run = [&](CLI::App* c, bool required = true) {
    c->add_option("run", words->run, "the run folder")->required(required);
    add_threads(c, words->threads);
  };

  words->training.add(
      command("train", "train a T5 to find things in long contexts, then test it", t5_train_footer, t5_train_command),
      t5::all_choices());

  run(command("resume", "go on with a run that was stopped, exactly as if it had not been",
              "\nExample:\n  poslab t5 resume runs/t5", t5_resume_command));

  CLI::App* eval = command("eval", "test a run again, also at other lengths or with another encoding", t5_eval_footer,
                           t5_eval_command);
  run(eval, false);
  const auto option = [&](const char* name, std::string& to, const char* help, const char* takes) {
    eval->add_option(name, to, help)->type_name(takes);
  };
  option("--tasks", words->tasks, "other tasks or other options of them (as the run has them)", "NAME");
  option("--encoding", words->encoding, "another scheme at test, without parameters", "NAME");
  option("--temperature", words->temperature, "another factor on the logits of the encoder", "NAME");
  option("--lengths", words->lengths, "tokens of a context (as the run has them)", "128/1024");
  option("--samples", words->samples, "questions for each task and length (as the run has them)", "1 .. 16384");
  option("--hf", words->hf, "a checkpoint of the Hugging Face form in place of a run, asked in English", "FOLDER");
  option("--task", words->task, "with --hf: the task", "passkey | line | topic | documents");
  option("--sizes", words->sizes, "with --hf: lines, topics, documents, or characters of filler", "10/20/30");
  option("--questions", words->questions, "with --hf --task documents: questions of your own, in JSON lines", "FILE");
  option("--positions", words->positions, "with --hf: which positions the encoder's tokens carry (sequential)", "NAME");
  option("--name", words->name, "of a test under other options than the run's (made from these)", "NAME");
  option("-o,--out", words->file, "a CSV file of your own, in place of one in the run", "FILE");

  commands->add("generate", "let a run or a checkpoint of others answer, to the terminal", add_t5_generate);
  commands->add("export", "write a trained T5 in the Hugging Face form", add_t5_export);

  return [=] { commands->act("poslab t5"); };
}

}  // namespace poslab
