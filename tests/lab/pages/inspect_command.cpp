// `poslab inspect`: the folder that it writes, and what it refuses.
#include <fstream>

#include "lab/pages/inspect/inspect.h"
#include "lab/runs/run_folder.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;
namespace fs = std::filesystem;

TEST_CASE("inspect: two runs on one page, and their numbers in files") {
  const TemporaryFolder folder;
  for (const auto& [name, positions] : {std::pair{"plain", "sequential"}, {"random", "randomized"}})
    RunFolder::create(folder / name, State(tiny_config({{"positions", positions}})));
  fs::create_directories(folder / "again");
  RunFolder::create(folder / "again/random", State(tiny_config({{"seed", "1"}})));
  const std::string out = folder / "seen/from/inside";
  Program inspect(folder,
                  fmt::format("inspect {0}/plain {0}/random {0}/again/random/ --lengths 6,8,20 --samples 4 -o {1}",
                              folder.path, out));
  CHECK(inspect.status() == 0);
  CHECK(inspect.output() == out + "/index.html\n");
  std::vector<std::string> files;
  for (const auto& file : fs::directory_iterator(out)) files.push_back(file.path().filename());
  std::sort(files.begin(), files.end());
  CHECK(files == std::vector<std::string>{"attention.npz", "biases.csv", "coverage.csv", "dispersion.csv", "index.html",
                                          "logits.csv", "pca.csv", "pca.npz"});
  const std::string html = read_file(out + "/index.html"), csv = read_file(out + "/pca.csv");
  CHECK(holds(html, "Inside 3 runs"));
  CHECK(holds(html, "**Reverse string, positions=sequential**"));  // as a report names them
  for (int seed : {0, 1}) CHECK(holds(html, fmt::format("**Reverse string, positions=randomized, seed {}**", seed)));
  CHECK(holds(html, "--lengths 6,8,20 --samples 4 -o " + out));
  CHECK(holds(html, "const $chart = "));
  CHECK_FALSE(holds(html, "{{"));
  for (const char* text : {" nan", ">nan"}) CHECK_FALSE(holds(html, text));  // base64 may have these letters
  CHECK_FALSE(holds(html, "src=\"http"));                                    // nothing is loaded from elsewhere
  CHECK_FALSE(holds(html, "href=\"http"));
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 1 + 3 * 2 * 3);
  CHECK(holds(csv, "\nplain,1,6,24,"));
  CHECK(holds(csv, "\nrandom-3,2,20,80,"));
  CHECK(holds(read_file(out + "/coverage.csv"), "\nplain,distance,length 20,39,1,0\n"));
  CHECK(holds(read_file(out + "/attention.npz"), "random-3/layer2/length20.npy"));
  CHECK(holds(read_file(out + "/pca.npz"), "plain/layer1/axes.npy"));

  const std::string odd = folder / "a run";  // names may collide: the third run would be run-3
  RunFolder::create(odd, State(tiny_config()));
  fs::create_directories(folder / "two");
  for (const char* name : {"random-3", "two/random"}) RunFolder::create(folder / name, State(tiny_config()));
  inspect::write({folder / "random-3", folder / "random", folder / "two/random", odd}, {6}, 4, out + "2", "cpu");
  const std::string keys = read_file(out + "2/pca.csv"), again = read_file(out + "2/index.html");
  CHECK(holds(keys, "\nrandom-3,1,6,"));
  CHECK(holds(keys, "\nrandom-4,1,6,"));
  CHECK(holds(again, "'" + odd + "' --lengths 6 --device cpu --samples 4 -o "));
  CHECK(holds(again, "Outside: ("));
  CHECK(holds(again, "**Reverse string, relative (randomized), " + (folder / "two/random")));

  const std::string before = html;
  inspect::write({folder / "plain", folder / "random", (folder / "again/random") + "/"}, {6, 8, 20}, 4, out);
  CHECK(read_file(out + "/index.html") == before);  // the same bits again
}

TEST_CASE("inspect: an impossible request is refused in one line, and nothing is written") {
  const TemporaryFolder folder;
  RunFolder::create(folder / "run", State(tiny_config()));
  const std::string run = folder / "run", out = folder / "out";
  const auto refused = [&](const std::string& arguments) {
    Program program(folder, "inspect " + arguments + " -o " + out);
    const std::string said = program.output();
    CHECK(std::count(said.begin(), said.end(), '\n') == 1);
    CHECK_FALSE(fs::exists(out));
    return fmt::format("{}: {}", program.status(), said);
  };
  CHECK(holds(refused(folder / "none"), "2: poslab: there is no run folder"));
  CHECK(holds(refused(folder.path), "is not a run folder"));
  CHECK(holds(refused(run + " --lengths 6,40"), "2: poslab: inspect: length 40 of reverse_string takes 80 slots"));
  for (const char* lengths : {"6,", "six", "6;9", ",6", "6,,9", "99999999999"})
    CHECK(holds(refused(fmt::format("{} --lengths '{}'", run, lengths)), "is not a list of lengths"));
  CHECK(holds(refused(run + " --lengths 0"), "ask for 1 to"));
  CHECK(holds(refused(run + " --samples 0"), "samples"));
  CHECK(holds(refused(run + " --sample 3"), "did you mean \"--samples\""));
  CHECK(holds(refused(run + " --device none"), "device"));
  CHECK(holds(refused(""), "runs"));
  std::ofstream(folder / "taken") << "a file";
  CHECK(holds(refusal([&] { inspect::write({run}, {}, 2, folder / "taken"); }), "2: cannot make the folder"));
}
