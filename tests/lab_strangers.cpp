// Files of strangers do no harm: whatever stands in one, reading it ends soon and either works or is an error of ours.
#include <sys/stat.h>

#include "core/random.h"
#include "core/stop.h"
#include "lab/files/printable.h"
#include "lab/files/safetensors.h"
#include "lab/hub/hf_config.h"
#include "lab/hub/hf_tokenizer.h"
#include "lab/hub/hf_weights.h"
#include "lab/hub/t5_hf.h"
#include "lab/runs/checkpoint.h"
#include "tests/lab_hf.h"

using namespace poslab;
using namespace poslab::test;
namespace fs = std::filesystem;

namespace {

// A file with some bytes flipped, cut away, doubled, or replaced by a number or a sign that parsers stumble over.
std::string mutated(std::string bytes, Rng& rng) {
  const auto below = [&](size_t n) { return size_t(rng.uniform() * double(n)); };
  static const std::string words[] = {
      "0", "-1", "1.5",     "1e400", "4294967297", "18446744073709551616", "null", "[]", "{}", "\"\"", "[",
      "}", ",",  "\\u0000", "\x1b",  "\xff",       std::string(300, '[')};
  for (size_t times = 1 + below(4); times-- > 0 && !bytes.empty();) {
    const size_t at = below(bytes.size()), n = std::min(bytes.size() - at, 1 + below(below(8) ? 8 : 4000));
    switch (below(6)) {
      case 0:
        bytes[at] = char(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes.erase(at, n);
        break;
      case 2:
        bytes.insert(at, bytes.substr(at, n));
        break;
      case 3:
        bytes.replace(at, n, words[below(std::size(words))]);
        break;
      case 4:
        bytes.resize(at);
        break;
      default: {
        size_t digits = bytes.find_first_of("0123456789", at), end = digits;
        if (digits == bytes.npos) break;
        while (end < bytes.size() && std::isdigit(static_cast<unsigned char>(bytes[end]))) ++end;
        bytes.replace(digits, end - digits, words[below(6)]);
      }
    }
  }
  return bytes;
}

struct Count {
  int read = 0, refused = 0;
};

// Whatever is thrown but BadInput and Failure fails the test, which then says which seed it was.
template <class Read>
Count mutate(const std::string& file, int times, const Read& read) {
  Count count;
  for (int seed = 0; seed < times; ++seed) {
    Rng rng(stream(uint64_t(seed), Purpose::init, 0, 0));
    const std::string bytes = mutated(file, rng);
    std::string other;
    try {
      read(bytes), ++count.read;
    } catch (const BadInput&) { ++count.refused; } catch (const Failure&) {
      ++count.refused;
    } catch (const std::exception& e) { other = e.what(); }
    CHECK_MESSAGE(other.empty(), "seed ", seed, ": ", other);
  }
  return count;
}

}  // namespace

TEST_CASE("strangers: a file with bytes changed is read or refused, and nothing else happens") {
  const auto both = [](const Count& c) {
    CHECK(c.refused > 100);
    CHECK(c.read > 10);
  };
  both(mutate(
      safetensors_bytes<float>({{"format", "pt"}}, {{"a", Tensor::full({2, 3}, 1)}, {"b", Tensor::full({4}, 2)}}), 4000,
      [](const std::string& bytes) {
        const SafetensorsHeader h = read_safetensors(bytes, "F");
        for (const TensorRecord& t : h.tensors) REQUIRE(h.numbers + t.to <= bytes.size());
      }));
  both(mutate(read_file(golden_folder + "t5/v1_0/config.json"), 3000,
              [](const std::string& text) { t5::hf_config(text, "F"); }));
  both(mutate(read_file(golden_folder + "qwen2/config.json"), 3000,
              [](const std::string& text) { hf_config(text, "F"); }));
  both(mutate(R"({"eos_token_id": [1, 2], "do_sample": true, "temperature": 0.5, "top_k": 3, "num_beams": 2,
                  "decoder_start_token_id": 0, "length_penalty": 1.0, "early_stopping": "never"})",
              2000, [](const std::string& text) {
                HfConfig llama;
                t5::HfConfig t5;
                read_generation(text, "F", llama), t5::read_generation(text, "F", t5);
              }));
  const std::string tokenizer = read_file(golden_folder + "qwen2/tokenizer.json");
  both(mutate(tokenizer, 300, [](const std::string& text) { HfTokenizer(text, "F").encode("a text, and 12 words"); }));
}

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
