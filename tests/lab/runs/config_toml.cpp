// Options: one table, four sources, and the refusals.
#include "core/rounding.h"
#include "experiment/build.h"
#include "experiment/language/language.h"
#include "experiment/learner.h"
#include "experiment/step.h"
#include "lab/runs/checkpoint.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/sweep/plan.h"
#include "lab/runs/values.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;

namespace {

// A value other than the default.
std::string other_value(const Option& o) {
  if (o.kind == Option::Kind::toggle) return o.standard == "on" ? "off" : "on";
  if (!o.words.empty()) return o.words.back() == o.standard ? o.words.front() : o.words.back();
  if (o.kind == Option::Kind::lengths) return "7:9";
  if (o.kind == Option::Kind::number) return "0.123456789";
  return o.kind == Option::Kind::word ? "folder" : o.name == "first_position" ? "1" : "3";
}

}  // namespace

TEST_CASE("every option survives config.toml") {
  for (const ChoiceOption& each : all_choices().options) {
    const Option& o = each.option;
    if (o.name == "preset") continue;
    CAPTURE(o.name);
    RunSpec c(all_choices().standard);
    c.set(o.name, other_value(o));
    CHECK(c[o.name] != o.standard);
    RunSpec whole(c);
    for (const char* name : {"task", "encoding"})
      if (c[name].empty()) whole.set(name, option(name).words.front());
    const RunSpec read(configure(read_toml(to_toml(whole), "config.toml")));
    CHECK(read[o.name] == (each.kept ? c[o.name] : o.standard));
    CHECK(to_toml(read) == to_toml(whole));
  }
}

TEST_CASE("other options win over a preset, in any order") {
  CHECK(configure({{"preset", "paper"}})["steps"] == "2000000");
  CHECK(configure({{"steps", "7"}, {"preset", "paper"}})["steps"] == "7");
  CHECK(configure({{"preset", "example"}}).lengths("eval_lengths").to == 100);
  const RunSpec released(configure({{"preset", "released"}, {"task", "even_pairs"}}));
  check(released);
  CHECK(released["encoding"] == "relative:mode=released");
  CHECK(released["resample"] == "per_layer");
}

TEST_CASE("values that an option cannot have are refused") {
  const auto refused = [](const char* name, const char* text) { return refusal([&] { configure({{name, text}}); }); };
  CHECK(holds(refused("task", "revers_string"), "2: unknown task \"revers_string\"; did you mean \"reverse_string\"?"));
  CHECK(holds(refused("encoding", "relatve"), "did you mean \"relative\"?"));
  CHECK(holds(refused("positions", "randomised"), "did you mean \"randomized\"?"));
  CHECK(holds(refused("curriculum", "unifrom"), "did you mean \"uniform\"?"));
  CHECK(holds(refused("preset", "papr"), "did you mean \"paper\"?"));
  CHECK(holds(refused("max_positon", "3"), "unknown option \"max_positon\"; did you mean \"max_position\"?"));
  CHECK(refused("heads", "eight") == "2: heads = \"eight\" is not a whole number; it takes 1 .. 1024");
  CHECK(refused("heads", "0") == "2: heads = 0 is out of range; it takes 1 .. 1024");
  CHECK(holds(refused("train_length", "0"), "train_length = 0 is out of range"));
  CHECK(holds(refused("eval_lengths", "0:10"), "eval_lengths = 0 is out of range"));
  CHECK(holds(refused("eval_lengths", "10:5"), "eval_lengths = 10:5 is empty, because 5 is less than 10"));
  CHECK(holds(refused("eval_lengths", "5:"), "is not a range of lengths"));
  CHECK(holds(refused("steps", "99999999999999999999"), "out of range"));
  for (const char* lr : {"nan", "inf", "-0.001", "0"}) CHECK(holds(refused("lr", lr), "is out of range"));
  CHECK(holds(refused("dropout", "1"), "out of range"));
  CHECK(holds(refused("causal", "perhaps"), "neither on nor off"));
}

TEST_CASE("a TOML file is refused with its line") {
  const auto refused = [](const char* text) { return refusal([&] { read_toml(text, "my.toml"); }); };
  CHECK(holds(refused("steps = 5\nencodng = \"rope\""),
              "2: my.toml, line 2: unknown option \"encodng\"; did you mean \"encoding\"?"));
  CHECK(holds(refused("steps = 5\n\nlr = nan"), "my.toml, line 3: lr = nan"));
  CHECK(holds(refused("steps = [5]"), "my.toml, line 1: steps is a list of values"));
  CHECK(holds(refused("steps = 5\nsteps ="), "my.toml, line 2"));
  CHECK(refused("steps = 5\nlr = 1e-4\ncausal = true\neval_lengths = \"1:5\"") == "");
}

