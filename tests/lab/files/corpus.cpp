// Text on disk: which files count, how little of a corpus is held in memory, and the vocabulary file.
#include <sys/resource.h>

#include <fstream>

#include "core/error.h"
#include "lab/files/corpus.h"
#include "lab/runs/checkpoint.h"
#include "lab/runs/config_toml.h"
#include "tests/lab/helpers.h"
#include "tests/lab/learners.h"

using namespace poslab;
using namespace poslab::test;
namespace fs = std::filesystem;

namespace {

void write(const std::string& path, const std::string& bytes) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

std::vector<std::string> names(const Corpus& c) {
  std::vector<std::string> all;
  for (const TextFile& f : c.text.files) all.push_back(f.path);
  return all;
}

double peak_megabytes() {
  rusage now{};
  getrusage(RUSAGE_SELF, &now);
  return double(now.ru_maxrss) / 1024;
}

}  // namespace

TEST_CASE("a corpus has all text of a folder, in order, and lists what it left out") {
  const TemporaryFolder folder;
  write(folder / "b.txt", "beta");
  write(folder / "a/z.txt", "zeta");
  write(folder / "a/b/latin1.txt", "caf\xE9 \xFF\xFE");
  write(folder / "picture.png", std::string("\x89PNG\r\n\x1A\n\0\0", 10));
  write(folder / "empty.txt", "");
  write(folder / ".git/config", "hidden");
  write(folder / ".profile", "hidden");
  fs::create_symlink(folder / "b.txt", folder / "link.txt");
  fs::create_directory_symlink(folder.path, folder / "round");
  const TemporaryFolder elsewhere;
  write(elsewhere / "c.txt", "gamma");
  fs::create_directory_symlink(folder / "a", elsewhere / "back");
  fs::create_directory_symlink(elsewhere.path, folder / "a/other");
  fs::create_symlink(folder / "gone", folder / "nowhere");
  const Corpus c = open_corpus(folder.path);
  CHECK(names(c) == std::vector<std::string>{"a/b/latin1.txt", "a/other/c.txt", "a/z.txt", "b.txt", "link.txt"});
  CHECK(c.passed_over == std::vector<std::string>{"a/other/back: it links to a folder that is already read",
                                                  "empty.txt: it is empty",
                                                  "nowhere: it cannot be read: No such file or directory",
                                                  "picture.png: it has a zero byte at 8, so it is not text",
                                                  "round: it links to a folder that is already read"});
  CHECK(c.summary() == folder.path + ": 5 files, 2.4e-05 MB, 5 skipped");
  // bytes that are not UTF-8 are read unchanged
  CHECK(c.text.read(c.text.files[0], 3, 4) == "\xE9 \xFF\xFE");
  const std::string bytes = "caf\xE9 \xFF\xFE";
  CHECK(Vocabulary().decode(Vocabulary().encode(bytes)) == bytes);
  // a single file
  const Corpus one = open_corpus(folder / "b.txt");
  CHECK(names(one) == std::vector<std::string>{"b.txt"});
  CHECK(one.text.read(one.text.files[0], 1, 3) == "eta");
}

