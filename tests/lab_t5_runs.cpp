// Runs of T5s that find things: training, stopping and going on, tests by place, sweeps and reports.
#include <cmath>

#include "lab/report/report.h"
#include "lab/sweep/sweep.h"
#include "lab/t5/run.h"
#include "tasks/retrieval/symbols.h"
#include "tests/sweep_helpers.h"

using namespace poslab;
using namespace poslab::sweep;
using namespace poslab::test;

namespace {

const Settings tiny_t5 = {
    {"tasks", "passkey/line"},  {"layers", "1"},       {"decoder_layers", "1"}, {"heads", "2"},
    {"d_model", "16"},          {"d_ff", "24"},        {"tokens", "128"},       {"train_length", "24"},
    {"eval_lengths", "24/64"},  {"eval_samples", "8"}, {"steps", "30"},         {"warmup", "5"},
    {"checkpoint_every", "10"}, {"log_every", "5"}};

Choices with(Settings more) {
  Settings all = tiny_t5;
  all.insert(all.end(), more.begin(), more.end());
  return t5::configure(all);
}

std::string words_for(const Settings& settings) {
  std::string text;
  for (const auto& [name, value] : settings) text += fmt::format(" {} {}", dashed(name), value);
  return text;
}

}  // namespace

TEST_CASE("a step of a T5 is of one task and one length, the length grows, and all is decided by seed and step") {
  const Choices c = with({{"steps", "100"}, {"growing", "0.5"}, {"train_length", "64"}, {"tokens", "256"}});
  CHECK(t5::longest(c, 0) == 16);
  CHECK(t5::longest(c, 25) == 32);  // half way, and growing by a factor
  CHECK(t5::longest(c, 50) == 64);
  CHECK(t5::longest(c, 99) == 64);
  CHECK(t5::longest(with({{"growing", "0"}, {"train_length", "64"}}), 0) == 64);
  int of_line = 0;
  for (int64_t step = 0; step < 100; ++step) {
    const t5::Batch batch = t5::draw_batch(c, step), again = t5::draw_batch(c, step);
    const int B = batch.context.shape()[0], T = batch.context.shape()[1], O = batch.read.shape()[1];
    CHECK((T >= 16 && T <= t5::longest(c, step)));
    CHECK(B == 256 / T);
    CHECK(batch.expected.shape() == batch.read.shape());
    for (int64_t i = 0; i < batch.context.size(); ++i) REQUIRE(batch.context[i] == again.context[i]);
    for (int b = 0; b < B; ++b) {
      CHECK(batch.read[b * O] == symbols::pad);
      CHECK(batch.expected[(b + 1) * O - 1] == symbols::end);
      for (int o = 1; o < O; ++o) CHECK(batch.read[b * O + o] == batch.expected[b * O + o - 1]);
    }
    of_line += batch.context[T - 1] >= symbols::name;
  }
  CHECK((of_line > 25 && of_line < 75));
}

TEST_CASE("a T5 learns a task: what it answers is right, and told by the place of the answer") {
  const Choices c = with({{"tasks", "passkey:digits=1"},
                          {"encoding", "t5:sqrt_d"},
                          {"d_model", "32"},
                          {"lr", "0.005"},
                          {"steps", "200"},
                          {"tokens", "512"},
                          {"train_length", "16"},
                          {"eval_samples", "40"}});
  t5::State s(c);
  while (s.adam.step < 200) t5::train_step(s, t5::draw_batch(c, s.adam.step));
  const t5::AtLength at = t5::evaluate(s.net, c, t5::tasks(c)[0], 16);
  CHECK(at.accuracy > 0.9);
  CHECK(at.loss < 0.3);
  double mean = 0;
  for (const double x : at.accuracy_of_place) {
    CHECK(!std::isnan(x));
    mean += x / t5::places;
  }
  CHECK(mean == doctest::Approx(at.accuracy).epsilon(0.1));
  // An untrained one does not answer, and no answer stands where topic never has one.
  const Choices topic = with({{"tasks", "topic"}});
  const t5::State fresh(topic);
  const t5::AtLength none = t5::evaluate(fresh.net, topic, t5::tasks(topic)[0], 24);
  CHECK(none.accuracy < 0.2);
  CHECK(none.accuracy_of_place[0] == none.accuracy);
  for (int p = 1; p < t5::places; ++p) CHECK(std::isnan(none.accuracy_of_place[p]));
}

TEST_CASE("options of a T5's run that do not fit are refused") {
  const auto refused = [](const Settings& more) { return refusal([&] { t5::check(with(more)); }); };
  CHECK(refused({}).empty());
  CHECK(holds(refused({{"tasks", "lines"}}), "unknown retrieval task \"lines\"; did you mean \"line\"?"));
  CHECK(holds(refused({{"shortest", "32"}}), "shortest = 32: train_length is 24"));
  CHECK(holds(refused({{"eval_lengths", "64/64"}}), "64 comes twice"));
  CHECK(holds(refused({{"eval_lengths", "64/65536"}}), "line: a context of 65536 tokens has 16383 lines"));
  CHECK(holds(refused({{"positions", "randomized:max_position=32"}}), "it has positions for 32 tokens"));
  CHECK(holds(refusal([] { t5::State s(with({{"heads", "3"}})); }), "heads = 3: it does not divide d_model = 16"));
  for (const ChoicePreset& p : t5::all_choices().presets) CHECK_NOTHROW(t5::check(t5::configure({{"preset", p.name}})));
}

