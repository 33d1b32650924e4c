// `poslab align`: the file that it writes, who takes it, and what is refused.
#include "lab/align.h"
#include "lab/run_folder.h"
#include "lab/spelled_file.h"
#include "tests/lab_helpers.h"

using namespace poslab;
using namespace poslab::test;

TEST_CASE("align: the file of a run is the temperature of that run, spelled out") {
  const TemporaryFolder folder;
  const std::string file = folder / "t.json";
  State state(tiny_config());
  RunFolder::create(folder / "run", state);
  AlignRequest request{.run = folder / "run", .how = {.shortest = 4, .longer = {8, 16}}, .samples = 2};
  request.how.per = AlignPer::layer;
  const Alignment made = write_alignment(request, file);
  const std::string spelled = with_spelled_file("test_temperature", "aligned:" + file);
  CHECK(spelled == "aligned:of=" + text_of(made.temperatures));
  CHECK(with_spelled_file("temperature", "aligned:of=@" + file) == spelled);
  CHECK(with_spelled_file("test_temperature", spelled) == spelled);
  CHECK(with_spelled_file("test_temperature", "log_n") == "log_n");
  CHECK(read_alignment(file).lengths.size() == 2);
  CHECK(read_alignment(file).lengths[1].tau.size() == size_t(state.config.layers));
  set(state.config, option("test_temperature"), spelled);
  CHECK_NOTHROW(state.test_net());
  State other(tiny_config({{"seed", "9"}}));
  set(other.config, option("test_temperature"), spelled);
  CHECK(holds(refusal([&] { other.test_net(); }), "it is of weights " + made.temperatures.weights));
}

TEST_CASE("align: what is no file of temperatures is refused by its name, and a run that has a temperature") {
  const TemporaryFolder folder;
  const std::string file = folder / "t.json";
  for (const char* text :
       {"", "{", "[]", "{\"format\": \"poslab alignment 0\"}", "{\"format\": \"poslab alignment 1\"}",
        "{\"format\": \"poslab alignment 1\", \"model\": {\"layers\": 1, \"heads\": 1, "
        "\"weights\": \"00000000\"}, \"short\": {\"keys\": 8}, \"long\": [{\"keys\": 4, "
        "\"temperature\": [0.5]}]}"}) {
    write_file(file, text);
    CHECK(holds(refusal([&] { read_alignment(file); }), file + " is no file of temperatures"));
  }
  RunFolder::create(folder / "sharp", State(tiny_config({{"temperature", "log_n"}})));
  CHECK(holds(refusal([&] { write_alignment({.run = folder / "sharp", .how = {.shortest = 4, .longer = {8}}}, file); }),
              "was trained with temperature = log_n"));
}