TEST_CASE("a text that cannot be used is refused in one line") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& name) { return refusal([&] { open_corpus(name); }); };
  CHECK(refused(folder / "none") ==
        "2: there is no file or folder " + (folder / "none") + "; name one that exists");
  CHECK(refused("") == "2: no text is given; name a file or a folder");
  CHECK(refused(folder.path) == "2: the folder " + folder.path + " has no files; name one with text");
  write(folder / "program", std::string("\x7F"
                                        "ELF\0",
                                        5));
  CHECK(refused(folder / "program") ==
        "2: " + (folder / "program") + ": it has a zero byte at 4, so it is not text; name a text");
  CHECK(refused(folder.path) == "2: no file in the folder " + folder.path +
                                    " is text; the first of 1 is program: it has a zero byte at 4, so it is not text");
  CHECK(refused("/dev/null") == "2: /dev/null is neither a file nor a folder");

  write(folder / "short.txt", "nine byte");
  const Corpus c = open_corpus(folder / "short.txt");
  Rng rng(stream(1, Purpose::tokens, 0));
  CHECK(
      refusal([&] { draw_window(c.text, Vocabulary(), 10, rng); }) ==
      "2: no file has 10 tokens: the longest (of 1 read here) has 9 bytes; a test reads one file in ten, or "
      "the last tenth of a single one: use shorter windows, or a longer text");
  CHECK(draw_window(c.text, Vocabulary(), 9, rng).tokens == Vocabulary().encode("nine byte"));
  // a file that is changed while it is open
  fs::resize_file(folder / "short.txt", 4);
  CHECK(holds(refusal([&] { draw_window(c.text, Vocabulary(), 9, rng); }), "it has become shorter"));
}

TEST_CASE("a corpus of gigabytes takes no memory") {
  const TemporaryFolder folder;
  write(folder / "huge.txt", std::string(8192, 'x'));
  fs::resize_file(folder / "huge.txt", int64_t(8) << 30);  // a sparse file takes no disk space either
  write(folder / "other.txt", std::string(5000, 'y'));
  const double before = peak_megabytes();
  const Corpus c = open_corpus(folder.path);
  CHECK(c.text.bytes() == (int64_t(8) << 30) + 5000);
  Rng rng(stream(1, Purpose::tokens, 1));
  for (int i = 0; i < 200; ++i) CHECK(draw_window(c.text, Vocabulary(), 4096, rng).covered == 4096);
  CHECK(words_of(c.text, 1 << 24).size() < 2000);
  CHECK(peak_megabytes() - before < 64);
}

TEST_CASE("if no text is named, the text is the compiler's newest headers") {
  const TemporaryFolder folder;
  CHECK(holds(refusal([&] { compilers_headers(folder / "c++"); }), "2: there are no C++ headers in "));
  for (const char* version : {"c++/9", "c++/14", "c++/13.2.0"})
    write(folder / (version + std::string("/vector")), "//");
  CHECK(compilers_headers(folder / "c++") == folder / "c++/14");
  const Corpus c = open_corpus(compilers_headers());
  CHECK(c.text.files.size() > 100);
  CHECK(test_text(c.text).files.size() > 10);
  CHECK(test_text(c.text).files.size() < c.text.files.size() / 4);
}

TEST_CASE("words of a text are counted up to a number of bytes, and a vocabulary is kept as JSON") {
  const TemporaryFolder folder;
  for (int i = 0; i < 20; ++i) write(folder / fmt::format("{}.txt", i), "the cat the dog");
  const Corpus c = open_corpus(folder.path);
  WordCounts all = words_of(c.text, 1 << 20);
  CHECK(all["the"] == 20);
  CHECK(all[" the"] == 20);
  WordCounts some = words_of(c.text, 3 * 15);
  CHECK(some["the"] == 3);
  const Vocabulary v = Vocabulary::learn(all, 3);
  const std::string text = to_json(v);
  CHECK(vocabulary_of(text, "v.json").merges() == v.merges());
  CHECK(to_json(Vocabulary()) == "{\"format\":\"poslab vocabulary 1\",\"merges\":[]}\n");
  const auto refused = [](const std::string& json) { return refusal([&] { vocabulary_of(json, "v.json"); }); };
  CHECK(holds(refused("no json"), "1: v.json is not a vocabulary"));
  CHECK(holds(refused("[]"), "1: v.json is not a vocabulary"));
  CHECK(holds(refused(R"({"format":"poslab vocabulary 1"})"), "1: v.json is damaged"));
  CHECK(holds(refused(R"({"format":"poslab vocabulary 1","merges":[[1]]})"),
              "merge 0 is [1], not the numbers of two tokens"));
  CHECK(holds(refused(R"({"format":"poslab vocabulary 1","merges":[[1,256]]})"),
              "2: v.json: vocabulary: merge 0 joins tokens 1 and 256; only"));
}

