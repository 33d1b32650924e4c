// The cross of temperatures and randomized positions (lab/papers/chi2023/cross.cpp): its plan, its measurements of a
// model, and its tables from small trained runs.
#include <cmath>
#include <set>

#include "lab/papers/chi2023/chi2023.h"
#include "lab/papers/reproduce.h"
#include "tests/lab_helpers.h"

using namespace poslab;
using namespace poslab::reproduce;
using namespace poslab::test;
using chi2023::Moved;

namespace {

Choices small(const std::string& encoding, const std::string& positions) {
  return tiny_config({{"task", "reverse_string"},
                      {"encoding", encoding},
                      {"positions", positions},
                      {"train_length", "4"},
                      {"eval_lengths", "1:12"},
                      {"max_position", "60"},
                      {"eval_samples", "4"}});
}

}  // namespace

TEST_CASE("chi2023: the cross has every scheme, plain and randomized, and those without a temperature are known runs") {
  std::set<std::string> known;
  for (const Trial& t : all_trials(plan({{"ruoss2023:table1"}, "tiny", {}, {}, {}}))) known.insert(t.id);
  const Plan all = all_trials(plan({{"chi2023:cross"}, "tiny", {}, {}, {}}));
  CHECK(all.size() == 4 * 6 * 2 * (3 + 1) * 3);
  size_t shared = 0;
  for (const Trial& t : all) {
    CHECK(t.impossible == "");
    shared += known.count(t.id);
  }
  CHECK(shared == 4 * 4 * 2 * 3);  // sin/cos, relative, ALiBi and RoPE
  for (const Artifact* a : artifacts({"chi2023"})) CHECK(a->name != "chi2023:cross");
}

TEST_CASE("chi2023: what can be moved, and what moving nothing or everything gives") {
  const auto can = [](const char* encoding, const char* positions, Moved m) {
    return chi2023::can_move(small(encoding, positions), m);
  };
  CHECK(can("rope", "sequential", Moved::positions));
  CHECK_FALSE(can("rope", "sequential", Moved::gaps));
  CHECK_FALSE(can("rope", "randomized", Moved::positions));
  CHECK(can("rope", "randomized", Moved::gaps));
  CHECK_FALSE(can("alibi", "sequential", Moved::positions));
  CHECK(can("alibi", "randomized", Moved::keys));

  for (const char* positions : {"sequential", "randomized"}) {
    const State s(small("none", positions));  // without positions they cannot matter
    const double home = chi2023::accuracy_moved(s, Moved::nothing);
    CHECK(chi2023::accuracy_moved(s, Moved::positions) == home);
    CHECK(chi2023::accuracy_moved(s, Moved::gaps) == home);
    CHECK(chi2023::accuracy_moved(s, Moved::length) == accuracy_at(s, 12, gap_shift::strings(s.config)));
  }
  const State s(small("rope", "sequential"));
  CHECK(s.config["test_temperature"] == "same");
  for (const char* policy : {"log", "pmax", "entropy"}) {
    const double beyond = chi2023::accuracy_beyond(s, policy);
    CHECK(beyond >= 0);
    CHECK(beyond <= 1);
  }
}

TEST_CASE("chi2023: the cross from trained runs, and again from what was measured") {
  const TemporaryFolder folder;
  const std::string out = folder / "out",
                    words = "reproduce chi2023:cross --tasks even_pairs --out " + out +
                            " --jobs 2 --threads 1 --set seeds=2 --set steps=2 --set layers=1 --set heads=2 "
                            "--set d_model=16 --set batch=4 --set eval_samples=2 --set train_length=4 "
                            "--set eval_lengths=1:8 --set max_position=40";
  Program program(folder, words);
  CAPTURE(program.output());
  CHECK(program.status() == 0);
  const std::string text = read_file(out + "/cross.md");
  CHECK_FALSE(holds(text, "nan"));
  CHECK_FALSE(holds(text, "could not be drawn"));
  CHECK(holds(text, "Does sharper attention add to randomized positions?"));
  CHECK(holds(text, "| RoPE, randomized |"));
  CHECK(holds(text, "What moves accuracy at the trained length, plain positions, points lost: positions "));
  const std::string table = read_file(out + "/cross.csv");
  CHECK(holds(table, "even_pairs,T5,randomized,entropy,2,"));
  CHECK(holds(table, "even_pairs,RoPE,sequential,loss: number of keys,2,"));
  CHECK_FALSE(holds(table, "even_pairs,ALiBi,randomized,loss: gaps"));
  const std::string before = read_file(out + "/README.md");
  for (const auto& run : std::filesystem::directory_iterator(out + "/runs"))
    if (run.is_directory()) std::filesystem::remove(run.path() / "checkpoint.safetensors");
  Program again(folder, words + " --draw");
  CHECK(again.status() == 0);
  CHECK(read_file(out + "/README.md") == before);

  // What was measured of one model is not taken for another's.
  std::vector<std::string> measured;
  for (const auto& run : std::filesystem::directory_iterator(out + "/runs"))
    if (const std::string file = run.path() / "cross.json"; std::filesystem::exists(file)) measured.push_back(file);
  REQUIRE(measured.size() > 1);
  write_file(measured[0], read_file(measured[1]));
  const std::string other = std::filesystem::path(measured[1]).parent_path().filename();
  Program strange(folder, words + " --draw");
  CHECK(holds(read_file(out + "/cross.md") + strange.output(),
              measured[0] + " is of the trial \"" + other + "\"; remove it, and the model is tested again"));
}
