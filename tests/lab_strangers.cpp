// Files of strangers do no harm: pipes, loops, signs for the terminal. What stands in them is in tests/lab_fuzz.cpp.
#include <sys/stat.h>

#include "core/stop.h"
#include "lab/files/printable.h"
#include "lab/files/safetensors.h"
#include "lab/hub/hf_weights.h"
#include "tests/lab_hf.h"

using namespace poslab;
using namespace poslab::test;
namespace fs = std::filesystem;

TEST_CASE("strangers: a pipe, a device, a folder and a link to itself are named, and nobody waits for them") {
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

TEST_CASE("strangers: what a message shows of a file is one line, and says nothing to the terminal") {
  CHECK(printable("plain, \u00e9, \u4e2d, \U0001F600") == "plain, \u00e9, \u4e2d, \U0001F600");
  CHECK(printable("a\nb\tc\r\x1b[31m\x7f" + std::string(1, '\0')) == "a\\nb\\tc\\r\\x1b[31m\\x7f\\x00");
  CHECK(printable("\u009b31m \u202e \u2028 \u2066") == "\\x9b31m \\u202e \\u2028 \\u2066");
  CHECK(printable("\xff \xc3 \xc0\x80 \xed\xa0\x80 \xf5") == "\\xff \\xc3 \\xc0\\x80 \\xed\\xa0\\x80 \\xf5");
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

TEST_CASE("strangers: a stop ends loading") {
  const TemporaryFolder model;
  write_file(model / "model.safetensors", safetensors_bytes<float>(Json::object(), {{"a", Tensor::full({5, 4}, 1)}}));
  HfWeights weights(model.path, "c", [](const std::string& name) { return name; });
  stop_wanted = true;
  CHECK_THROWS_AS(weights.params().stored("a", 5, 4), Stopped);
  stop_wanted = false;
  CHECK(weights.params().stored("a", 5, 4).rows == 5);
}