TEST_CASE("a run of a language model: its options are TOML, and changed or missing files are refused") {
  const RunSpec c(language::configure({{"preset", "tiny"}, {"text", "a \"text\""}, {"tied", "on"}, {"lr", "2"}}));
  const ChoiceTable& table = language::all_choices();
  CHECK(kept(table, language::configure(read_toml(to_toml(c), "x", language_kind()))) == kept(table, c));
  CHECK(refusal([] {
          read_toml("layers = 2\nsteps = \"many\"\n", "my.toml", language_kind());
        }).rfind("2: my.toml, line 2: ", 0) == 0);

  const TemporaryFolder folder;
  for (int i = 0; i < 12; ++i) write(folder / fmt::format("texts/{}.txt", i), std::string(100, char('a' + i)));
  const std::string path = folder / "run";
  const language::Settings small = {{"text", folder / "texts"}, {"out", path},    {"layers", "1"}, {"heads", "1"},
                                    {"key_heads", "1"},         {"d_model", "8"}, {"d_ff", "8"},   {"eval_times", "1"},
                                    {"train_length", "8"},      {"merges", "3"},  {"steps", "5"}};
  create_run(RunSpec(language::configure(small)));
  const auto opens = [&] { return refusal([&] { open_run(path); }); };
  CHECK(opens() == "");
  CHECK(open_lm(path).learner->source->vocabulary.merges().size() == 3);
  CHECK(holds(refusal([&] { RunFolder::open(path).load(); }), "is of a language model; `poslab lm` reads it"));
  const auto with_changed = [&](const std::string& name, const std::string& bytes) {
    const std::string before = read_file(path + "/" + name);
    write_file(path + "/" + name, bytes);
    const std::string answer = opens();
    write_file(path + "/" + name, before);
    return answer;
  };
  std::string other = read_file(path + "/config.toml");
  other.replace(other.find("steps = 5"), 9, "steps = 6");
  CHECK(
      holds(with_changed("config.toml", other), "2: " + path + "/config.toml was changed after the run began"));
  CHECK(holds(with_changed("text.json", "{}"), "1: " + path + "/text.json is damaged"));
  CHECK(holds(with_changed("vocabulary.json", "{}"), "1: " + path + "/vocabulary.json is not a vocabulary"));
  CHECK(holds(with_changed("vocabulary.json", to_json(Vocabulary())),
              "1: " + path + "/vocabulary.json is not the one that the run was trained with; restore it from a copy"));
  std::string moved = read_file(path + "/text.json");
  moved.replace(moved.find("/texts"), 6, "/other");
  CHECK(holds(with_changed("text.json", moved),
              fmt::format("1: {}/text.json belongs to the text {}, but the run was trained on {}; ", path,
                          folder / "other", folder / "texts")));
  CHECK(holds(with_changed("checkpoint.safetensors", "short"), "it is cut off after 5 bytes"));
  for (const char* files : {"1", "[1]", R"([{"bytes": 100}])", R"([{"path": "0.txt", "bytes": "1", "checksum": ""}])"})
    CHECK_MESSAGE(holds(with_changed("text.json", fmt::format(R"({{"text": "a", "files": {}}})", files)),
                        "1: " + path + "/text.json is damaged"),
                  files);
  Rng rng(stream(1, Purpose::tokens, 0));
  const auto window = [&] { return refusal([&] { open_lm(path).learner->source->window(true, 8, rng); }); };
  CHECK(window() == "");
  // The whole text is compared, whichever part the test reads; its tokens are known without the file.
  const auto other_text = [&](const char* file, const std::string& content, const std::string& difference) {
    const std::string at = folder / "texts/" + file, before = fs::exists(at) ? read_file(at) : "";
    content.empty() ? void(fs::remove(at)) : write(at, content);
    CHECK(opens() == "");
    CHECK(window() == "2: " + folder / "texts" + " is not the text with which " + path +
                          " began (12 files, 1200 bytes): " + difference + "; restore it, or train again");
    before.empty() ? void(fs::remove(at)) : write(at, before);
  };
  other_text("12.txt", "one more", "12.txt is new");
  other_text("7.txt", "", "7.txt is missing");
  other_text("3.txt", std::string(99, 'd'), "3.txt has 99 bytes, and had 100");
  for (const char* file : {"0.txt", "5.txt", "11.txt"})
    other_text(file, std::string(99, 'z') + "y", std::string(file) + " has as many bytes, but other ones");
  CHECK(window() == "");
}