TEST_CASE("options that do not fit together are refused") {
  const auto refused = [](const Settings& more) { return refusal([&] { check(tiny_config(more)); }); };
  CHECK(refused({}) == "");
  CHECK(refused({{"task", ""}}) != "");
  CHECK(holds(refusal([] { check(RunSpec(configure({{"encoding", "rope"}}))); }), "2: which task?"));
  CHECK(holds(refusal([] { check(RunSpec(configure({{"task", "even_pairs"}}))); }), "2: which encoding?"));
  CHECK(refused({{"heads", "3"}}) == "2: heads = 3 does not divide d_model = 16; try heads = 2");
  CHECK(holds(refused({{"encoding", "rope"}, {"d_model", "6"}}), "2: rope rotates channels in pairs"));
  CHECK(holds(refused({{"encoding", "sincos"}, {"d_model", "7"}, {"heads", "1"}}), "d_model = 7 is odd"));
  // reverse_string has L + L slots: 18 at length 9
  CHECK(holds(refused({{"max_position", "17"}}),
              "2: the longest string of reverse_string has 18 slots at test (eval_lengths = 1:9)"));
  CHECK(refused({{"max_position", "18"}}) == "");
  CHECK(holds(refused({{"max_position", "17"}, {"encoding", "learned"}, {"positions", "sequential"}}),
              "train with max_position = 18"));
  CHECK(refused({{"max_position", "17"}, {"encoding", "rope"}, {"positions", "sequential"}}) == "");
  CHECK(holds(refused({{"max_position", "17"}, {"positions", "sequential"}, {"test_positions", "evenly_spread"}}),
              "at test"));
  // reverse_string has 2 L slots: 1L is the number of slots at the trained length, and the run's sampler computes it
  const RunSpec ours = tiny_config({{"test_positions", "interpolated"}});
  CHECK(ours["test_positions"] == "interpolated:trained=1L");
  CHECK(test_sampler(ours).choices.whole("trained") == 2 * ours.whole("train_length"));
  const RunSpec sharper = tiny_config({{"test_temperature", "log_n"}});
  CHECK(sharper.test_temperature.choices.whole("length") == 2 * sharper.whole("train_length"));
  CHECK(holds(refused({{"encoding", "rope"}, {"positions", "randomized_offsets"}}),
              "2: rope needs a position for each token"));
  CHECK(
      holds(refused({{"encoding", "rope"}, {"test_positions", "randomized_offsets"}}), "use randomized"));
  CHECK(holds(refused({{"positions", "sequential"}, {"encoding", "relative:mode=offset_table"}}),
              "use positions = randomized"));
  CHECK(holds(refused({{"relative_mode", "released"}}),
              "unknown option \"relative_mode\"; did you mean \"encoding\"? It is an option of the scheme"));
  CHECK(holds(refused({{"unsorted", "on"}}),
              "unknown option \"unsorted\"; did you mean \"positions\"? It is an option of the sampler"));
  CHECK(refused({{"temperature", "ssmax"}}) == "");
  CHECK(refused({{"test_temperature", "log_n:length=80,only_longer"}}) == "");
  CHECK(holds(refused({{"test_temperature", "ssmax"}}), "2: test_temperature = ssmax: it learns parameters"));
  CHECK(holds(refused({{"temperature", "logn"}}), "did you mean \"log_n\"?"));
  CHECK(holds(refused({{"test_temperature", "sam"}}), "did you mean \"same\"?"));
}

