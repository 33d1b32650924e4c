// The one codec of safetensors (lab/files/safetensors.h): every reader refuses a header that cannot describe its file,
// and names the fault.
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>

#include "lab/files/safetensors.h"
#include "lab/hub/stored_tensors.h"
#include "lab/runs/checkpoint.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;

namespace {

std::string with_header(const std::string& header, const std::string& numbers) {
  const uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + numbers;
}

std::string replaced_once(std::string bytes, const std::string& from, const std::string& to) {
  REQUIRE(from.size() == to.size());
  REQUIRE(holds(bytes, from));
  return bytes.replace(bytes.find(from), from.size(), to);
}

// The refusal of a file with two tensors in 24 bytes; `second` is the header's entry for the second tensor.
std::string said_of(const std::string& second) {
  const std::string header = R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}, )" + second + "}";
  return refusal([&] { read_safetensors(with_header(header, std::string(24, 'x')), "F"); });
}
std::string tensor(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return fmt::format(R"("b": {{"dtype": {}, "shape": {}, "data_offsets": {}}})", dtype, shape, offsets);
}

}  // namespace

TEST_CASE("safetensors: overlaps, holes, sizes that overflow, fractions and doubles are refused by tensor and value") {
  const std::string f32 = "\"F32\"", remedy = "; fetch or save the file again";
  const auto says = [&](const std::string& shape, const std::string& offsets) {
    return said_of(tensor(f32, shape, offsets));
  };
  const auto damage = [&](const std::string& what) { return "1: F is damaged: the tensor b " + what + remedy; };
  CHECK(says("[2, 2]", "[8, 24]") == "");
  CHECK(says("[4]", "[4, 20]") == damage("begins at byte 4 of the numbers, but the one before it ends at 8"));
  CHECK(says("[2]", "[16, 24]") == damage("begins at byte 16 of the numbers, but the one before it ends at 8"));
  CHECK(says("[2]", "[0, 8]") == damage("begins at byte 0 of the numbers, but the one before it ends at 8"));
  CHECK(says("[2]", "[8, 16]") ==
        "1: F is damaged: its tensors end at byte 16 of the numbers, but 24 are there" + remedy);
  CHECK(
      holds(says("[6]", "[8, 32]"), "1: F is cut off: in its header the tensor b ends after 32 bytes of numbers, but"));
  CHECK(says("[3, 2]", "[8, 24]") == damage("is F32 (3, 2), which does not fit its bytes 8 to 24"));
  CHECK(says("[1073741824, 1073741824, 4]", "[8, 24]") ==
        damage("is F32 (1073741824, 1073741824, 4), which does not fit its bytes 8 to 24"));
  for (const char* shape : {"[4294967300]", "[4.0]", "[-4]", "[\"4\"]", "[[4]]", "[1e30]"})
    CHECK(says(shape, "[8, 24]") ==
          damage(fmt::format("has the shape {}; sizes are whole numbers below 2^31", Json::parse(shape).dump())));
  CHECK(says("4", "[8, 24]") == damage("has the shape 4, not a list of sizes"));
  for (const char* at : {"[8.5, 24.5]", "[-8, 8]", "[24, 8]", "[8]", "[8, 24, 24]", "8", "[8, 18446744073709551640]"})
    CHECK(says("[4]", at) ==
          damage(fmt::format("has the data_offsets {}, not two growing whole numbers", Json::parse(at).dump())));
  CHECK(said_of(tensor("\"F31\"", "[4]", "[8, 24]")) == damage("has the unknown dtype \"F31\""));
  CHECK(said_of(tensor("3", "[4]", "[8, 24]")) == damage("has the unknown dtype 3"));
  CHECK(said_of("\"b\": 3") == damage("has the unknown dtype null"));
  CHECK(said_of(tensor(f32, "[4]", "[8, 24]") + "," + tensor(f32, "[4]", "[8, 24]")) ==
        "2: the header of F is not valid JSON: it has \"b\" twice in one object; save or fetch it again");
  CHECK(holds(said_of(tensor(f32, "[4]", "[8, 24]") + R"(, "__metadata__": {"format": 3})"),
              "1: F is damaged: its __metadata__ is {\"format\":3}, not strings by name"));
  CHECK(said_of(tensor(f32, "[4]", "[8, 24]") +
                R"(, "none": {"dtype": "F32", "shape": [0, 7], "data_offsets": [24, 24]})") == "");
}

