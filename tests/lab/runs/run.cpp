// The program as users run it: the same seed gives the same bits, with any number of threads and any interruption. Its
// answers to bad input are in tests/apps/bad_input.cpp.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "lab/files/progress.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/whole_run.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;

namespace {

std::string all_of(const std::string& run) {
  std::string all;
  for (const char* name : {"config.toml", "metrics.jsonl", "checkpoint.safetensors", "eval.csv"})
    all += read_file(run + "/" + name);
  return all;
}

void train(const TemporaryFolder& folder, const std::string& run, const Settings& more = {}) {
  Program p(folder, fmt::format("train {} --out {}", tiny_options(more), run));
  const std::string said = p.output();
  CAPTURE(said);
  REQUIRE(p.status() == 0);
}

// The lines of tests.jsonl without their seconds, which must rise.
std::string tests_of(const std::string& run) {
  std::string all;
  double before = 0;
  std::istringstream lines(read_file(run + "/tests.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    auto test = nlohmann::ordered_json::parse(line);
    CHECK(test["seconds"] > before);
    before = test["seconds"];
    test.erase("seconds");
    all += test.dump() + "\n";
  }
  return all;
}

// Waits until the run has saved a second checkpoint, and then stops it.
std::string stop_in_the_middle(const TemporaryFolder& folder, const std::string& run, const Settings& more, int signal,
                               int status) {
  Program p(folder, fmt::format("train {} --out {}", tiny_options(more), run));
  const std::string metrics = run + "/metrics.jsonl";
  while (p.running() && !(std::filesystem::exists(metrics) && std::filesystem::file_size(metrics) > 0))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  p.send(signal);
  CHECK(p.status() == status);
  CHECK(!std::filesystem::exists(run + "/result.json"));
  return p.output();
}

}  // namespace

TEST_CASE("same seed, same bits, with 1, 2, 3, 4 and 7 threads; another seed, other bits") {
  const TemporaryFolder folder;
  for (const char* threads : {"1", "2", "3", "4", "7"}) train(folder, folder / threads, {{"threads", threads}});
  for (const char* threads : {"2", "3", "4", "7"}) CHECK(all_of(folder / "1") == all_of(folder / threads));
  train(folder, folder / "other", {{"seed", "1"}});
  CHECK(read_file(folder / "1/checkpoint.safetensors") != read_file(folder / "other/checkpoint.safetensors"));
}

TEST_CASE("kill -9, Ctrl-C and a full disk during training: nothing is lost, and the result is the same") {
  const TemporaryFolder folder;
  const Settings longer = {{"steps", "2500"}, {"test_every", "70"}};
  train(folder, folder / "whole", longer);
  const std::string tests = tests_of(folder / "whole");
  CHECK(std::count(tests.begin(), tests.end(), '\n') == 2500 / 70 + 1);

  stop_in_the_middle(folder, folder / "killed", longer, SIGKILL, 128 + SIGKILL);
  Program after_kill(folder, "resume " + folder / "killed");
  CHECK(after_kill.status() == 0);
  CHECK(all_of(folder / "killed") == all_of(folder / "whole"));
  CHECK(tests_of(folder / "killed") == tests);

  const std::string said = stop_in_the_middle(folder, folder / "stopped", longer, SIGINT, 130);
  CHECK(holds(said, "of 2500, which is saved; go on with `poslab resume " + folder / "stopped" + "`"));
  const std::string checkpoint = read_file(folder / "stopped/checkpoint.safetensors");
  const size_t blocks = checkpoint.size() / 512 / 2;
  Program full(folder, "resume " + folder / "stopped", fmt::format("ulimit -f {};", blocks));
  CHECK(full.status() == 1);
  CHECK(holds(full.output(), "make room (existing files are unchanged)"));
  CHECK(read_file(folder / "stopped/checkpoint.safetensors") == checkpoint);
  Program after_full(folder, "resume " + folder / "stopped");
  CHECK(after_full.status() == 0);
  CHECK(all_of(folder / "stopped") == all_of(folder / "whole"));
  CHECK(tests_of(folder / "stopped") == tests);

  const auto result = nlohmann::json::parse(read_file(folder / "stopped/result.json"));
  const std::string told = read_file(folder / "stopped/tests.jsonl");  // it has seconds from all three processes
  CHECK(result["seconds"] >= nlohmann::json::parse(told.substr(told.rfind('\n', told.size() - 2) + 1))["seconds"]);

  Program complete(folder, "resume " + folder / "stopped");
  CHECK(holds(complete.output(), "is complete: 2500 steps"));
}

TEST_CASE("two runs that begin at once in one folder: the second leaves it to the first") {
  const TemporaryFolder folder;
  const std::string run = folder / "run", partial = run + ".partial", theirs = partial + "/config.toml";
  std::filesystem::create_directory(partial);                      // as if another process worked in it
  write_file(theirs, "theirs");
  const int other = ::open(partial.c_str(), O_RDONLY | O_DIRECTORY);
  REQUIRE(::flock(other, LOCK_EX | LOCK_NB) == 0);
  Program second(folder, fmt::format("train {} --out {}", tiny_options({}), run));
  CHECK(second.status() == 1);
  CHECK(holds(second.output(),
              "run is in use by another poslab; wait until it ends, or name another folder"));
  CHECK(read_file(theirs) == "theirs");
  ::close(other);                                                  // as if that process had been killed
  train(folder, run);
  CHECK(!std::filesystem::exists(partial));
}

TEST_CASE("leftovers of a killed creation are removed, and a folder RUN.partial of another owner stays") {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const std::string run = folder / "run", partial = run + ".partial", theirs = partial + "/notes.txt";
  fs::create_directory(partial);
  write_file(theirs, "theirs");
  const std::string words = fmt::format("train {} --out {}", tiny_options({}), run);
  Program beside(folder, words);
  CHECK(beside.status() == 2);
  CHECK(holds(beside.output(), "run.partial, which exists and holds something else; choose another --out"));
  CHECK(read_file(theirs) == "theirs");
  fs::remove(theirs);
  fs::create_directory(partial + "/checkpoints");
  for (const char* left : {"/metrics.jsonl", "/text.json", "/config.toml.poslab.partial"})
    write_file(partial + left, "torn");
  train(folder, run);
  for (const char* left : {"/checkpoints", "/text.json", "/config.toml.poslab.partial"})
    CHECK_FALSE(fs::exists(run + left));
  CHECK_FALSE(fs::exists(partial));
  fs::rename(run, partial);  // a run of that name
  CHECK(Program(folder, words).status() == 2);
  CHECK(fs::exists(partial + "/result.json"));
}

TEST_CASE("eval tests again, and keeps the time and memory of training") {
  const TemporaryFolder folder;
  train(folder, folder / "r");
  const std::string before = read_file(folder / "r/result.json"), csv = read_file(folder / "r/eval.csv");
  Program again(folder, fmt::format("eval {} --lengths 1:9", folder / "r"));
  CHECK(again.status() == 0);
  CHECK(read_file(folder / "r/result.json") == before);
  CHECK(read_file(folder / "r/eval.csv") == csv);
  std::filesystem::remove(folder / "r/eval.csv");
  Program anew(folder, fmt::format("eval {}", folder / "r"));
  CHECK(anew.status() == 0);
  CHECK(read_file(folder / "r/result.json") == before);
  CHECK(read_file(folder / "r/eval.csv") == csv);
  Program room(folder, fmt::format("eval {} --lengths 1:33", folder / "r"));
  CHECK(room.status() == 2);
  CHECK(read_file(folder / "r/result.json") == before);
}

TEST_CASE("a checkpoint that is damaged or from another version is refused, and left unchanged") {
  const TemporaryFolder folder;
  train(folder, folder / "r", {{"steps", "3"}});
  const std::string path = folder / "r/checkpoint.safetensors", good = read_file(path);
  const auto says = [&](const std::string& bytes, int status, const std::string& what) {
    write_file(path, bytes);
    for (const char* command : {"resume ", "eval "}) {
      Program p(folder, command + folder / "r");
      CHECK(p.status() == status);
      CHECK(holds(p.output(), what));
    }
    CHECK(read_file(path) == bytes);
  };
  says(good.substr(0, good.size() / 2), 1, "is damaged");
  std::string flipped = good;
  flipped[good.size() - 5] ^= 4;
  says(flipped, 1, "its checksum is");
  says("", 1, "it is cut off after 0 bytes");
}

TEST_CASE("options come from the file, then the command line, then --set; the run folder keeps them") {
  const TemporaryFolder folder;
  write_file(
      folder / "my.toml",
      "preset = \"example\"\nsteps = 3\nbatch = 4\nseed = 5\neval_lengths = \"1:3\"\neval_samples = 2\nd_model = 8\n"
      "layers = 1\nheads = 2\n");
  Program p(
      folder,
      fmt::format("train --config {} --task even_pairs --encoding rope --batch 3 --seed 6 --set seed=7 "
                  "--positions randomized:unsorted --out {}",
                  folder / "my.toml", folder / "r"));
  const std::string said = p.output();
  CAPTURE(said);
  REQUIRE(p.status() == 0);
  const Choices c = configure(read_toml(read_file(folder / "r/config.toml"), "config.toml"));
  CHECK(c["preset"] == "example");
  CHECK(c.count("steps") == 3);
  CHECK(c.whole("batch") == 3);
  CHECK(c.count("seed") == 7);
  CHECK(c["positions"] == "randomized:unsorted");
  CHECK(c.on("test_dropout"));
  Program again(folder, fmt::format("train --config {} --out {}", folder / "r/config.toml", folder / "s"));
  CHECK(again.status() == 0);
  CHECK(all_of(folder / "r") == all_of(folder / "s"));
}

TEST_CASE("help, lists and version") {
  const TemporaryFolder folder;
  for (const char* words :
       {"help", "--help", "train --help", "help train", "help sweep run", "list tasks", "list encodings",
        "list encodings alibi", "list samplers", "list temperatures", "list curricula", "list presets", "version"}) {
    Program p(folder, words);
    const std::string said = p.output();
    CAPTURE(words);
    CHECK(p.status() == 0);
    CHECK(said.size() > 80);
    if (!holds(words, "list")) continue;
    std::istringstream lines(said);
    for (std::string line; std::getline(lines, line);) CHECK_MESSAGE(line.size() <= 100, line);
  }
  for (const char* words : {"--version", "-v", "-V"}) {
    Program p(folder, words);
    CHECK(p.output().rfind("poslab ", 0) == 0);
    CHECK(p.status() == 0);
  }
  Program train(folder, "train --help");
  for (const ChoiceOption& o : all_choices().options)
    CHECK_MESSAGE(holds(train.output(), dashed(o.option.name)), o.option.name);
}

TEST_CASE("training prints the mean loss and accuracy since its last line") {
  const TemporaryFolder folder;
  const std::string run = folder / "run", log = folder / "log";
  // One slot of each string is scored, so all steps have equal weight.
  const Settings all = overlaid(all_choices(), tiny, {{"task", "even_pairs"}, {"out", run}});
  {
    const LogFile in_place_of_stderr(log);
    train_run(strings_kind(), all, {}, false);
  }
  std::vector<double> losses, accuracies;
  std::istringstream metrics(read_file(run + "/metrics.jsonl"));
  for (std::string line; std::getline(metrics, line);) {
    const auto step = nlohmann::json::parse(line);
    losses.push_back(step["loss"]), accuracies.push_back(step["accuracy"]);
  }
  REQUIRE(losses.size() == 40);
  std::istringstream said(read_file(log));
  size_t from = 0, to = 0;
  for (std::string line; std::getline(said, line);) {
    double loss = 0, accuracy = 0;
    if (std::sscanf(line.c_str(), "training  %zu/40  loss %lf  accuracy %lf %%", &to, &loss, &accuracy) != 3) continue;
    const auto mean = [&](const std::vector<double>& of) {
      return std::accumulate(of.begin() + long(from), of.begin() + long(to), 0.) / double(to - from);
    };
    CAPTURE(line);
    CHECK(std::abs(loss - mean(losses)) < 1e-4);
    CHECK(std::abs(accuracy - 100 * mean(accuracies)) < 0.1);
    from = to;
  }
  CHECK(to == 40);
}

TEST_CASE("a run that needs more memory than there is does not begin") {
  const TemporaryFolder folder;
  const Settings huge =
      overlaid(all_choices(), tiny, {{"d_model", "65536"}, {"layers", "256"}, {"out", folder / "run"}});
  CHECK(holds(refusal([&] { train_run(strings_kind(), huge, {}, false); }), "2: about "));
  CHECK(holds(refusal([&] { train_run(strings_kind(), huge, {}, false); }), "of memory is needed"));
  CHECK(!std::filesystem::exists(folder / "run"));
}
