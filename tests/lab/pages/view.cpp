// `poslab view`: its tiles hold the engine's attention at every level; checkpoints that are kept.
#include <zlib.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "autograd/tape.h"
#include "core/stop.h"
#include "experiment/attention_maps.h"
#include "experiment/evaluate.h"
#include "lab/pages/view/tiles.h"
#include "lab/pages/view/view.h"
#include "lab/runs/checkpoint.h"
#include "lab/runs/run_folder.h"
#include "tasks/retrieval/symbols.h"
#include "tests/lab/helpers.h"
#include "tests/lab/learners.h"

using namespace poslab;
using namespace poslab::test;
using namespace poslab::view;
namespace fs = std::filesystem;

namespace {

double weight_of(uint8_t code) { return code ? std::exp2((code - 255) / double(codes_an_octave)) : 0; }

// The bytes of poslab_tile("NAME","data:...;base64,BYTES"), by the specifications of base64 and zlib.
std::vector<uint8_t> decoded(const std::string& script, const std::string& name, size_t size) {
  const std::string start = "poslab_tile(\"" + name + "\",\"data:application/octet-stream;base64,", end = "\");\n";
  REQUIRE(script.starts_with(start));
  REQUIRE(script.ends_with(end));
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0, held = 0;
  for (const char c : script.substr(start.size(), script.size() - start.size() - end.size())) {
    if (c == '=') break;
    bits = bits << 6 | uint32_t(digits.find(c)), held += 6;
    if (held >= 8) bytes += char(bits >> (held -= 8) & 255);
  }
  std::vector<uint8_t> codes(size);
  uLongf made = size;
  REQUIRE(uncompress(codes.data(), &made, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) == Z_OK);
  REQUIRE(made == size);
  return codes;
}

std::vector<uint8_t> read_codes(const std::string& out, const std::string& name, const std::string& file, size_t size) {
  return decoded(read_file(out + "/" + file + ".js"), name, size);
}

RunSpec long_config() {
  return tiny_config({{"encoding", "rope"}, {"positions", "sequential"}, {"eval_lengths", "1:2"}, {"steps", "20"}});
}

}  // namespace

TEST_CASE("view: a code is the weight to 2.2 %, or says that it is below 0.000018") {
  CHECK(code_of(0) == 0);
  CHECK(code_of(1) == 255);
  CHECK(code_of(1.00005) == 255);
  CHECK(code_of(1e-30) == 1);
  int last = 1;
  for (double w = 1e-9; w <= 1; w *= 1.001) {
    const int code = code_of(w);
    CHECK(code >= last);
    last = code;
    if (code > 1)
      CHECK(std::abs(weight_of(uint8_t(code)) / w - 1) < 0.022);
    else
      CHECK(w < 0.000018);
    if (w > 0.000018) CHECK(code > 1);
  }
}

TEST_CASE("view: a cell of a coarser level is the maximum of four, also at the edge") {
  const int T = 259;  // odd at every level: 259, 130, 65
  std::vector<real> w(size_t(T * T));
  for (size_t n = 0; n < w.size(); ++n) w[n] = real((n * 7919) % 10007) / real(10007);
  const std::vector<Level> levels = pyramid(w.data(), T);
  REQUIRE(levels.size() == 3);
  for (size_t k = 0; k < levels.size(); ++k) {
    const int side = levels[k].side, block = 1 << k;
    REQUIRE(side == (T + block - 1) / block);
    for (int i = 0; i < side; ++i)
      for (int j = 0; j < side; ++j) {
        real most = 0;
        for (int q = i * block; q < std::min(T, (i + 1) * block); ++q)
          for (int key = j * block; key < std::min(T, (j + 1) * block); ++key)
            most = std::max(most, w[size_t(q * T + key)]);
        REQUIRE(levels[k].codes[size_t(i * side + j)] == code_of(most));
      }
  }
  const Level wide{tile_side + 3, std::vector<uint8_t>(size_t(tile_side + 3) * size_t(tile_side + 3))};
  CHECK(tiles_across(wide) == 2);
  CHECK(tile(wide, 0, 0).size() == size_t(tile_side) * tile_side);
  CHECK(tile(wide, 1, 0).size() == size_t(3) * tile_side);
  Level marked = wide;
  marked.codes[size_t(tile_side + 1) * size_t(marked.side) + tile_side + 2] = 9;
  CHECK(tile(marked, 1, 1) == std::vector<uint8_t>{0, 0, 0, 0, 0, 9, 0, 0, 0});
}

