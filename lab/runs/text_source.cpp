#include "lab/runs/text_source.h"

#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "core/checksum.h"
#include "lab/files/corpus.h"
#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/files/printable.h"
#include "lab/files/progress.h"
#include "lab/hub/hf_model.h"
#include "lab/runs/own_files.h"

namespace poslab {
namespace {

using language::Source;

constexpr int64_t read_for_merges = 32 << 20;  // bytes

constexpr const char* token_file_names[] = {"vocabulary.json", "tokenizer.json", "tokenizer.model",
                                            "tokenizer_config.json"};

TextRecord record_of(const Corpus& c, const std::string& vocabulary) {
  TextRecord r{c.path, {}, checksum_of_bytes(vocabulary)};
  for (const TextFile& f : c.text.files) r.files.push_back({f.path, f.bytes, checksum_of(c.text, f)});
  return r;
}

std::string to_json(const TextRecord& r) {
  Json files = Json::array();
  for (const TextRecord::File& f : r.files)
    files.push_back({{"path", f.path}, {"bytes", f.bytes}, {"checksum", f.checksum}});
  Json all = {{"text", r.path}, {"files", files}, {"vocabulary", r.vocabulary}};
  if (!r.begin.empty()) all["begin"] = r.begin;
  if (!r.ends.empty()) all["ends"] = r.ends;
  return all.dump() + "\n";
}

// "a/b.txt has 12 bytes, and had 10", for the first file that differs, or "". Contents are compared last.
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
      return f.path + " has as many bytes, but other ones";
  return "";
}

// Reports test files that are copies of training files: their loss is that of a known text.
void tell_copies(const Corpus& corpus, const TextRecord& all) {
  if (all.files.size() < 2) return;  // one file is split between training and test
  std::set<std::string> of_test;
  for (const TextFile& f : test_text(corpus.text).files) of_test.insert(f.path);
  std::map<std::pair<int64_t, std::string>, std::string> trained;
  for (const TextRecord::File& f : all.files)
    if (!of_test.count(f.path)) trained.emplace(std::pair(f.bytes, f.checksum), f.path);
  size_t copies = 0;
  std::string example;
  for (const TextRecord::File& f : all.files)
    if (const auto same = trained.find({f.bytes, f.checksum}); of_test.count(f.path) && same != trained.end()) {
      ++copies;
      example = fmt::format("{} has the bytes of {}", f.path, same->second);
    }
  if (copies)
    tell(log_of_thread(), "{} of {} files of the test are also in the training text, such as {}: remove such copies\n",
         copies, of_test.size(), example);
}

// Reads a file of a run that belongs to its text.
std::string read_own(const std::string& path) {
  if (!std::filesystem::exists(path)) failure("{} is missing; restore it from a copy, or train again", path);
  return read_file(path);
}

TextSource of_grammar() { return std::make_shared<Source>(Source{.grammar = CopyGrammar{}}); }
// A source without a text, with the tokens in the folder of a run or a checkpoint.
Source with_tokens_of(const std::string& folder, int vocabulary) {
  Source s;
  const std::string own = folder + "/vocabulary.json";
  if (std::filesystem::exists(own)) {
    s.vocabulary = vocabulary_of(read_file(own), own);
  } else {
    s.tokenizer = open_hf_tokenizer(folder, vocabulary), s.prefix = s.tokenizer->prefix();
  }
  if (is_hf_folder(folder)) {
    const HfConfig config = hf_config(read_input(folder + "/config.json"), folder + "/config.json");
    s.begin = config.begin, s.ends = config.ends;
  } else if (std::filesystem::exists(folder + "/text.json")) {
    const TextRecord then = text_of(folder);
    s.begin = then.begin, s.ends = then.ends;
  }
  return s;
}
void read_sides(Source& s, const Corpus& c) { s.training = training_text(c.text), s.test = test_text(c.text); }
std::string with_tokens(const std::string& summary, const TextSource& text) {
  return fmt::format("{}; {} tokens, ", summary, text->tokens());
}

}  // namespace

RunFolder::Files token_files(const std::string& folder) {
  RunFolder::Files all;
  for (const std::string name : token_file_names)
    if (const std::string path = folder + "/" + name; std::filesystem::exists(path))
      all.emplace_back(name, read_file(path));
  return all;
}

