// Untrusted files do no harm: pipes, loops, control characters. tests/lab/files/fuzz.cpp tests what they contain.
#include <sys/stat.h>

#include <fstream>

#include "core/stop.h"
#include "lab/files/printable.h"
#include "lab/files/safetensors.h"
#include "lab/hub/hf_weights.h"
#include "lab/pages/report/report.h"
#include "lab/runs/align.h"
#include "lab/runs/whole_run.h"
#include "tests/lab/hub/helpers.h"

using namespace poslab;
using namespace poslab::test;
namespace fs = std::filesystem;

TEST_CASE("strangers: a pipe, a device, a folder and a link to itself are refused by name, without waiting") {
  const TemporaryFolder folder;
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  fs::create_symlink("loop", folder / "loop");
  const auto input = [&](const std::string& path) { return refusal([&] { read_input(path); }); };
  CHECK(input(folder / "pipe") == "2: " + folder / "pipe" + " is a pipe; name a file");
  CHECK(input("/dev/zero") == "2: /dev/zero is a device; name a file");
  CHECK(input(folder.path) == "2: " + folder.path + " is a folder; name a file in it");
  CHECK(holds(input(folder / "loop"), "2: cannot read " + folder / "loop" + ": Too many levels of symbolic links"));
  CHECK(input(folder / "none") == "2: there is no file " + folder / "none");
  CHECK(refusal([&] { read_file(folder / "pipe"); }) == "1: cannot read " + folder / "pipe" + ": it is a pipe");
  CHECK(refusal([&] { read_file("/dev/zero"); }) == "1: cannot read /dev/zero: it is a device");
}

TEST_CASE("strangers: a message shows a file's words on one line, without control characters") {
  CHECK(printable("plain, \u00e9, \u4e2d, \U0001F600") == "plain, \u00e9, \u4e2d, \U0001F600");
  CHECK(printable("a\nb\tc\r\x1b[31m\x7f" + std::string(1, '\0')) == "a\\nb\\tc\\r\\x1b[31m\\x7f\\x00");
  CHECK(printable("\u009b31m \u202e \u2028 \u2066") == "\\x9b31m \\u202e \\u2028 \\u2066");
  CHECK(printable("\ufeff0\u200b") == "\\ufeff0\\u200b");
  CHECK(printable("\xff \xc3 \xc0\x80 \xed\xa0\x80 \xf5") == "\\xff \\xc3 \\xc0\\x80 \\xed\\xa0\\x80 \\xf5");
  CHECK(is_utf8("plain, \u00e9, \u4e2d, \U0001F600\n\x1b"));
  for (const char* bytes : {"\xff", "a\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80"}) CHECK(!is_utf8(bytes));
  const std::string once = printable("\x1b\n\xff");
  CHECK(printable(once) == once);

  const TemporaryFolder model;
  write_file(model / "config.json",
             R"({"model_type": "llama", "vocab_size": 5, "hidden_size": 4, "intermediate_size": 6,
    "num_hidden_layers": 1, "num_attention_heads": 2})");
  write_file(model / "model.safetensors",
             safetensors_bytes<float>(Json::object(), {{"model.embed_tokens.weight", Tensor::full({5, 4}, 1)},
                                                       {"\x1b[2J\nit is fine", Tensor::full({1}, 1)}}));
  write_file(model / "text", "hello");
  Program program(model, "lm eval --text " + model / "text" + " --hf " + model.path);
  CHECK(program.status() == 2);
  const std::string said = program.output();
  CHECK(std::count(said.begin(), said.end(), '\n') == 1);
  CHECK(!holds(said, "\x1b"));
}

TEST_CASE("strangers: a stop ends the loading of a file") {
  const TemporaryFolder model;
  write_file(model / "model.safetensors", safetensors_bytes<float>(Json::object(), {{"a", Tensor::full({5, 4}, 1)}}));
  HfWeights weights(model.path, "c", [](const std::string& name) { return name; });
  stop_requested = true;
  CHECK_THROWS_AS(weights.params().stored("a", 5, 4), Stopped);
  stop_requested = false;
  CHECK(weights.params().stored("a", 5, 4).rows == 5);
}