TEST_CASE("view: tiles hold the attention of the engine, at each kept checkpoint") {
  const TemporaryFolder folder;
  State state(long_config());
  RunSpec kept(state.config);
  kept.set("keep_checkpoints", "on");
  state.config = kept;
  {
    const RunFolder run = RunFolder::create(folder / "run", state);
    train(run, state);
    REQUIRE(run.kept_steps() == std::vector<int64_t>{0, 10, 20});
    CHECK(read_file(run.kept_checkpoint(20)) == read_file(run.checkpoint()));
  }
  const std::string out = folder / "seen", again = folder / "again";
  const Options options{.length = 150, .sample = 3, .layers = {2}, .heads = {2, 2}, .steps = {20, 0}};
  const Written written = write({folder / "run"}, options, out);
  CHECK(written.maps == 2);
  double bytes = 0;
  for (const auto& file : fs::recursive_directory_iterator(out))
    if (file.is_regular_file()) bytes += double(file.file_size());
  CHECK(written.bytes == bytes);
  const Batch batch = test_batch(state.config, 150, 2, 1);
  const int T = 300;
  const PositionSample positions = test_draw(state.config, 150, 2, 1, T, batch.tokens);
  for (const int64_t step : {0, 20}) {
    CAPTURE(step);
    const std::string path = folder / fmt::format("run/checkpoints/{}.safetensors", step),
                      at = fmt::format("maps/0/{}", step);
    const std::vector<real> weights =
        attention_of(checkpoint_state(read_file(path), path), batch, positions, 1).values();
    const real* a = weights.data() + T * T;  // the second head
    const std::vector<uint8_t> fine = read_codes(out, at + "/2-2/0-0-0", at + "/2-2/0-0-0", size_t(T * T));
    double worst = 0;
    for (size_t n = 0; n < fine.size(); ++n)
      if (a[n] > 0.000018) worst = std::max(worst, std::abs(weight_of(fine[n]) / double(a[n]) - 1));
    CHECK(worst < 0.022);
    CHECK(worst > 0.01);  // the stated bound is not too wide
    const std::vector<uint8_t> overview = read_codes(out, at, at + "/overview", 75 * 75);
    uint8_t most = 0;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) most = std::max(most, fine[size_t((296 + i) * T + 4 + j)]);
    CHECK(overview[74 * 75 + 1] == most);
  }
  CHECK(read_file(out + "/maps/0/0/overview.js") != read_file(out + "/maps/0/20/overview.js"));
  CHECK_FALSE(fs::exists(out + "/maps/0/10"));
  const std::string page = read_file(out + "/index.html");
  CHECK(holds(page, "--length 150 --sample 3 --layers 2 --heads 2 --steps 0,20 -o " + out));
  CHECK_FALSE(holds(page, "{{"));
  for (const char* outside : {"src=\"http", "href=\"http", "url(http"}) CHECK_FALSE(holds(page, outside));
  write({folder / "run"}, options, again);
  CHECK(read_file(again + "/maps/0/20/overview.js") == read_file(out + "/maps/0/20/overview.js"));
}

TEST_CASE("view: a run with kept checkpoints keeps them after a stop, too, and has the same bits") {
  const TemporaryFolder folder;
  Program plain(folder, "train" + tiny_options() + " --out " + folder / "plain");
  REQUIRE(plain.status() == 0);
  CHECK_FALSE(fs::exists(folder / "plain/checkpoints"));
  RunSpec c(tiny_config());
  c.set("keep_checkpoints", "on");
  State state(c);
  const RunFolder run = RunFolder::create(folder / "kept", state);
  CHECK(read_file(run.file("config.toml")) == read_file(folder / "plain/config.toml"));
  CHECK(run.kept_steps() == std::vector<int64_t>{0});  // kept from the first step on, without an entry in config.toml
  RunSpec half(tiny_config());
  half.set("steps", "20");
  state.config = half;
  train(run, state);
  CHECK(run.kept_steps() == std::vector<int64_t>{0, 10, 20});
  state.config = tiny_config();  // as a resume reads it: without the option
  train(run, state);
  CHECK(run.kept_steps() == std::vector<int64_t>{0, 10, 20, 30, 40});
  CHECK(read_file(run.checkpoint()) == read_file(folder / "plain/checkpoint.safetensors"));
  CHECK(read_file(run.kept_checkpoint(40)) == read_file(run.checkpoint()));
  std::ofstream(run.file("checkpoints/note.txt")) << "no checkpoint";
  CHECK(run.kept_steps().size() == 5);
}

