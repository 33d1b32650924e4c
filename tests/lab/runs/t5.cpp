// Runs of T5s on retrieval: training, stopping and continuing, tests by place of the answer, sweeps and reports.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "experiment/t5/inside.h"
#include "lab/pages/report/report.h"
#include "lab/runs/other_test.h"
#include "lab/runs/sweep/sweep.h"
#include "lab/runs/t5/questions.h"
#include "tasks/retrieval/symbols.h"
#include "tests/lab/learners.h"
#include "tests/lab/runs/sweep/helpers.h"

using namespace poslab;
using namespace poslab::sweep;
using namespace poslab::test;

namespace {

const Settings tiny_t5 = {
    {"tasks", "passkey/line"},  {"layers", "1"},       {"decoder_layers", "1"}, {"heads", "2"},
    {"d_model", "16"},          {"d_ff", "24"},        {"tokens", "128"},       {"train_length", "24"},
    {"eval_lengths", "24/64"},  {"eval_samples", "8"}, {"steps", "30"},         {"warmup", "5"},
    {"checkpoint_every", "10"}, {"log_every", "5"}};

RunSpec with(const Settings& more) { return RunSpec(t5::configure(overlaid(t5::all_choices(), tiny_t5, more))); }

std::string words_for(const Settings& settings) {
  std::string text;
  for (const auto& [name, value] : settings) text += fmt::format(" {} {}", dashed(name), value);
  return text;
}

}  // namespace

TEST_CASE("tasks take turns within a step of a T5, lengths grow from step to step; seed and step determine all of it") {
  const RunSpec c(with({{"tasks", "passkey:digits=1/line"},
                          {"steps", "100"},
                          {"growing", "0.5"},
                          {"train_length", "64"},
                          {"tokens", "256"}}));
  CHECK(t5::longest(c, 0) == 16);
  CHECK(t5::longest(c, 25) == 23);  // half of the steps that grow, a quarter of the logarithm: 16 * 4^(1/4)
  CHECK(t5::longest(c, 50) == 64);
  CHECK(t5::longest(c, 99) == 64);
  CHECK(t5::longest(with({{"growing", "0"}, {"train_length", "64"}}), 0) == 64);
  for (int64_t step = 0; step < 100; ++step) {
    const t5::Batch batch = t5::draw_batch(c, step), again = t5::draw_batch(c, step);
    const int B = batch.context.shape()[0], T = batch.context.shape()[1], O = batch.read.shape()[1];
    CHECK((T >= 16 && T <= t5::longest(c, step)));
    CHECK(B == 256 / T);
    CHECK(batch.expected.shape() == batch.read.shape());
    for (int64_t i = 0; i < batch.context.size(); ++i) REQUIRE(batch.context[i] == again.context[i]);
    CHECK(O == 3);  // two digits and an end token, or one digit and two end tokens
    for (int b = 0; b < B; ++b) {
      const bool of_line = batch.context[(b + 1) * T - 1] >= symbols::name;
      CHECK(of_line == ((step + b) % 2 == 1));
      CHECK(batch.read[b * O] == symbols::pad);
      CHECK((batch.expected[b * O + 1] == symbols::end) == !of_line);
      CHECK(batch.expected[(b + 1) * O - 1] == symbols::end);
      for (int o = 1; o < O; ++o) CHECK(batch.read[b * O + o] == batch.expected[b * O + o - 1]);
    }
  }
}

TEST_CASE("a T5 learns a task: its answers are right, and counted by the place of the answer") {
  const RunSpec c(with({{"tasks", "passkey:digits=1"},
                          {"encoding", "t5:sqrt_d"},
                          {"d_model", "32"},
                          {"lr", "0.005"},
                          {"steps", "200"},
                          {"tokens", "512"},
                          {"train_length", "16"},
                          {"eval_samples", "40"}}));
  t5::State s(c);
  while (s.adam.step < 200) t5::train_step(s, t5::draw_batch(c, s.adam.step));
  const t5::AtLength at = t5::evaluate(s.net, c, t5::retrievals(RunSpec(c))[0], 16);
  CHECK(at.accuracy > 0.9);
  CHECK(at.loss < 0.3);
  double mean = 0;
  for (const double x : at.accuracy_of_place) {
    CHECK(!std::isnan(x));
    mean += x / t5::places;
  }
  CHECK(mean == doctest::Approx(at.accuracy).epsilon(0.1));
  // An untrained model gives no answer. If topic has no answer at a place, there is no accuracy.
  const RunSpec topic(with({{"tasks", "topic"}}));
  const t5::State fresh(topic);
  const t5::AtLength none = t5::evaluate(fresh.net, topic, t5::retrievals(RunSpec(topic))[0], 24);
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
  for (const ChoicePreset& p : t5::all_choices().presets)
    CHECK_NOTHROW(t5::check(RunSpec(t5::configure({{"preset", p.name}}))));
}

