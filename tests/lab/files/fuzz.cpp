// Untrusted files: whatever a file contains, reading it ends soon, and either works or throws one of our errors. The
// targets of tools/fuzz (tests/tools/fuzz/target.h) read earlier finds, and their seeds with some bytes changed.
#include <fcntl.h>

#include <cstdio>

#include "core/random.h"
#include "tests/lab/helpers.h"
#include "tests/tools/fuzz/target.h"

using namespace poslab;
using namespace poslab::test;

namespace {

// A file with some bytes flipped, removed, doubled, or replaced by numbers and characters that often break parsers.
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

// Hides the standard output, to which help and shell completions go.
struct Silent {
  const int before = (std::fflush(stdout), dup(STDOUT_FILENO));
  Silent() {
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO), close(nowhere);
  }
  ~Silent() { std::fflush(stdout), dup2(before, STDOUT_FILENO), close(before); }
};

// The message of an unexpected exception: neither BadInput nor Failure.
std::string surprise(const fuzz::Target& target, const std::string& bytes, bool& read) {
  try {
    const Silent silent;
    read = fuzz::answered([&] { target.read(bytes); });
  } catch (const std::exception& e) { return e.what(); }
  return "";
}

}  // namespace

TEST_CASE("fuzz: each target reads its seeds") {
  for (const fuzz::Target& target : fuzz::all_targets()) {
    INFO(target.name);
    CHECK(!target.seeds().empty());
    for (const std::string& seed : target.seeds()) {
      bool read = false;
      CHECK(surprise(target, seed, read) == "");
      CHECK_MESSAGE(read, seed);
    }
    for (const std::string& source : target.sources) CHECK(std::filesystem::exists(source_folder + ("/" + source)));
  }
}

TEST_CASE("fuzz: earlier finds are read or refused, and nothing else happens") {
  size_t count = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(source_folder + std::string("/tests/tools/fuzz/found"))) {
    if (!entry.is_regular_file()) continue;
    const fuzz::Target& target = find("target", fuzz::all_targets(), entry.path().parent_path().filename().string());
    bool read = false;
    const std::string said = surprise(target, read_file(entry.path()), read);
    CHECK_MESSAGE(said.empty(), entry.path().string(), ": ", said);
    ++count;
  }
  CHECK(count > 0);
}

TEST_CASE("fuzz: seeds with bytes changed are read or refused, and nothing else happens") {
  constexpr int times = 400;
  for (const fuzz::Target& target : fuzz::all_targets()) {
    int done = 0;
    const fuzz::Strings seeds = target.seeds();
    for (int n = 0; n < times; ++n) {
      Rng rng(stream(uint64_t(n), Purpose::init, 0, 0));
      bool read = false;
      const std::string said = surprise(target, mutated(seeds[size_t(n) % seeds.size()], rng), read);
      CHECK_MESSAGE(said.empty(), target.name, ", change ", n, ": ", said);
      done += read;
    }
    INFO(target.name);
    CHECK(done > 0);
    CHECK((done < times || target.name == "npz"));  // npz only writes
  }
}
