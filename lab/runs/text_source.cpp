#include "lab/runs/text_source.h"

#include <filesystem>
#include <map>
#include <mutex>

#include "lab/files/corpus.h"
#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/files/printable.h"

namespace poslab {
namespace {

using language::Source;

constexpr int64_t read_for_merges = 32 << 20;  // bytes

TextRecord record_of(const Corpus& c) {
  TextRecord r{c.path, {}};
  for (const TextFile& f : c.text.files) r.files.push_back({f.path, f.bytes, checksum_of(c.text, f)});
  return r;
}

std::string to_json(const TextRecord& r) {
  Json files = Json::array();
  for (const TextRecord::File& f : r.files)
    files.push_back({{"path", f.path}, {"bytes", f.bytes}, {"checksum", f.checksum}});
  return Json{{"text", r.path}, {"files", files}}.dump() + "\n";
}

// "a/b.txt has 12 bytes, and had 10", of the first file that differs; "" if none does. Contents are read last.
std::string difference(const Corpus& now, const TextRecord& then) {
  std::map<std::string, const TextRecord::File*> known;
  for (const TextRecord::File& f : then.files) known[f.path] = &f;
  for (const TextFile& f : now.text.files) {
    const auto at = known.find(f.path);
    if (at == known.end()) return f.path + " is new";
    if (f.bytes != at->second->bytes)
      return fmt::format("{} has {} bytes, and had {}", f.path, f.bytes, at->second->bytes);
    known.erase(at);
  }
  if (!known.empty()) return known.begin()->first + " is missing";
  for (size_t n = 0; n < now.text.files.size(); ++n)
    if (const TextFile& f = now.text.files[n]; checksum_of(now.text, f) != then.files[n].checksum)
      return f.path + " has other bytes, though as many";
  return "";
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
  const RunFolder::Files files = {{"vocabulary.json", to_json(v)}, {"text.json", to_json(record_of(corpus))}};
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
  if (std::error_code error; !std::filesystem::exists(then.path, error)) {
    const std::string why = fmt::format(
        "{} was trained on the text {}, and {}", run.path(), then.path,
        std::filesystem::path(then.path).is_relative()
            ? "from here there is none; go to the folder in which the training was begun, or restore the text there"
            : "there is none any more; restore it, or train anew");
    return std::make_shared<Source>(
        Source{.vocabulary = std::move(v), .must_be_the_same = [why] { bad_input("{}", why); }});
  }
  const Corpus corpus = open_corpus(then.path);
  Source source = *of_corpus(corpus, std::move(v));
  source.must_be_the_same = [corpus, then, path = run.path(), once = std::make_shared<std::once_flag>()] {
    std::call_once(*once, [&] {   // again after it has thrown
      if (const std::string why = difference(corpus, then); !why.empty())
        bad_input("{} is not the text that {} was begun with ({} files, {} bytes): {}; restore it, or train anew",
                  corpus.path, path, then.files.size(), then.bytes(), why);
    });
  };
  return std::make_shared<Source>(std::move(source));
}

int64_t TextRecord::bytes() const {
  int64_t all = 0;
  for (const File& f : files) all += f.bytes;
  return all;
}

TextRecord text_of(const std::string& folder) {
  const std::string path = folder + "/text.json";
  const auto damaged = [&] { failure("{} is damaged; restore it from a copy, or train again", path); };
  const Json at = try_json(read_file(path));
  if (!at.is_object() || !at.value("text", Json()).is_string() || !at.value("files", Json()).is_array()) damaged();
  TextRecord r{at["text"], {}};
  for (const Json& f : at["files"]) {
    const auto text = [&](const char* key) {
      if (!f.is_object() || !f.value(key, Json()).is_string()) damaged();
      return f[key].get<std::string>();
    };
    const std::string name = text("path"), checksum = text("checksum");
    const auto bytes = whole_number(f.value("bytes", Json()), INT64_MAX);
    if (!bytes) damaged();
    r.files.push_back({name, int64_t(*bytes), checksum});
  }
  return r;
}

}  // namespace poslab