TEST_CASE("a source gives an option one value, in one spelling or two; a higher source wins") {
  const Settings::value_type pool{"max_position", "60"}, spelled{"positions", "randomized:max_position=50"};
  for (const Settings& both : {Settings{pool, spelled}, Settings{spelled, pool}}) {
    const std::string words = refusal([&] { configure(both); });
    CHECK(holds(words, "2: "));
    CHECK(holds(words, "max_position = 60"));
    CHECK(holds(words, "positions = randomized:max_position=50"));
    CHECK(holds(words, " contradict each other; give max_position one value"));
  }
  const Choices equal =
      configure({{"max_position", "50"}, spelled, {"positions", "randomized"}, {"max_position", "050"}});
  CHECK(to_toml(equal) == to_toml(configure({spelled})));
  CHECK(holds(refusal([] { configure({{"positions", "randomized:first=1"}, {"first_position", "0"}}); }),
              "positions = randomized:first=1 and first_position = 0 contradict"));
  const RunSpec run = tiny_config();
  CHECK(holds(refusal([&] { run.with({{"lr", "1"}, {"lr", "2"}}); }), "lr = 1 and lr = 2 contradict"));
  for (const Kind* kind : all_kinds())
    CHECK(holds(refusal([&] { kind->configure({{"seed", "1"}, {"seed", "2"}}); }), "seed = 1 and seed = 2 contradict"));

  const std::string toml = "positions = \"randomized:max_position=50\"\n\nmax_position = ";
  CHECK(holds(refusal([&] { read_toml(toml + "60", "my.toml"); }),
              "2: my.toml, line 1: max_position = 60 and positions = randomized:max_position=50 contradict"));
  CHECK(configure(read_toml(toml + "50", "my.toml"))["max_position"] == "50");
  const std::string grid = "task = \"even_pairs\"\nencoding = \"rope\"\n" + toml;
  CHECK(holds(refusal([&] { sweep::make_plan(grid + "[50, 60]", "sweep.toml"); }),
              "2: sweep.toml: positions = randomized:max_position=50 and max_position = 60 contradict"));
  CHECK(sweep::make_plan(grid + "50", "sweep.toml").size() == 1);

  const auto pool_of = [](const Settings& below, const Settings& above) {
    return configure(overlaid(all_choices(), below, above))["max_position"];
  };
  CHECK(pool_of({spelled}, {pool}) == "60");
  CHECK(pool_of({pool}, {spelled}) == "50");
  CHECK(pool_of({spelled}, {{"positions", "randomized"}}) == "50");
  CHECK(configure({{"preset", "paper"}, {"positions", "randomized:first=0"}})["first_position"] == "0");
}

TEST_CASE("a pool in a sampler's spelling becomes the run's; other options stay with the sampler") {
  const RunSpec c(configure({{"positions", "randomized:max_position=4096,first=1,unsorted"}}));
  CHECK(c["positions"] == "randomized:unsorted");
  CHECK(c["max_position"] == "4096");
  CHECK(c["first_position"] == "1");
  CHECK(configure({{"preset", "tiny"}, {"positions", "randomized:max_position=2048"}})["max_position"] == "2048");
  const std::string shuffled = to_toml(tiny_config({{"positions", "randomized:unsorted"}}));
  CHECK(configure(read_toml(shuffled, "config.toml"))["positions"] == "randomized:unsorted");
}

TEST_CASE("every option of a run is written, at its default or not, and read again") {
  const RunSpec plain(tiny_config({})), sharp(tiny_config({{"temperature", "log_n:length=80"}}));
  CHECK(holds(to_toml(plain), "\ntemperature = \"none\""));
  CHECK(config_json(plain)["temperature"] == "none");
  CHECK(configure(read_toml(to_toml(sharp), "config.toml"))["temperature"] == "log_n:length=80");
  CHECK(config_of(strings_kind(), config_json(sharp))["temperature"] == "log_n:length=80");
  for (const Kind* kind : all_kinds()) {
    const RunSpec c(kind->configure({}));
    const auto json = config_json(c);
    for (const Option& o : kept_options(*kind)) CHECK(json.contains(o.name));
    CHECK(json.size() == kept_options(*kind).size());
  }
}

TEST_CASE("the engine of products is written, read again, and distinguishes trials") {
  for (const Kind* each : all_kinds()) {
    const Kind& kind = *each;
    const Settings needed =
        kind.table().standard.has("task") ? Settings{{"task", "even_pairs"}, {"encoding", "rope"}} : Settings{};
    const auto with = [&](const char* products) {
      Settings all = needed;
      all.emplace_back("products", products);
      return kind.configure(all);
    };
    const RunSpec plain(kind.configure(needed)), naive(with("naive"));
    CHECK(config_json(naive)["products"] == "naive");
    CHECK(config_json(with("own")) == config_json(plain));
    CHECK(config_json(config_of(kind, config_json(naive))) == config_json(naive));
    CHECK(sweep::trial_id(with("own")) == sweep::trial_id(plain));
    CHECK(sweep::trial_id(naive) != sweep::trial_id(plain));
  }
  CHECK(holds(to_toml(tiny_config({{"products", "naive"}})), "\nproducts = \"naive\""));
  CHECK(holds(to_toml(language::configure({})), "\nproducts = \"own\""));
}

