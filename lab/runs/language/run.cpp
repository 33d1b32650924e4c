#include "lab/runs/language/run.h"

#include <algorithm>

#include "core/stop.h"
#include "lab/files/corpus.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/json.h"
#include "lab/files/progress.h"
#include "lab/files/shell.h"
#include "lab/runs/checkpoint.h"
#include "lab/runs/choice_training.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/unreached.h"

namespace poslab::language {
namespace {

using json = nlohmann::ordered_json;

constexpr int64_t read_for_merges = 32 << 20;  // bytes

std::string checkpoint(const State& s) {
  return checkpoint_bytes(s.config, s.params, s.adam);
}

// What tells one text from another, without reading it.
std::string described(const Corpus& c) {
  std::string listing;
  for (const TextFile& f : c.text.files) listing += fmt::format("{} {}\n", f.path, f.bytes);
  return json{{"text", c.path},
              {"files", c.text.files.size()},
              {"bytes", c.text.bytes()},
              {"listing", fmt::format("{:016x}", hash_of(listing))}}
             .dump() +
         "\n";
}

struct Read {
  Source source;
  RunFolder::Files files;  // for the run folder
  std::string summary;     // of the text
};
Source of_grammar() { return {.grammar = CopyGrammar{}}; }
Source of_text(const Corpus& c, Vocabulary v) {
  return {.vocabulary = std::move(v), .training = training_text(c.text), .test = test_text(c.text)};
}

Read read_new(const Choices& c) {
  if (c["text"] == "copy_grammar") return {of_grammar(), {}, "copy_grammar: made up as it is read"};
  const Corpus corpus = open_corpus(c["text"].empty() ? compilers_headers() : c["text"]);
  Vocabulary v;
  if (const int merges = c.whole("merges"))
    v = Vocabulary::learn(words_of(training_text(corpus.text), read_for_merges), merges);
  const RunFolder::Files files = {{"vocabulary.json", to_json(v)}, {"text.json", described(corpus)}};
  const char* held_out = corpus.text.files.size() == 1 ? "; its last tenth is held out for the test" : "";
  Read all{of_text(corpus, std::move(v)), files, corpus.summary() + held_out};
  Rng rng(stream(0, Purpose::tokens, 0));  // windows of every length can be drawn, or it is said now
  for (const int length : eval_lengths(c)) all.source.window(true, length + 1, rng);
  all.source.window(false, c.whole("train_length") + 1, rng);
  return all;
}

Source read_again(const RunFolder& run, const Choices& c) {
  if (c["text"] == "copy_grammar") return of_grammar();
  const ReadText then = text_of(run.path());
  const Corpus corpus = open_corpus(then.path);
  if (described(corpus) != read_file(run.file("text.json")))
    bad_input("{} is not the text that {} was begun with ({} files, {} bytes): restore it, or train anew", corpus.path,
              run.path(), then.files, then.bytes);
  return of_text(corpus, vocabulary_of(read_file(run.file("vocabulary.json")), run.file("vocabulary.json")));
}

}  // namespace

ReadText text_of(const std::string& folder) {
  const std::string path = folder + "/text.json";
  const json at = try_json(read_file(path));
  if (!at.is_object() || !at.value("text", json()).is_string())
    failure("{} is damaged; restore it from a copy, or train again", path);
  return {at["text"], at.value("files", size_t(0)), at.value("bytes", int64_t(0))};
}

Run create(const Choices& c) {
  language::check(c);
  RunFolder::check_free(c["out"]);
  Read read = read_new(c);
  const std::vector<int> lengths = eval_lengths(c);
  tell_unreached(scheme(c), sampler(c),
                 std::max(c.whole("train_length"), *std::max_element(lengths.begin(), lengths.end())));
  State state(c, read.source.tokens());
  stop_if_wanted();
  RunFolder::Files files = {{"config.toml", to_toml(c)}, {"checkpoint.safetensors", checkpoint(state)}};
  files.insert(files.end(), read.files.begin(), read.files.end());
  const RunFolder folder = RunFolder::create(c["out"], files);
  fmt::print(stderr, "{}; {} tokens, {} parameters\n", read.summary, read.source.tokens(), state.params.count());
  return {folder, std::move(read.source), std::move(state)};
}

Run open(const std::string& folder) {
  const RunFolder run = RunFolder::open(folder);
  const Checkpoint checkpoint(read_file(run.checkpoint()), run.checkpoint(), language_kind());
  const Choices c = read_config(language_kind(), run, checkpoint);
  Source source = read_again(run, c);
  State state(c, source.tokens());
  checkpoint.read_into(state.params, state.adam);
  return {run, std::move(source), std::move(state)};
}

void train(Run& run) {
  State& s = run.state;
  const auto train_on = [&](const Batch& batch) {
    const Step step = train_step(s, batch);
    return ScoredStep{step.loss, step.accuracy, step.grad_norm, double(batch.expected.size())};
  };
  ChoiceTrainee<State, Batch> trainee(s, {[&](int64_t step) { return draw_batch(s.config, run.source, step); },
                                          train_on, [&] { return checkpoint(s); }});
  poslab::train(language_kind(), run.folder, s.config, s.params, s.adam, trainee);
}

std::vector<AtLength> evaluate(const Run& run) {
  return evaluate(run.state.net, run.state.config, run.source, "poslab lm eval " + shell_word(run.folder.path()));
}

std::vector<AtLength> evaluate(const Decoder& net, const Choices& config, const Source& source,
                               const std::string& again) {
  const std::vector<int> lengths = eval_lengths(config);
  const int64_t samples = config.whole("eval_samples");
  int64_t all = 0, done = 0;  // tokens
  for (const int length : lengths) all += 2 * samples * length;
  Progress progress("testing", "tokens", 0, all);
  std::vector<AtLength> list;
  try {
    for (const bool repeated : {false, true})
      for (const int length : lengths) {
        list.push_back(evaluate(net, config, source, length, repeated));
        progress.at(done += samples * length, fmt::format("length {}", length));
        stop_if_wanted();
      }
  } catch (const Stopped&) {
    throw Interrupted(caught_signal(), fmt::format("stopped in the test; `{}` does it again", again));
  }
  return list;
}

std::string table(const std::vector<AtLength>& all) {
  std::string text = "  length   accuracy     loss   bits a byte     repeated: accuracy     loss\n";
  for (const AtLength& plain : all) {
    if (plain.repeated) continue;
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const AtLength& a) { return a.repeated && a.length == plain.length; });
    text += fmt::format("{:8} {:8.1f} % {:8.4f} {:13.4f}", plain.length, 100 * plain.accuracy, plain.loss,
                        plain.bits_per_byte);
    if (same != all.end()) text += fmt::format(" {:20.1f} % {:8.4f}", 100 * same->accuracy, same->loss);
    text += "\n";
  }
  return text;
}

}  // namespace poslab::language
