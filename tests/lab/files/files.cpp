// Files are replaced as a whole or not at all, through links too; devices and pipes are written to.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <future>

#include "lab/runs/run_folder.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;
namespace fs = std::filesystem;

TEST_CASE("a full disk is a clear failure and leaves the old file") {
  const TemporaryFolder folder;
  const std::string path = folder / "checkpoint";
  write_file(path, "old");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string said = refusal([&] { write_file(path, std::string(10000, 'x')); });
  const std::string no_folder = refusal([&] { RunFolder::create(folder / "r", State(tiny_config())); });
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, old_handler);
  CHECK(holds(said, "1: cannot write " + path + ": File too large; make room (existing files are unchanged)"));
  CHECK(read_file(path) == "old");
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);
  CHECK(holds(no_folder, "1: cannot write"));
  CHECK(!fs::exists(folder / "r"));
  CHECK(!fs::exists(folder / "r.partial"));
}

TEST_CASE("a link remains, and the file that it points to is replaced") {
  const TemporaryFolder folder;
  fs::create_directories(folder / "far/away");
  write_file(folder / "far/away/file", "old");
  fs::create_symlink("away/file", folder / "far/near");  // relative to the link's folder, not to ours
  fs::create_symlink(folder / "far/near", folder / "link");
  std::ifstream reader(folder / "far/away/file");
  write_file(folder / "link", "new");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(fs::is_symlink(folder / "far/near"));
  CHECK(read_file(folder / "far/away/file") == "new");
  std::string before;
  CHECK((reader >> before && before == "old"));  // replaced, not overwritten: an open reader still reads the old file
  CHECK(std::distance(fs::directory_iterator(folder / "far/away"), {}) == 1);
  fs::create_symlink("later", folder / "ahead");  // it points to a file that does not exist yet
  write_file(folder / "ahead", "first");
  CHECK(read_file(folder / "later") == "first");
  CHECK(fs::is_symlink(folder / "ahead"));
  fs::create_symlink("round", folder / "round");
  CHECK(
      holds(refusal([&] { write_file(folder / "round", "x"); }), "2: cannot write " + folder / "round" + ": Too many"));
  CHECK(fs::is_symlink(folder / "round"));
  fs::create_symlink("nowhere/file", folder / "lost");
  CHECK(holds(refusal([&] { write_file(folder / "lost", "x"); }), "there is no such folder; choose another path"));
}

TEST_CASE("if several processes write one file at once, each writes all of it; leftovers of a killed one do no harm") {
  const TemporaryFolder folder;
  const std::string path = folder / "shared.csv";
  write_file(folder / "shared.csv.poslab.partial", std::string(1 << 20, 'k'));
  std::vector<std::future<void>> writers;
  for (const char of : {'a', 'b', 'c', 'd'})
    writers.push_back(std::async(std::launch::async, [=] {
      for (int turn = 0; turn < 100; ++turn) write_file(path, std::string(size_t(of) * 1000, of));
    }));
  const auto whole = [&] {
    const std::string text = read_file(path);
    return text == std::string(size_t(text[0]) * 1000, text[0]);
  };
  for (std::future<void>& writer : writers)
    while (writer.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready)
      if (fs::exists(path)) CHECK(whole());
  for (std::future<void>& writer : writers) CHECK_NOTHROW(writer.get());
  CHECK(whole());
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("a file PATH.partial of another owner, next to the file that is written, stays unchanged") {
  const TemporaryFolder folder;
  write_file(folder / "a.csv.partial", "theirs");
  write_file(folder / "a.csv", "ours");
  CHECK(read_file(folder / "a.csv.partial") == "theirs");
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 2);
}

TEST_CASE("/dev/stdout is written to from its current position, whatever it is; so is a named pipe") {
  const TemporaryFolder folder;
  write_file(folder / "plan.toml", "task = \"even_pairs\"\nencoding = \"rope\"\n");
  const auto shell = [&](const std::string& line) {
    return std::system(fmt::format("cd '{}' && {}", folder.path, line).c_str());
  };
  const std::string collect = fmt::format("'{}' sweep collect plan.jsonl --out . --csv ", program);
  REQUIRE(shell(fmt::format("'{}' sweep plan plan.toml > plan.jsonl 2> said", program)) == 0);
  REQUIRE(shell(collect + "plain.csv") == 0);
  const std::string csv = read_file(folder / "plain.csv");
  for (const char* out : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    CHECK(shell(fmt::format("{{ echo head; {}{}; echo tail; }} > to_file", collect, out)) == 0);
    CHECK(read_file(folder / "to_file") == "head\n" + csv + "tail\n");
    CHECK(shell(fmt::format("{{ echo head; {}{}; }} | cat > to_pipe", collect, out)) == 0);
    CHECK(read_file(folder / "to_pipe") == "head\n" + csv);
  }
  CHECK(shell("ln -s /dev/stdout also && " + collect + "also > linked") == 0);
  CHECK(read_file(folder / "linked") == csv);
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0644) == 0);
  const auto reading = std::async(std::launch::async, [&] { return shell("cat pipe > piped"); });
  write_file(folder / "pipe", "through");
  reading.wait();
  CHECK(read_file(folder / "piped") == "through");
  CHECK(fs::is_fifo(folder / "pipe"));
  write_file("/dev/null", "nothing");
  CHECK_FALSE(fs::exists("/dev/null.poslab.partial"));
}