TEST_CASE("a run begins with the default engine of the process, and keeps it when the default changes") {
  const Engine before = default_engine();
  const auto step = [](State& s) {
    return finish_step(s.config, start_step(s, draw_step(s.config, s.adam.step))).loss;
  };
  State own(tiny_config({})), naive(tiny_config({{"products", "naive"}}));
  const double loss = step(own);
  CHECK(loss == doctest::Approx(step(naive)).epsilon(1e-4));
  CHECK(own.adam.m.values() != naive.adam.m.values());
  set_default_engine(Engine::naive);
  CHECK(configure(of_new_run({{"lr", "0.1"}}))["products"] == "naive");
  CHECK(configure(of_new_run({{"products", "own"}}))["products"] == "own");
  State again = checkpoint_state(checkpoint_bytes(State(tiny_config({}))), "test");
  CHECK(again.config["products"] == "own");
  CHECK(step(again) == loss);
  CHECK(again.adam.m.values() == own.adam.m.values());
  CHECK(engine() == Engine::naive);
  set_default_engine(before);
  CHECK(holds(refusal([] { State(tiny_config({{"products", "naive"}, {"matmul", "bf16"}})); }),
              "2: matmul = bf16: products = naive does not round; use products = own, or matmul = fp32"));
}

TEST_CASE("each kind of run rounds the factors of its products by --matmul, in its steps and tests only") {
  if (sizeof(real) == 8) return;  // doubles are not rounded
  auto text = std::make_shared<language::Source>();
  text->grammar = CopyGrammar{.symbols = 6, .clause = 4, .back = 2};
  const std::map<std::string, Settings> small = {
      {"strings", {{"preset", "tiny"}, {"task", "even_pairs"}, {"encoding", "rope"}, {"layers", "1"}}},
      {"language",
       {{"text", "copy_grammar"}, {"layers", "1"}, {"d_model", "32"}, {"d_ff", "48"}, {"train_length", "32"}}},
      {"t5", {{"layers", "1"}, {"decoder_layers", "1"}, {"d_model", "32"}, {"tokens", "128"}, {"train_length", "32"}}},
      {"answering", {{"task", "even_pairs"}, {"layers", "1"}, {"d_model", "32"}, {"batch", "4"}}}};
  for (const Kind* kind : all_kinds()) {
    INFO(kind->name);
    const auto with = [&](const char* matmul, const char* products) {
      Settings all = small.at(kind->name);
      all.emplace_back("matmul", matmul), all.emplace_back("products", products);
      return RunSpec(kind->configure(all));
    };
    const RunSpec plain(with("fp32", "own")), rounded(with("bf16", "own"));
    CHECK(config_json(plain)["matmul"] == "fp32");
    CHECK(config_json(rounded)["matmul"] == "bf16");
    CHECK(sweep::trial_id(rounded) != sweep::trial_id(plain));
    CHECK(holds(refusal([&] { kind->check(with("bf16", "naive")); }), "products = naive does not round"));
    const auto stepped = [&](const RunSpec& c) {
      const auto learner = kind->make(c, text);
      learner->start(learner->draw(0));
      return std::pair(learner->finish(), learner->adam().m.values());
    };
    const auto [exact, exact_m] = stepped(plain);
    const auto [rough, rough_m] = stepped(rounded);
    CHECK(rough.loss == doctest::Approx(exact.loss).epsilon(0.01));
    CHECK(rough_m != exact_m);
    CHECK(cpu_rounding() == Rounding::fp32);
  }
}

TEST_CASE("a randomized relative scheme draws positions or a table of offsets, by its mode") {
  const auto sampled = [](const char* encoding, const char* mode) {
    return sampler(tiny_config({{"encoding", fmt::format("{}:mode={}", encoding, mode)}}))->name;
  };
  CHECK(sampled("relative", "paper") == "randomized");
  CHECK(sampled("relative", "differences") == "randomized");
  CHECK(sampled("relative", "offset_table") == "randomized_offsets");
  CHECK(sampled("relative", "released") == "randomized_offsets");
  CHECK(sampled("alibi", "paper") == "randomized_offsets");
  CHECK(sampled("alibi", "differences") == "randomized");
  CHECK(sampler(tiny_config({{"encoding", "rope"}}))->name == "randomized");
  CHECK(test_sampler(tiny_config({{"encoding", "relative:mode=released"}}))->name == "randomized_offsets");
  CHECK(test_sampler(tiny_config({{"test_positions", "sequential"}}))->name == "sequential");
}

// An id leaves out defaults: if a default changed, the id would mean another run.
TEST_CASE("the defaults of every kind of run have not changed") {
  const auto golden = nlohmann::json::parse(read_file(std::string(source_folder) + "/tests/data/defaults.json"));
  CHECK(golden.size() == all_kinds().size());
  for (const auto& [command, defaults] : golden.items()) {
    const auto now = config_json(kind_of_command(command).configure({}));
    for (const auto& [name, value] : defaults.items()) {
      CAPTURE(command + ": " + name);
      REQUIRE(now.contains(name));
      CHECK(now[name] == value);
    }
  }
}