TEST_CASE("a stopped run of a T5 continues to the same bits; its figures are read as they were written") {
  const TemporaryFolder folder;
  Program straight(folder, "t5 train" + words_for(tiny_t5) + " --threads 1 --out " + folder / "straight");
  REQUIRE_MESSAGE(straight.status() == 0, straight.output());
  {
    const Run run = create_run(with({{"out", folder / "torn"}}));
    while (run.learner->adam().step < 10) run.learner->start(run.learner->draw(run.learner->adam().step));
  }  // stopped before a checkpoint: these steps are repeated
  Program resumed(folder, "t5 resume " + folder / "torn" + " --threads 2");
  REQUIRE_MESSAGE(resumed.status() == 0, resumed.output());
  for (const char* file : {"checkpoint.safetensors", "metrics.jsonl", "eval.csv", "config.toml"})
    CHECK(read_file(folder / "straight/" + file) == read_file(folder / "torn/" + file));
  Program complete(folder, "t5 resume " + folder / "torn");
  CHECK(holds(complete.output(), "is complete: 30 steps"));

  const std::string csv = read_file(folder / "torn/eval.csv");
  const Results all = read_results(folder / "torn/eval.csv", t5_kind());
  REQUIRE(all.size() == 4);
  CHECK(all[3].word("task") == "line");
  CHECK(all[3].length() == 64);
  CHECK(poslab::to_csv(all) == csv);
  write_file(folder / "bad.csv", csv.substr(0, csv.find('\n')) + "\nline,64,8,none,0,0,0,0,0,0,0,0,0\n");
  CHECK(holds(refusal([&] { read_results(folder / "bad.csv", t5_kind()); }), "line 2 reads \"line,64,8,none"));

  Program other(folder,
                "t5 eval " + folder / "torn" + " --temperature constant:tau=0.5 --lengths 32 -o " + folder / "o.csv");
  CHECK(other.status() == 0);
  CHECK(read_results(folder / "o.csv", t5_kind())[0].length() == 32);
  Program unsaid(folder, "t5 eval " + folder / "torn" + " --temperature constant:tau=0.5");
  CHECK(unsaid.status() == 0);
  CHECK(holds(unsaid.output(), "not kept, because it is another model than the run's: --name NAME keeps it in "));
  CHECK(read_file(folder / "torn/eval.csv") == csv);
  CHECK(other_tests(folder / "torn").empty());
  Program longer(folder, "t5 eval " + folder / "torn" + " --lengths 32 --samples 4");
  CHECK(longer.status() == 0);
  Program sharper(folder, "t5 eval " + folder / "torn" + " --temperature constant:tau=0.5 --name sharper");
  CHECK(sharper.status() == 0);
  CHECK(other_tests(folder / "torn") == std::vector<std::string>{"lengths-32-samples-4", "sharper"});
  CHECK(read_file(folder / "torn/eval.csv") == csv);
  report::write({folder / "torn"}, folder / "torn.html");
  const std::string html = read_file(folder / "torn.html");
  for (const char* part : {"[test_temperature=constant:tau=0.5]", "[eval_lengths=32 eval_samples=4]",
                           "--temperature constant:tau=0.5 --name sharper"})
    CHECK_MESSAGE(holds(html, part), part);
  CHECK(holds(refusal([&] { RunFolder::open(folder / "torn").load(); }), "is of a T5; `poslab t5` reads it"));
}

TEST_CASE("another encoding at test reads the positions that are drawn for it, not those of the trained one") {
  const TemporaryFolder folder;
  const RunSpec c(with({{"encoding", "none"}, {"positions", "randomized:max_position=256"}, {"out", folder / "run"}}));
  const std::string other = "alibi:mode=offset_table";
  RunSpec as_other(c);
  as_other.set("encoding", other);
  const auto drawn = [](const RunSpec& of) {
    return sampler_for(choose_encoding(of["encoding"]), choose_sampler(of["positions"]))->name;
  };
  REQUIRE(drawn(c) != drawn(as_other));  // one draws positions of tokens, the other a table of offsets
  create_run(c);
  const T5 net = open_as<t5::QuestionLearner>(t5_kind(), folder / "run")
                     .learner->state.net.with_encoding(choose_encoding(other));
  Results all;
  const RunSpec run(c);
  for (const Chosen<Retrieval>& task : t5::retrievals(run))
    for (const int length : t5::eval_lengths(c)) all.push_back(t5::row_of(t5::evaluate(net, as_other, task, length)));
  Program eval(folder, "t5 eval " + folder / "run" + " --encoding " + other + " -o " + folder / "o.csv");
  REQUIRE_MESSAGE(eval.status() == 0, eval.output());
  CHECK(read_file(folder / "o.csv") == poslab::to_csv(all));
  Program write(folder, "t5 generate " + folder / "run" + " --encoding " + other +
                            " --prompt 'passkey a4 b11 . . . . ask passkey' --count 2");
  CHECK(holds(write.output(), "randomized_offsets:max_position=256 draws new positions"));  // refused by this name
}