TEST_CASE("view: a kept checkpoint of another run, or of another step than its name says, is refused by name") {
  const TemporaryFolder folder;
  RunSpec c(tiny_config({{"steps", "20"}}));
  c.set("keep_checkpoints", "on");
  State state(c);
  train(RunFolder::create(folder / "run", state), state);
  const std::string run = folder / "run", zero = run + "/checkpoints/0.safetensors", own = read_file(zero),
                    out = folder / "out";
  const auto says = [&](const std::string& bytes) {
    write_file(zero, bytes);
    return refusal([&] { write({run}, {}, out); });
  };
  CHECK(says(read_file(run + "/checkpoints/10.safetensors")) ==
        "2: " + zero + " is of step 10, but its name says 0; restore the file from a copy, or remove it");
  CHECK(holds(says(checkpoint_bytes(State(tiny_config({{"steps", "20"}, {"seed", "7"}})))),
              "2: " + zero + " belongs to another run: it has seed = 7, this run has "));
  CHECK_FALSE(fs::exists(out));
  CHECK(says(own) == "");
}

TEST_CASE("view: two runs, runs that do not fit together, and a folder that is complete or missing") {
  const TemporaryFolder folder;
  RunFolder::create(folder / "a", State(long_config()));
  RunFolder::create(folder / "b", State(tiny_config({{"task", "even_pairs"}, {"encoding", "alibi"}})));
  const std::string a = folder / "a", b = folder / "b", out = folder / "deep/out";
  CHECK(holds(refusal([&] { write({a, b}, {}, out); }), "has 12 slots here, and " + b + " has 7"));
  CHECK(holds(refusal([&] { write({a}, {.length = 3000}, out); }), "has 6000 slots here, and a map has at most 4096"));
  CHECK(holds(refusal([&] { write({a}, {.layers = {3}}, out); }), "--layers 3: " + a + " has 1 to 2"));
  CHECK(holds(refusal([&] { write({a}, {.steps = {7}}, out); }), "--steps 7: " + a + " has checkpoints of steps 0;"));
  CHECK(holds(refusal([&] { write({a}, {}, a); }), "exists already"));
  CHECK_FALSE(fs::exists(folder / "deep"));
  CHECK(write({a, a}, {}, out).maps == 8);
  for (const char* run : {"0", "1"}) CHECK(fs::exists(fmt::format("{}/maps/{}/0/overview.js", out, run)));
  CHECK_FALSE(fs::exists(out + ".partial"));
  const std::string begun = folder / "begun";
  std::ofstream(begun + ".partial") << "of somebody";
  CHECK(holds(refusal([&] { write({a}, {}, begun); }), begun + ".partial exists already; choose another"));
  CHECK(read_file(begun + ".partial") == "of somebody");
  CHECK(holds(refusal([&] { write({a}, {}, ""); }), "Give -o FOLDER"));
}

TEST_CASE("view: a stop while maps are drawn leaves nothing") {
  const TemporaryFolder folder;
  RunFolder::create(folder / "run", State(long_config()));
  const std::string out = folder / "out";
  std::thread stopper([&] {
    while (!fs::exists(out + ".partial") && !fs::exists(out)) std::this_thread::yield();
    stop_requested = true;
  });
  CHECK_THROWS_AS(write({folder / "run"}, {.length = 1000}, out), Stopped);
  stopper.join();
  stop_requested = false;
  CHECK_FALSE(fs::exists(out));
  CHECK_FALSE(fs::exists(out + ".partial"));
}

TEST_CASE("view: the input of a T5 is its test's, of the first of its tasks") {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  const RunSpec c(t5::configure({{"tasks", "passkey:digits=1/line"},
                                 {"layers", "1"},
                                 {"decoder_layers", "1"},
                                 {"heads", "2"},
                                 {"d_model", "16"},
                                 {"d_ff", "24"},
                                 {"tokens", "64"},
                                 {"train_length", "40"},
                                 {"eval_lengths", "40"},
                                 {"eval_samples", "5"},
                                 {"out", run}}));
  create_run(c);
  const t5::Batch all = t5::test_batch(c, t5::retrievals(RunSpec(c))[0], 40, {0, 5, 5});  // as t5::evaluate asks them
  for (int sample = 1; sample <= 5; ++sample) {
    const Subject s = view::open(run, {.sample = sample});
    CHECK(s.heading == "passkey:digits=1");
    std::vector<std::string> asked;
    for (int t = 0; t < 40; ++t) asked.push_back(symbols::written({all.context[(sample - 1) * 40 + t]}));
    CHECK(s.symbols == asked);
  }
  const std::string refused = refusal([&] { view::open(run, {.sample = 6}); });
  CHECK(holds(refused, "--sample 6: the test has 5"));
}
