#include "lab/runs/text_source.h"

#include <filesystem>

#include "lab/files/corpus.h"
#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/files/printable.h"

namespace poslab {
namespace {

using language::Source;

constexpr int64_t read_for_merges = 32 << 20;  // bytes

// What tells one text from another, without reading it.
std::string described(const Corpus& c) {
  std::string listing;
  for (const TextFile& f : c.text.files) listing += fmt::format("{} {}\n", f.path, f.bytes);
  return nlohmann::ordered_json{{"text", c.path},
                                {"files", c.text.files.size()},
                                {"bytes", c.text.bytes()},
                                {"listing", fmt::format("{:016x}", hash_of(listing))}}
             .dump() +
         "\n";
}

TextSource of_grammar() { return std::make_shared<Source>(Source{.grammar = CopyGrammar{}}); }
TextSource of_corpus(const Corpus& c, Vocabulary v) {
  return std::make_shared<Source>(
      Source{.vocabulary = std::move(v), .training = training_text(c.text), .test = test_text(c.text)});
}
std::string with_tokens(const std::string& summary, const TextSource& text) {
  return fmt::format("{}; {} tokens, ", summary, text->tokens());
}

}  // namespace

NewText new_text(const Choices& c) {
  if (!c.has("text")) return {};
  if (!is_utf8(c["text"]))  // config.toml and text.json keep it
    bad_input("text = {}: this name is no UTF-8, and a run keeps no other; rename it", c["text"]);
  if (c["text"] == "copy_grammar") {
    const TextSource made_up = of_grammar();
    return {made_up, {}, with_tokens("copy_grammar: made up as it is read", made_up)};
  }
  const Corpus corpus = open_corpus(c["text"].empty() ? compilers_headers() : c["text"]);
  Vocabulary v;
  if (const int merges = c.whole("merges"))
    v = Vocabulary::learn(words_of(training_text(corpus.text), read_for_merges), merges);
  const RunFolder::Files files = {{"vocabulary.json", to_json(v)}, {"text.json", described(corpus)}};
  const TextSource text = of_corpus(corpus, std::move(v));
  Rng rng(stream(0, Purpose::tokens, 0));  // windows of every length can be drawn, or it is said now
  for (const int length : language::eval_lengths(c)) text->window(true, length + 1, rng);
  text->window(false, c.whole("train_length") + 1, rng);
  const char* held_out = corpus.text.files.size() == 1 ? "; its last tenth is held out for the test" : "";
  return {text, files, with_tokens(corpus.summary() + held_out, text)};
}

TextSource text_again(const RunFolder& run, const Choices& c) {
  if (!c.has("text")) return {};
  if (c["text"] == "copy_grammar") return of_grammar();
  const TextRecord then = text_of(run.path());
  Vocabulary v = vocabulary_of(read_file(run.file("vocabulary.json")), run.file("vocabulary.json"));
  const auto gone = [&](std::string why) {
    return std::make_shared<Source>(Source{.vocabulary = std::move(v), .gone = std::move(why)});
  };
  if (std::error_code error; !std::filesystem::exists(then.path, error))
    return gone(fmt::format(
        "{} was trained on the text {}, and {}", run.path(), then.path,
        std::filesystem::path(then.path).is_relative()
            ? "from here there is none; go to the folder in which the training was begun, or restore the text there"
            : "there is none any more; restore it, or train anew"));
  const Corpus corpus = open_corpus(then.path);
  if (described(corpus) != read_file(run.file("text.json")))
    return gone(fmt::format("{} is not the text that {} was begun with ({} files, {} bytes): restore it, or train anew",
                            corpus.path, run.path(), then.files, then.bytes));
  return of_corpus(corpus, std::move(v));
}

TextRecord text_of(const std::string& folder) {
  const std::string path = folder + "/text.json";
  const Json at = try_json(read_file(path));
  if (!at.is_object() || !at.value("text", Json()).is_string())
    failure("{} is damaged; restore it from a copy, or train again", path);
  return {at["text"], at.value("files", size_t(0)), at.value("bytes", int64_t(0))};
}

}  // namespace poslab