TEST_CASE("the results of a language model's test are read back as they were written") {
  const TemporaryFolder folder;
  language::AtLength at{.length = 128, .repeated = true, .samples = 3, .loss = 1.25, .accuracy = 0.5};
  at.loss_of_part[7] = std::nan(""), at.accuracy_of_part[0] = 0.125;
  const std::string path = folder / "eval.csv",
                    text = poslab::to_csv({language::row_of({.length = 64, .samples = 3}), language::row_of(at)});
  write_file(path, text);
  const Results all = read_results(path, language_kind());
  REQUIRE(all.size() == 2);
  CHECK(all[0].word("set") == "plain");
  CHECK(poslab::to_csv(all) == text);
  CHECK(holds(refusal([&] { all[0]["set"]; }), "has no numbers in a column \"set\""));
  const auto read = [&](const std::string& bytes) {
    write_file(path, bytes);
    return refusal([&] { read_results(path, language_kind()); });
  };
  CHECK(holds(read("length,set\n"), "its first line is not length,set,samples"));
  CHECK(holds(read(text + "128,long,3\n"), "line 4 reads \"128,long,3\"; remove it, and test again"));
  CHECK(holds(read(text.substr(0, text.size() - 3)), path + " is cut off: line 3 reads \"128,repeated,3,"));
  CHECK(holds(read(text.substr(0, text.size() - 1)), " and has no line end; remove it, and test again"));
  const size_t second = text.find('\n') + 1;
  CHECK(holds(read(text + text.substr(second)), "line 4 reads \"64,plain,3"));  // a length twice
  CHECK(holds(read(text.substr(0, text.find('\n') + 1)), "it has no line below the header"));
}

TEST_CASE("lm: a page shows a given text or one of the test, of any length") {
  const auto learner = [](const Settings& more, const language::Source& text) {
    Settings all = {{"layers", "1"}, {"heads", "1"}, {"key_heads", "1"}, {"d_model", "8"}, {"d_ff", "8"}};
    all.insert(all.end(), more.begin(), more.end());
    return language::TextLearner(language::State(RunSpec(language::configure(all)), text.tokens()),
                                 std::make_shared<const language::Source>(text));
  };
  language::Source grammar;
  grammar.grammar = CopyGrammar{.symbols = 6, .clause = 4, .back = 2};
  const language::TextLearner symbols = learner({{"text", "copy_grammar"}, {"train_length", "16"}}, grammar);
  CHECK(symbols.sample({}).symbols.size() == 16);
  CHECK(symbols.sample({.length = 9}).symbols.size() == 9);
  CHECK(holds(refusal([&] { symbols.sample({.text = "abc"}); }), "the symbols of copy_grammar are not letters"));
  const language::TextLearner bytes = learner({}, {});
  CHECK(bytes.sample({.text = "abcde"}).symbols == std::vector<std::string>{"a", "b", "c", "d", "e"});
  CHECK(holds(refusal([&] { bytes.sample({.length = 9, .text = "abc"}); }),
              "--text and --length 9: the text has a length of its own; leave one out"));
}
