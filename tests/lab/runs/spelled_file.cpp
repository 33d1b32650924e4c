// Positions and biases from files of the user: the run keeps the numbers, and errors name the line.
#include <fstream>

#include "experiment/build.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/spelled_file.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;

TEST_CASE("a file of positions becomes the numbers in it, on the command line and in a file of options") {
  const TemporaryFolder folder;
  const std::string path = folder / "positions.txt";
  std::ofstream(path) << "0 1\n2.5\n\n\t7\r\n";
  CHECK(with_spelled_file("positions", "given:at=@" + path) == "given:at=0 1 2.5 7");
  CHECK(with_spelled_file("test_positions", "rope|given:at=@" + path + "|x") == "rope|given:at=0 1 2.5 7|x");
  CHECK(with_spelled_file("positions", "given:at=0 3") == "given:at=0 3");
  CHECK(with_spelled_file("out", "a=@b") == "a=@b");
  CHECK(refusal([&] { with_spelled_file("positions", "given:at=" + path); }) ==
        "2: at=" + path + ": a file is named with @, as in at=@" + path);
  CHECK(holds(refusal([&] { with_spelled_file("encoding", "rope|calibrated:of=" + path + "|alibi"); }),
              "2: of=" + path + ": a file is named with @"));
  CHECK(holds(refusal([&] { with_spelled_file("temperature", "aligned:of=" + path); }), "as in of=@" + path));
  const std::string toml = "task = \"even_pairs\"\nencoding = \"rope\"\npositions = \"given:at=@" + path + "\"";
  const RunSpec c(configure(read_toml(toml, "c.toml", strings_kind(), SpelledFiles::read)));
  CHECK(c["positions"] == "given:at=0 1 2.5 7");
  CHECK(configure(read_toml(to_toml(c), "config.toml"))["positions"] == c["positions"]);

  // Spellings in a run's file, or in an untrusted file, do not read other files.
  CHECK(configure(read_toml(toml, "config.toml"))["positions"] == "given:at=@" + path);
  Rng rng(stream(1, Purpose::init, 0, 0));
  CHECK_THROWS_AS(sample(choose_sampler("given:at=@" + path), {.sequences = 1, .time = 2}, rng), BadInput);
  CHECK_THROWS_AS(read_toml("temperature = \"aligned:" + path + "\"", "config.toml"), BadInput);

  const auto refused = [&](const std::string& text) -> std::string {
    std::ofstream(path) << text;
    return refusal([&] { with_spelled_file("positions", "given:at=@" + path); });
  };
  CHECK(refused("0\n1\nnan\n") ==
        "2: " + path + ", line 3: position 1 = nan is out of range; it takes -1e9 .. 1e9; a file of positions has one "
                       "number for each slot");
  CHECK(holds(refused("0 1 x\n"), "line 1: position 3 = \"x\" is not a number"));
  CHECK(holds(refused("\n"), "0 positions; a file of positions has one for each slot"));
  CHECK_THROWS_AS(with_spelled_file("positions", "given:at=@" + (folder / "none.txt")), BadInput);
  const RunSpec few(configure({{"task", "even_pairs"}, {"encoding", "rope"}, {"positions", "given:at=0 1 2"}}));
  CHECK_THROWS_WITH_AS(check(few),
                       "the longest string of even_pairs has 41 slots in training (train_length = 40), output slots "
                       "included, but the list of given ends after 3; add positions, one for each slot, or take "
                       "shorter strings", BadInput);
}

TEST_CASE("a file of biases becomes the numbers in it, also in a composition") {
  const TemporaryFolder folder;
  const std::string path = folder / "biases.txt";
  std::ofstream(path) << "# from somewhere\n1.1 -3:0.25 0:0.5\r\n1.2\t# none\n";
  CHECK(with_spelled_file("encoding", "calibrated:of=@" + path) == "calibrated:of=1.1 -3:0.25 0:0.5 1.2");
  CHECK(with_spelled_file("encoding", "rope*2+calibrated:of=@" + path + "*2|none") ==
        "rope*2+calibrated:of=1.1 -3:0.25 0:0.5 1.2*2|none");
  std::ofstream(path) << "1.1 0:x\n";
  CHECK(refusal([&] { with_spelled_file("encoding", "calibrated:of=@" + path); }) ==
        "2: " + path + ": the bias of 0:x = \"x\" is not a number; it takes -500 .. 500; `poslab calibrate` writes "
                       "such files");
  const std::string positions = folder / "positions.txt";
  std::ofstream(positions) << "0 1\n";
  CHECK(with_spelled_file("positions", "given:at=@" + positions + "|given:at=@" + positions) ==
        "given:at=0 1|given:at=0 1");
}

TEST_CASE("a file of biases has at most 100,000 numbers, counting all heads") {
  const TemporaryFolder folder;
  const std::string path = folder / "biases.txt";
  const auto heads_of = [&](int numbers) {
    std::string text;
    for (const char* head : {"1.1", "1.2"}) {
      text += head;
      for (int slot = 0; slot < numbers; ++slot) text += fmt::format(" -{}:1", slot);
      text += "\n";
    }
    write_file(path, text);
    return refusal([&] { with_spelled_file("encoding", "calibrated:of=@" + path); });
  };
  CHECK(heads_of(50000).empty());
  CHECK(holds(heads_of(50001), path + ": 100002 numbers, but a run keeps at most 100000"));
}