TEST_CASE("paths may have blanks, quotes, line breaks, any letters, invalid bytes, or 4,000 characters") {
  const TemporaryFolder folder;
  std::string deep = folder.path;
  while (deep.size() < 3800) deep += "/" + std::string(180, 'd');
  deep += "/" + std::string(3999 - deep.size(), 'e');
  for (const std::string& path : {folder / "it's a \"name\" $HOME `x` \\", folder / "-a, b=c|d\n%s{}",
                                  folder / "\u00fc\u4e2d\U0001F600", folder / "\xff\xfe", deep}) {
    CAPTURE(printable(path));
    fs::create_directories(path);
    const std::string run = path + "/run";
    const Settings settings =
        overlaid(all_choices(), test::tiny, {{"steps", "2"}, {"eval_lengths", "1:7"}, {"out", run}});
    CHECK(refusal([&] { train_run(strings_kind(), settings, {}, false); }) == "");
    CHECK(holds(resume_run(run, {}), " is complete: 2 steps"));
    CHECK(refusal([&] { test_run(run, {{"eval_lengths", "1:3"}}, {.name = "short"}); }) == "");
    CHECK(refusal([&] { test_run(run, {}, {.file = path + "/own.csv"}); }) == "");
    CHECK(refusal([&] { report::write({run}, path + "/page.html"); }) == "");
    AlignRequest align{.run = run, .how = {.shortest = 4, .longer = {8}}, .samples = 2};
    align.how.per = AlignPer::model;
    CHECK(refusal([&] { write_alignment(align, path + "/t.json"); }) == "");
    CHECK(read_alignment(path + "/t.json").lengths.size() == 1);
    for (const char* name : {"own.csv", "page.html", "run/result.json", "run/eval-short.csv"})
      CHECK_MESSAGE(fs::exists(path + "/" + name), name);
  }
}

TEST_CASE("a text whose name is not UTF-8 is refused, as a run could not record it") {
  const TemporaryFolder folder;
  const std::string text = folder / "\xff.txt", run = folder / "run";
  write_file(text, std::string(5000, 'a'));
  CHECK(refusal([&] {
          train_run(language_kind(), {{"preset", "tiny"}, {"text", text}, {"out", run}}, {}, false);
        }) == "2: text = " + text + ": this name is not UTF-8, which a run needs; rename it");
  CHECK(!fs::exists(run));
}

TEST_CASE("a checkpoint beyond 4 GB: tensors past that offset are read, and no others") {
  const TemporaryFolder model;
  const int64_t before = (int64_t(1) << 32) + 256;
  const std::string header = fmt::format(R"({{"large": {{"dtype": "F32", "shape": [{0}], "data_offsets": [0, {1}]}}, )"
                                         R"("last": {{"dtype": "F32", "shape": [2, 2], "data_offsets": [{1}, {2}]}}}})",
                                         before / 4, before, before + 16);
  const uint64_t length = header.size();
  const std::string path = model / "model.safetensors";
  write_file(path, std::string(reinterpret_cast<const char*>(&length), 8) + header);
  fs::resize_file(path, 8 + length + uint64_t(before));  // a sparse file takes no disk space
  const float last[] = {1, 2, 3, 4};
  std::ofstream(path, std::ios::app).write(reinterpret_cast<const char*>(last), sizeof last);
  HfWeights weights(model.path, "c", [](const std::string& name) { return name; });
  CHECK(weights.params().full("last", {2, 2}, 0).values() == std::vector<real>{1, 2, 3, 4});
  fs::resize_file(path, 8 + length + uint64_t(before) + 12);
  CHECK(
      holds(refusal([&] { HfWeights(model.path, "c", [](const std::string& name) { return name; }); }), "is cut off"));
}