TEST_CASE("a run of a T5 that is stopped goes on to the same bits; its figures are read as they were written") {
  const TemporaryFolder folder;
  Program straight(folder, "t5 train" + words_for(tiny_t5) + " --threads 1 --out " + folder / "straight");
  REQUIRE_MESSAGE(straight.status() == 0, straight.output());
  {
    t5::Run run = t5::create(with({{"out", folder / "torn"}}));
    while (run.state.adam.step < 10) t5::train_step(run.state, t5::draw_batch(run.state.config, run.state.adam.step));
  }  // stopped before a checkpoint: those steps are done again
  Program resumed(folder, "t5 resume " + folder / "torn" + " --threads 2");
  REQUIRE_MESSAGE(resumed.status() == 0, resumed.output());
  for (const char* file : {"checkpoint.safetensors", "metrics.jsonl", "eval.csv", "config.toml"})
    CHECK(read_file(folder / "straight/" + file) == read_file(folder / "torn/" + file));
  Program complete(folder, "t5 resume " + folder / "torn");
  CHECK(holds(complete.output(), "is complete: 30 steps"));

  const std::string csv = read_file(folder / "torn/eval.csv");
  const std::vector<t5::AtLength> all = t5::read_csv(folder / "torn/eval.csv");
  REQUIRE(all.size() == 4);
  CHECK(all[3].task == "line");
  CHECK(all[3].length == 64);
  CHECK(t5::to_csv(all) == csv);
  write_file(folder / "bad.csv", csv.substr(0, csv.find('\n')) + "\nline,64,8,none,0,0,0,0,0,0,0,0,0\n");
  CHECK(holds(refusal([&] { t5::read_csv(folder / "bad.csv"); }), "line 2 reads \"line,64,8,none"));

  Program other(folder,
                "t5 eval " + folder / "torn" + " --temperature constant:tau=0.5 --lengths 32 -o " + folder / "o.csv");
  CHECK(other.status() == 0);
  CHECK(t5::read_csv(folder / "o.csv")[0].length == 32);
  Program unsaid(folder, "t5 eval " + folder / "torn" + " --temperature constant:tau=0.5");
  CHECK(unsaid.status() == 2);
  CHECK(holds(unsaid.output(), "-o FILE says where the figures go"));
  CHECK(holds(refusal([&] { RunFolder::open(folder / "torn").load(); }), "is of a T5; `poslab t5` reads it"));
}

TEST_CASE("a sweep of T5s is run, collected and reported, with a group for each task") {
  const TemporaryFolder folder;
  std::string toml = "command = \"t5 train\"\nencoding = [\"t5\", \"alibi\"]\n";
  for (const auto& [name, value] : tiny_t5)
    toml += value.find_first_of("/.ae") == std::string::npos ? fmt::format("{} = {}\n", name, value)
                                                             : fmt::format("{} = \"{}\"\n", name, value);
  const Plan plan = make_plan(toml, "sweep.toml");
  REQUIRE(plan.size() == 2);
  CHECK(kind_of(plan) == RunKind::t5);
  write_file(folder / "plan.jsonl", plan_lines(plan));
  CHECK(plan_lines(read_plan(folder / "plan.jsonl")) == plan_lines(plan));
  Program sweep(folder, fmt::format("sweep run {} --out {} --threads 1", folder / "plan.jsonl", folder / "sweep"));
  REQUIRE_MESSAGE(sweep.status() == 0, sweep.output());
  const Collected all = collect(plan, SweepFolder(folder / "sweep"));
  CHECK(all.trials.rows.size() == 2);
  CHECK(all.lengths.rows.size() == 2 * 4);
  CHECK(to_sqlite(all).substr(0, 15) == "SQLite format 3");

  CHECK(report::write({folder / "sweep"}, folder / "report.html").empty());
  const std::string html = read_file(folder / "report.html");
  for (const Trial& t : plan)
    for (const t5::AtLength& at : t5::read_csv(folder / "sweep/" + t.id + "/eval.csv"))
      CHECK(holds(html, fmt::format("data-name=\"loss\">{:.4f}</td>", at.loss)));
  for (const char* chart : {"Accuracy: passkey", "Accuracy: line", "Accuracy by position: line"})
    CHECK(holds(html, chart));
  CHECK(holds(html, "poslab t5 train"));
  Program look(folder, "inspect " + folder / "sweep/" + plan[0].id);
  CHECK(look.status() == 2);
  CHECK(holds(look.output(), "whose runs are not drawn inside"));
}