TEST_CASE("safetensors: a header that is too long, cut off or no object is refused before anything else") {
  const auto says = [](const std::string& file) { return refusal([&] { read_safetensors(file, "F"); }); };
  CHECK(says("1234567") == "1: F is cut off after 7 bytes; fetch it again");
  CHECK(holds(says(with_header("{}", "").substr(0, 9)),
              "1: F is cut off, or not a safetensors file: its header has 2 bytes"));
  CHECK(holds(says(std::string(1000, '\xff')), "its header has 18446744073709551615 bytes, but 992 are there"));
  CHECK(says(with_header("[]", "")) == "2: F is not a safetensors file: its header is not a JSON object");
  CHECK(holds(says(with_header(std::string(80000, '['), "")),
              "2: the header of F is not valid JSON: it is nested"));
  CHECK(says(with_header("{}", "")) == "");
  CHECK(says(with_header("{}", "x")) ==
        "1: F is damaged: its tensors end at byte 0 of the numbers, but 1 are there; fetch or save the file again");
}

TEST_CASE("safetensors: if a file becomes shorter while it is mapped, the program ends with one line and status 1") {
  const TemporaryFolder folder;
  const std::string path = folder / "model.safetensors", said = folder / "said";
  write_file(path, safetensors_bytes<float>(Json::object(), {{"a", Tensor::full({5000}, 1)}}));
  const pid_t child = fork();
  if (child == 0) {
    const StoredTensors all = map_safetensors(path);
    const char* last = all.at("a").at + 4 * 5000 - 1;
    if (*last == 0 || !std::freopen(said.c_str(), "w", stderr) || ::truncate(path.c_str(), 4096) != 0) _exit(3);
    _exit(*static_cast<const volatile char*>(last) ? 4 : 5);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
  CHECK(read_file(said) ==
        "poslab: " + path + " has become shorter while it was read, or its disk failed; fetch it again\n");
}

TEST_CASE("safetensors: mapped files are checked by the same codec") {
  const TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  const std::string good =
      safetensors_bytes<float>({{"format", "pt"}}, {{"a", Tensor::full({2}, 1)}, {"b", Tensor::full({2}, 2)}});
  write_file(path, good);
  const StoredTensors all = map_safetensors(path);
  CHECK(all.at("b").shape == Shape{2});
  float x = 0;
  std::memcpy(&x, all.at("b").at, 4);
  CHECK(x == 2);
  write_file(path, replaced_once(good, "[8,16]", "[0, 8]"));
  CHECK(holds(refusal([&] { map_safetensors(path); }), "the tensor b begins at byte 0 of the numbers, but the one"));
}

TEST_CASE("safetensors: a checkpoint of ours that was changed along with its checksum is refused, too") {
  const std::string good = checkpoint_bytes(State(tiny_config()));
  const auto says = [&](const std::string& from, const std::string& to, const Settings& of = {}) {
    std::string bytes = replaced_once(of.empty() ? good : checkpoint_bytes(State(tiny_config(of))), from, to);
    const size_t at = bytes.find("\"crc32\":\"") + 9;
    bytes.replace(at, 8, "00000000");
    bytes.replace(at, 8, fmt::format("{:08x}", crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size())));
    return refusal([&] { checkpoint_state(bytes, "run/checkpoint"); });
  };
  CHECK(says("seed", "seed") == "");
  CHECK(says("\"adam.v\":{\"dtype\":", "\"adam.m\":{\"dtype\":") ==
        "2: the header of run/checkpoint is not valid JSON: it has \"adam.m\" twice in one object; save or "
        "fetch it again");
  CHECK(holds(says("\"step\":\"0\"", "\"step\":\"x\""), "2: run/checkpoint: step = \"x\" is not a whole number"));
  CHECK(holds(says("\"step\":\"0\"", "\"stop\":\"0\""), "1: run/checkpoint is damaged: its header has no \"step\""));
  CHECK(holds(says("d_model = 16", "d_model = 64"),
              " goes beyond the "));
  // The header claims a table of a gigabyte, but the file has only 64 rows.
  CHECK(holds(says("max_position = 64               #", "max_position = 16777216         #", {{"encoding", "learned"}}),
              "1: run/checkpoint is damaged: encoding.table of shape (16777216, 16) goes beyond the "));
}
