#include <algorithm>
#include <memory>
#include <optional>

#include "apps/all_commands.h"
#include "apps/number_option.h"
#include "core/error.h"
#include "core/stop.h"
#include "experiment/align.h"
#include "experiment/build.h"
#include "experiment/no_effect.h"
#include "experiment/t5/learner.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/progress.h"
#include "lab/hub/stored_tensors.h"
#include "lab/hub/t5_export.h"
#include "lab/hub/t5_hf.h"
#include "lab/runs/room.h"
#include "lab/runs/run.h"
#include "lab/runs/spelled_file.h"
#include "lab/runs/unreached.h"
#include "tasks/retrieval/symbols.h"

namespace poslab {
namespace {

struct AnswerWords {
  std::string run, hf, file, encoding, temperature, early_stopping, matmul, device, threads;
  std::optional<std::string> prompt;  // absent: not typed
  std::optional<int> beams;           // absent: the model's
  std::optional<double> length_penalty;
  int count = 64;
  bool force = false;
};

// A run or an external checkpoint, with its input and output.
struct Writer {
  T5 net;
  T5Generation how{};
  std::function<std::vector<int>(const std::string&)> read;
  std::function<std::string(const std::vector<int>&)> written;
  std::function<void(const Chosen<TemperaturePolicy>&)> suits;  // throws BadInput if made for other weights
  int trained;                                                  // the length, in tokens
  Choices config = t5::configure({});                           // for a run: matmul and products
};

// encoding: replaces the run's; it may read positions in another form.
Writer writer_of_run(const std::string& folder, const std::string& encoding, const std::string& device) {
  t5::State state = open_as<t5::QuestionLearner>(t5_kind(), folder, device).learner->state;
  if (!encoding.empty()) state.config.set("encoding", with_spelled_file("encoding", encoding));
  const std::vector<int> ends = {symbols::end};
  return {state.net,
          {.ends = ends, .positions = sampler(state.config)},
          symbols::read,
          symbols::written,
          [params = state.params](const auto& policy) { check_aligned(policy, params); },
          state.config.whole("train_length"),
          state.config};
}

Writer writer_of_checkpoint(const std::string& folder, const Choices& c) {
  const auto model = std::make_shared<const t5::HfModel>(t5::open_hf_model(folder, device(c)));
  const auto tokenizer = t5::open_hf_tokenizer(*model);
  if (const std::string& line = model->config.passed_over; !line.empty()) tell(stderr, "{}\n", line);
  return {model->net,
          model->config.writing,
          [=](const std::string& text) { return t5::tokens_of(*model, *tokenizer, text); },
          [=](const std::vector<int>& tokens) { return t5::text_of(model->config.spec, *tokenizer, tokens); },
          [=](const auto& policy) { check_aligned(policy, [&] { return weights_checksum(map_weights(folder)); }); },
          model->config.trained_length,
          c};
}

T5Generation generation(const AnswerWords& words, T5Generation how) {
  how.count = words.count, how.beams = words.beams.value_or(how.beams);
  how.length_penalty = words.length_penalty.value_or(how.length_penalty);
  const std::string& stop = words.early_stopping;
  if (!stop.empty() && stop != "off" && stop != "on" && stop != "never")
    bad_input("--early-stopping {}; give off, on or never", stop);
  if (!stop.empty())
    how.early_stopping = stop == "on" ? EarlyStopping::on : stop == "off" ? EarlyStopping::off : EarlyStopping::never;
  how.check();
  return how;
}

std::string prompt_of(const AnswerWords& words) {
  if (words.prompt.has_value() != words.file.empty())
    bad_input("poslab t5 generate reads --prompt TEXT or --file FILE{}", words.prompt ? "; not both" : "");
  return words.file.empty() ? *words.prompt : read_input(words.file);
}

void generate_answer(const AnswerWords& words) {
  if (words.run.empty() == words.hf.empty())
    bad_input("poslab t5 generate takes a run, as in `poslab t5 generate runs/t5`, or a checkpoint, --hf FOLDER{}",
              words.run.empty() ? "" : "; not both");
  use_threads(words.threads);
  catch_signals();
  const std::string prompt = prompt_of(words);
  generation(words, {});  // before anything is opened
  Choices of_checkpoint = t5::configure({});
  if (!words.device.empty()) of_checkpoint.set("device", words.device);
  Writer writer = words.hf.empty() ? writer_of_run(words.run, words.encoding, words.device)
                                   : writer_of_checkpoint(words.hf, of_checkpoint);
  if (!words.matmul.empty()) writer.config.set("matmul", words.matmul);
  const T5Generation how = generation(words, writer.how);
  refuse_without_beams(how.beams, words.length_penalty,
                       words.early_stopping.empty() ? std::nullopt : std::optional(how.early_stopping), dashed);
  const RunValues trained = trained_on(writer.trained);
  if (const std::string text = with_spelled_file("encoding", words.encoding); !text.empty()) {
    writer.net = writer.net.with_encoding(choose_encoding(text, trained));
    const T5Spec& s = writer.net.spec();
    refuse_unreached_parts(s.encoding, std::max(s.layers, s.decoder_layers));
  }
  if (!words.temperature.empty()) {
    const auto policy = choose_temperature(with_spelled_file("temperature", words.temperature), trained);
    writer.net = writer.net.at_temperature(policy);
    writer.suits(policy);
  }
  const std::vector<int> tokens = writer.read(prompt);
  if (tokens.empty()) bad_input("the prompt is empty; give the model a text to read");
  if (!words.encoding.empty() || !words.temperature.empty()) {
    const T5Spec& s = writer.net.spec();
    tell_unreached({s.encoding, how.positions, std::max(int(tokens.size()), how.count), s.temperature,
                    std::max(s.layers, s.decoder_layers)});
  }
  begin({.what = "answering",
         .takes = t5::answer_takes(writer.net.spec(), double(tokens.size()), how.count, how.beams),
         .with = fmt::format("a prompt of {} tokens, --beams {}", tokens.size(), how.beams),
         .device = device(writer.config)},
        words.force);
  try {
    const MatmulPrecision as_the_run = precision(writer.config);
    fmt::print("{}\n", writer.written(answer(writer.net, tokens, how)));
  } catch (const Stopped&) { throw Interrupted(caught_signal(), "stopped writing"); }
}

}  // namespace

std::function<void()> add_t5_generate(CLI::App* c) {
  const auto words = std::make_shared<AnswerWords>();
  c->add_option("run", words->run, "the run folder");
  c->add_option("--hf", words->hf, "a checkpoint in Hugging Face format, not a run")->type_name("FOLDER");
  c->add_option("--prompt", words->prompt, "a text for the model")->type_name("TEXT");
  c->add_option("--file", words->file, "a file with the text")->type_name("FILE");
  add_number(c, "count", words->count, "new tokens, at most (64)", {1, 1000000});
  add_number(c, "beams", words->beams, "beams of the search; 1: the most probable token (1, or as --hf has it)",
             {1, 1024});
  add_number(c, "length-penalty", words->length_penalty,
             "above 0 favours long answers, below 0 short ones (1, or as --hf has it)", {-1000, 1000});
  c->add_option("--early-stopping", words->early_stopping, "when the search ends (off, or as --hf has it)")
      ->type_name("off | on | never");
  c->add_option("--encoding", words->encoding, "one without parameters, instead of the model's")->type_name("NAME");
  c->add_option("--temperature", words->temperature, "replaces the encoder's temperature")->type_name("NAME");
  add_matmul(c, words->matmul);
  add_device(c, words->device);
  add_threads(c, words->threads);
  add_force(c, words->force);
  return [=] { generate_answer(*words); };
}

std::function<void()> add_t5_export(CLI::App* c) {
  const auto run = std::make_shared<std::string>(), to = std::make_shared<std::string>();
  c->add_option("run", *run, "the run folder")->required();
  c->add_option("--to,-o,--out", *to, "the folder to make")->type_name("FOLDER");
  return [=] {
    if (to->empty()) bad_input("to which folder? Give --to FOLDER");
    const t5::State trained = open_as<t5::QuestionLearner>(t5_kind(), *run, "cpu").learner->state;
    t5::export_hf(trained.net, trained.params, {symbols::end}, *to);
    fmt::print("{} has config.json and model.safetensors: AutoModelForSeq2SeqLM.from_pretrained(\"{}\") reads it\n",
               *to, *to);
  };
}

}  // namespace poslab