NewText new_text(const Choices& c, const std::string& from) {
  if (!c.has("text")) return {};
  const bool letters = c["text"] != "copy_grammar";
  if (!from.empty() && !is_hf_folder(from) && letters == token_files(from).empty())
    bad_input("text = {}: {} was trained on {}, and has other tokens; leave it out, or begin with another model",
              c["text"], from, letters ? "copy_grammar" : "a text");
  if (!is_utf8(c["text"]))  // config.toml and text.json store it
    bad_input("text = {}: this name is not UTF-8, which a run needs; rename it", c["text"]);
  if (c["text"] == "copy_grammar") {
    if (std::error_code error; std::filesystem::exists(c["text"], error))
      tell(log_of_thread(), "the text is the made-up language; --text ./copy_grammar is the file of that name\n");
    const TextSource made_up = of_grammar();
    return {made_up, {}, with_tokens("copy_grammar: made up as it is read", made_up)};
  }
  const Corpus corpus = open_corpus(c["text"].empty() ? compilers_headers() : c["text"]);
  Source s;
  if (!from.empty()) s = with_tokens_of(from, c.whole("vocabulary"));
  if (const int merges = c.whole("merges"); merges && from.empty()) {
    s.vocabulary = Vocabulary::learn(words_of(training_text(corpus.text), read_for_merges), merges);
    if (const size_t found = s.vocabulary.merges().size(); found < size_t(merges))
      tell(log_of_thread(), "merges = {}: no further pair of tokens recurs in the text after {}, so the vocabulary has "
                            "{} tokens\n", merges, found, 256 + found);
  }
  RunFolder::Files files;
  if (!from.empty()) files = token_files(from);
  if (files.empty()) files = {{"vocabulary.json", to_json(s.vocabulary)}};
  TextRecord record = record_of(corpus, files[0].second);
  record.begin = s.begin, record.ends = s.ends;
  tell_copies(corpus, record);
  files.emplace_back("text.json", to_json(record));
  read_sides(s, corpus);
  const TextSource text = std::make_shared<Source>(std::move(s));
  for (const bool of_test : {true, false}) language::check_windows(c, *text, of_test);
  const char* held_out = corpus.text.files.size() == 1 ? "; its last tenth is held out for the test" : "";
  return {text, files, with_tokens(corpus.summary() + held_out, text)};
}

TextSource text_again(const RunFolder& run, const Choices& c) {
  if (!c.has("text")) return {};
  if (c["text"] == "copy_grammar") return of_grammar();
  const TextRecord then = text_of(run.path());
  const RunFolder::Files tokens = token_files(run.path());
  if (tokens.empty()) read_own(run.file("vocabulary.json"));   // throws
  Source source = with_tokens_of(run.path(), c.whole("vocabulary"));
  if (!c["text"].empty() && then.path != c["text"])
    failure("{}/text.json belongs to the text {}, but the run was trained on {}; restore it from a copy", run.path(),
            then.path, c["text"]);
  if (!then.vocabulary.empty() && then.vocabulary != checksum_of_bytes(tokens[0].second))
    failure("{}/{} is not the one that the run was trained with; restore it from a copy", run.path(), tokens[0].first);
  if (std::error_code error; !std::filesystem::exists(then.path, error)) {
    const std::string why = fmt::format(
        "{} was trained on the text {}, and {}", run.path(), then.path,
        std::filesystem::path(then.path).is_relative()
            ? "this path does not exist here; go to the folder where the training was begun, or restore the text there"
            : "it is gone; restore it, or train again");
    source.check_text = [why] { bad_input("{}", why); };
    return std::make_shared<Source>(std::move(source));
  }
  const Corpus corpus = open_corpus(then.path);
  read_sides(source, corpus);
  source.check_text = [corpus, then, path = run.path(), once = std::make_shared<std::once_flag>()] {
    std::call_once(*once, [&] {   // again after an exception
      if (const std::string why = difference(corpus, then); !why.empty())
        bad_input("{} is not the text with which {} began ({} files, {} bytes): {}; restore it, or train again",
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

std::string TextRecord::checksum() const {
  std::string all;
  for (const File& f : files) all += fmt::format("{}\n{} {}\n", f.path, f.bytes, f.checksum);
  return checksum_of_bytes(all);
}

std::string checksum_of_text(const std::string& path) {
  return record_of(open_corpus(path.empty() ? compilers_headers() : path), "").checksum();
}

TextRecord text_of(const std::string& folder) {
  const std::string path = folder + "/text.json";
  const auto damaged = [&] { failure("{} is damaged; restore it from a copy, or train again", path); };
  const Json at = try_json(read_own(path));
  if (!at.is_object() || !at.value("text", Json()).is_string() || !at.value("files", Json()).is_array()) damaged();
  const Json vocabulary = at.value("vocabulary", Json());
  TextRecord r{at["text"], {}, vocabulary.is_string() ? vocabulary.get<std::string>() : ""};
  for (const auto& [key, tokens] : {std::pair{"begin", &r.begin}, {"ends", &r.ends}})
    for (const Json& token : at.value(key, Json::array())) {
      const auto number = whole_number(token, INT32_MAX);
      if (!number) damaged();
      tokens->push_back(int(*number));
    }
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