TEST_CASE("a sweep of T5s is run, collected and reported, with a group for each task") {
  const TemporaryFolder folder;
  std::string toml = "command = \"t5 train\"\nencoding = [\"t5\", \"alibi\"]\n";
  for (const auto& [name, value] : tiny_t5)
    toml += value.find_first_of("/.ae") == std::string::npos ? fmt::format("{} = {}\n", name, value)
                                                             : fmt::format("{} = \"{}\"\n", name, value);
  const Plan plan = make_plan(toml, "sweep.toml");
  REQUIRE(plan.size() == 2);
  CHECK(kind_of(plan) == t5_kind());
  write_file(folder / "plan.jsonl", plan_lines(plan));
  CHECK(plan_lines(read_plan(folder / "plan.jsonl")) == plan_lines(plan));
  Program sweep(folder, fmt::format("sweep run {} --out {} --threads 1", folder / "plan.jsonl", folder / "sweep"));
  REQUIRE_MESSAGE(sweep.status() == 0, sweep.output());
  const Collected all = collect(plan, SweepFolder(folder / "sweep"));
  CHECK(all.trials.rows.size() == 2);
  CHECK(all.lengths.rows.size() == 2 * 4);

  CHECK(report::write({folder / "sweep"}, folder / "report.html").empty());
  const std::string html = read_file(folder / "report.html");
  const auto losses = cells_in(document_in(html), "All lengths", "loss");
  for (const Trial& t : plan) {
    const Results tested = read_test(folder / "sweep/" + t.id).rows;
    for (const Row& at : tested) CHECK(std::count(losses.begin(), losses.end(), at["loss"]));
  }
  for (const char* chart : {"Accuracy: passkey", "Accuracy: line", "Accuracy by position: line"})
    CHECK(holds(html, chart));
  CHECK(holds(html, "poslab t5 train"));
  Program look(folder, "inspect " + folder / "sweep/" + plan[0].id + " -o " + folder / "look");
  CHECK_MESSAGE(look.status() == 0, look.output());
  CHECK(holds(read_file(folder / "look/index.html"), "entropy"));
}

TEST_CASE("questions with documents from a file: which document is gold, and an invalid line is named") {
  const TemporaryFolder folder;
  const std::string path = folder / "q.jsonl";
  const std::string marked = R"({"question": "who?", "answers": ["Ada", "A."], "ctxs": [
    {"title": "a", "text": "one", "hasanswer": false, "isgold": false},
    {"title": "b", "text": "Ada too", "hasanswer": true, "isgold": false},
    {"title": "c", "text": "Ada", "hasanswer": true, "isgold": true}]})";
  std::string one_line;
  for (const char c : marked)
    if (c != '\n') one_line += c;
  const std::string bare = R"({"question": "where?", "answers": ["Rome"], "ctxs": [{"title": "x", "text": "no"}, )"
                           R"({"title": "y", "text": "Rome", "hasanswer": true}], "more": 1})";
  write_file(path, one_line + "\n" + bare + "\n");
  const std::vector<DocumentQuestion> all = t5::read_questions(path);
  REQUIRE(all.size() == 2);
  CHECK(all[0].answers == std::vector<std::string>{"Ada", "A."});
  CHECK(all[0].documents[2].gold);
  CHECK(!all[0].documents[1].gold);
  CHECK(!all[0].documents[1].shown);  // it also has the answer
  CHECK(all[1].documents[1].gold);
  CHECK(all[1].documents[0].shown);

  const auto third = [&](const std::string& line) {
    write_file(path, one_line + "\n" + bare + "\n" + line + "\n");
    return refusal([&] { t5::read_questions(path); });
  };
  CHECK(holds(third("{"), "2: " + path + ", line 3: no JSON object; a line is {\"question\""));
  CHECK(holds(third("{}"), ", line 3: no text \"question\""));
  CHECK(holds(third(R"({"question": "q", "answers": []})"), ", line 3: no list \"answers\""));
  CHECK(holds(third(R"({"question": "q", "answers": [1]})"), ", line 3: an answer is 1, not a text"));
  CHECK(holds(third(R"({"question": "q", "answers": ["a"], "ctxs": [{"title": "t"}]})"), ", line 3: no text \"text\""));
  CHECK(holds(third(R"({"question": "q", "answers": ["a"], "ctxs": [{"title": "t", "text": "u"}]})"),
              ", line 3: no document holds the answer"));
  write_file(path, "");
  CHECK(holds(refusal([&] { t5::read_questions(path); }), "has no question"));

  // All lines are checked before any is asked: the first has two documents, the second too few.
  write_file(path, one_line + "\n" + bare + "\n");
  t5::English e = t5::english("documents", path);
  e.sizes = {1, 2}, e.samples = 1;
  CHECK_NOTHROW(t5::check(e));
  e.questions[1].documents[0].shown = false;
  CHECK(holds(refusal([&] { t5::check(e); }), "2: " + path + ", line 2: the question \"where?\" has 0 documents"));
  CHECK(holds(refusal([&] { t5::english("line", path); }), "goes with --task documents, not with line"));
}

TEST_CASE("an external checkpoint is asked in English: the given number of questions, at places from front to back") {
  const t5::HfModel model = t5::open_hf_model(std::string(source_folder) + "/tests/data/huggingface/t5/v1_0");
  const t5::English line{.task = choose_retrieval("line"), .sizes = {2, 9}, .samples = 8};
  const std::vector<t5::AtSize> all = t5::ask(model, line, choose_sampler("sequential"));
  REQUIRE(all.size() == 2);
  CHECK(all[1].tokens > all[0].tokens);
  CHECK(all[0].accuracy == 0);  // its weights are random
  CHECK(all[1].accuracy_of_place[7] == 0);
  for (int p = 0; p < t5::places; ++p)  // two lines leave the middle empty
    CHECK(std::isnan(all[0].accuracy_of_place[p]) == (p > 0 && p < t5::places - 1));
  CHECK(t5::to_csv(all).rfind("task,size,tokens,samples,accuracy,accuracy_1,", 0) == 0);
  CHECK(holds(t5::to_csv(all), fmt::format("\nline,9,{},8,0,", all[1].tokens)));
  t5::English too_many = line;
  too_many.sizes = {2, 5000};
  CHECK(holds(refusal([&] { t5::check(too_many); }), "5000 lines"));
}

TEST_CASE("an external checkpoint is asked with positions from a file") {
  const TemporaryFolder folder;
  std::string slots;
  for (int n = 0; n < 1000; ++n) slots += fmt::format("{}\n", n);
  write_file(folder / "slots.txt", slots);
  Program p(folder, fmt::format("t5 eval --hf {}/tests/data/huggingface/t5/v1_0 --task line --sizes 2 --samples 1 "
                                "--positions given:at=@{}",
                                source_folder, folder / "slots.txt"));
  CHECK_MESSAGE(p.status() == 0, p.output());
}

TEST_CASE("an external checkpoint's right answers are counted by their places") {
  const t5::HfModel model = t5::open_hf_model(std::string(source_folder) + "/tests/data/huggingface/t5/v1_0");
  // This task ignores the model's answer: of the two questions in each eighth of the context, so many count as right.
  const int right[t5::places] = {2, 0, 1, 1, 2, 0, 0, 1};
  t5::English own{.task = choose_retrieval("line"), .sizes = {9}, .samples = 2 * t5::places};
  own.task.thing.write = [](const Choices&, int, uint64_t seed, Place place) {
    return TextQuestion{"?", {std::to_string(seed)}, *place};
  };
  own.task.thing.right = [&](const std::string&, const std::vector<std::string>& answers) {
    const int n = std::stoi(answers[0]);
    return n % 2 < right[n / 2];
  };
  const t5::AtSize at = t5::ask(model, own, choose_sampler("sequential"))[0];
  CHECK(at.accuracy == 7 / 16.);
  for (int p = 0; p < t5::places; ++p) CHECK(at.accuracy_of_place[p] == right[p] / 2.);
}

TEST_CASE("t5: inspection sees as many questions of each task as it asked for, in any number of parts") {
  const t5::State s(with({{"eval_lengths", "24/1600"}}));
  for (const auto& [length, samples, most] : {std::tuple{24, 5, 5}, {1600, 5, 2}}) {
    std::vector<int> passes;
    t5::probed(s, samples)
        .run({.length = length, .names = {"encoder.block0.attention.statistics"}, .done = [&](const Trace& trace) {
                passes.push_back(trace.captured.at("encoder.block0.attention.statistics").dim(0));
              }});
    CHECK(std::accumulate(passes.begin(), passes.end(), 0) == 2 * samples);  // passkey and line
    CHECK(*std::max_element(passes.begin(), passes.end()) == most);
  }
}

TEST_CASE("t5: a table of learned positions is tested only up to its number of rows") {
  const RunSpec c(with({{"encoding", "learned"}}));
  const std::unique_ptr<Learner> learner = t5_kind().make(c, {});
  CHECK_NOTHROW(learner->test(c));
  CHECK_THROWS_WITH_AS(learner->test(with({{"encoding", "learned"}, {"eval_lengths", "24/5000"}})),
                       doctest::Contains("5000 tokens: the table of learned positions has"), BadInput);
}
