// Decoders that answer a task token by token: their test against decoding one symbol at a time, and their runs.
#include <algorithm>
#include <cmath>

#include "autograd/tape.h"
#include "encodings/aligned.h"
#include "experiment/answering.h"
#include "experiment/ask.h"
#include "experiment/build.h"
#include "lab/runs/sweep/collect.h"
#include "lab/runs/sweep/sweep.h"
#include "nn/decoder.h"
#include "tasks/batch.h"
#include "tests/lab/helpers.h"
#include "tests/lab/learners.h"

using namespace poslab;
using namespace poslab::test;

namespace {

RunSpec with(const Settings& more) {
  const Settings usual = {{"task", "duplicate_string"},
                          {"encoding", "alibi"},
                          {"layers", "1"},
                          {"heads", "2"},
                          {"d_model", "16"},
                          {"d_ff", "24"},
                          {"steps", "30"},
                          {"batch", "8"},
                          {"train_length", "5"},
                          {"eval_lengths", "1:7"},
                          {"lr", "0.01"},
                          {"warmup", "1"},
                          {"eval_samples", "6"},
                          {"checkpoint_every", "10"}};
  return RunSpec(answering_kind().configure(overlaid(answering_kind().table(), usual, more)));
}

// A one-layer model of this configuration with its initial weights, made a second time.
Decoder fresh(const RunSpec& c) {
  Params params(uint64_t(c.whole("seed")));
  DecoderSpec spec{.vocabulary = 3, .layers = 1, .heads = 2, .key_heads = 2, .d_model = 16, .d_ff = 24};
  spec.encoding = RunSpec(c).scheme;
  return {params, spec};
}

// The logits of the symbol that follows these tokens, at positions 0, 1, ...                                       (3)
std::vector<real> after(const Decoder& net, const RunSpec& c, const std::vector<int>& tokens) {
  const int T = int(tokens.size());
  return net(Ids({1, T}, tokens), 1, {PositionSample(sampler(c), Resample::per_forward, {}, 1, T), {}}).values();
}
int likeliest_of(const std::vector<real>& z) { return int(std::max_element(z.begin(), z.end()) - z.begin()); }

}  // namespace

TEST_CASE("decoder: samplers that read tokens see numbers, signs, the separator and the answer; a pool grows") {
  const auto drawn = [](const std::string& sampler, Purpose purpose, int64_t step) {
    const RunSpec c(with({{"task", "binary_addition"}, {"encoding", "rope"}, {"positions", sampler}}));
    const Task& t = task("binary_addition");
    const Batch two = batch_of(t, {read_input(t, "101+1"), read_input(t, "1+110")});
    return answering::positions(c, purpose, step, answering::Questions{5, two}).at_layer(0).tokens("test");
  };
  const std::vector<double> restart = drawn("restart", Purpose::test_positions, 0);
  const int O = task("binary_addition").output_length(5);
  for (int b = 0; b < 2; ++b) {
    std::vector<double> expected = b ? std::vector<double>{0, 0, 0, 1, 2} : std::vector<double>{0, 1, 2, 0, 0};
    expected.push_back(0);  // the separator
    for (int o = 1; o < O; ++o) expected.push_back(o - 1);
    CAPTURE(b);
    CHECK(std::vector<double>(restart.begin() + b * (5 + O), restart.begin() + (b + 1) * (5 + O)) == expected);
  }
  const auto largest = [](const std::vector<double>& x) { return *std::max_element(x.begin(), x.end()); };
  const std::string growing = "randomized:max_position=100000,grow=3000000";
  for (int64_t step : {0, 1, 2}) {
    CHECK(largest(drawn(growing, Purpose::positions, step)) < 25000);
    CHECK(largest(drawn(growing, Purpose::positions, 3000000 + step)) < 100000);
  }
  CHECK(largest(drawn(growing, Purpose::positions, 3000000)) > 25000);
  CHECK(largest(drawn(growing, Purpose::test_positions, 0)) > 25000);
}

TEST_CASE("decoder: a learned table has rows for the whole pool, also if positions begin at 1") {
  const auto rows = [](const std::string& sampler) {
    return answering::spec_of(with({{"encoding", "learned"}, {"positions", sampler}})).pool;
  };
  CHECK(rows("sequential") == 2048);
  CHECK(rows("randomized:max_position=4096") == 4096);
  CHECK(rows("evenly_spread:first=1") == 2049);
  CHECK(rows("randomized:max_position=3000|sequential:first=1") == 3000);
  CHECK(rows("random_floats:range=5000,first=1") == 5002);
  // Every position that training or the test can draw has a row.
  for (const char* sampler : {"stretched:gap=1000", "scattered:gap=1000", "abacus:shift=3000",
                              "float_midpoints:range=90000", "stretched:gap=1000&sequential"}) {
    const RunSpec c(with({{"encoding", "learned&rope"}, {"positions", sampler}}));
    const int longest = answering::longest(c), pool = answering::spec_of(c).pool;
    CHECK_MESSAGE(pool > 2048, sampler);
    for (int64_t step = 0; step < 20; ++step) {
      const PositionSample drawn = answering::positions(c, Purpose::positions, step, longest);
      for (const double p : drawn.at_embedding().tokens("test")) CHECK_MESSAGE(p < pool - 0.5, sampler);
    }
  }
}

TEST_CASE("decoder: the test's answers equal those of writing one symbol after the other") {
  const RunSpec c(with({{"seed", "3"}}));
  const std::unique_ptr<Learner> learner = answering_kind().make(c, {});
  const Task& t = task("duplicate_string");
  const Decoder net = fresh(c);
  const NoGrad still;
  int imitated = 0;
  for (const int length : {1, 4, 7}) {
    const Row row = learner->test(c)[size_t(length - 1)].row();
    const Batch all = make_batch(t, 6, length, stream(3, Purpose::test_tokens, uint64_t(length)));
    int right = 0, whole = 0, forced = 0;
    for (int b = 0; b < 6; ++b) {
      const int* x = all.tokens.data() + b * 3 * length;
      std::vector<int> read(x, x + length), copy;
      read.push_back(2);  // the separator
      copy = read;
      bool same = true;
      for (int n = 0; n < 2 * length; ++n) {
        const auto next = [&](const std::vector<int>& tokens) { return likeliest_of(after(net, c, tokens)); };
        const int y = all.targets[b * 2 * length + n], said = next(read);
        right += said == y, same = same && said == y, forced += next(copy) == y;
        read.push_back(said), copy.push_back(y);
      }
      whole += same;
    }
    CHECK(row["accuracy"] == doctest::Approx(right / (12. * length)));
    CHECK(row["exact_match"] == doctest::Approx(whole / 6.));
    CHECK(row["teacher_forced"] == doctest::Approx(forced / (12. * length)));
    imitated += right != forced;
  }
  CHECK(imitated > 0);  // else the test would not depend on the model's own answers
}

TEST_CASE("decoder: asked, it gives what it writes one symbol after the other, how sure it is, and where it looked") {
  const RunSpec c(with({{"seed", "3"}}));
  const std::unique_ptr<Learner> learner = answering_kind().make(c, {});
  const Respondent asked = learner->respondent("", "");
  const Decoder net = fresh(c);
  const NoGrad still;
  int wrong = 0;
  for (const Tokens& x : {Tokens{1}, Tokens{0, 1, 1}, Tokens{1, 0, 0, 1, 1, 0, 1}}) {
    const Answer a = asked.ask(x, 5);
    CHECK(a.draws == 1);  // nothing is random
    const size_t O = 2 * x.size(), T = 3 * x.size();
    REQUIRE(a.probability.size() == 3 * O);
    REQUIRE(a.reads.size() == O);
    CHECK(a.reads[0] == ";");
    Tokens read = x;
    read.push_back(2);
    for (size_t o = 0; o < O; ++o) {
      const std::vector<real> z = after(net, c, read);
      double sum = 0;
      for (const real one : z) sum += std::exp(double(one));
      for (size_t v = 0; v < 3; ++v)
        CHECK(a.probability[3 * o + v] == doctest::Approx(std::exp(double(z[v])) / sum).epsilon(1e-4));
      CHECK(a.said[o] == likeliest_of(z));
      if (o) CHECK(a.reads[o] == a.word(a.said[o - 1]));
      read.push_back(a.said[o]);
    }
    wrong += a.right() < a.scored;
    CHECK(a.expected == task("duplicate_string").answer(x));
    CHECK(a.accuracy_per_draw == a.accuracy());
    read.pop_back();
    Trace trace({"block0.attention.weights"});
    net.states(Ids({1, int(T)}, read), {PositionSample(sampler(c), Resample::per_forward, {}, 1, int(T)), {}, &trace});
    const Tensor seen = asked.attention(a, 0);
    CHECK(seen.shape() == Shape{2, int(T), int(T)});
    CHECK(seen.values() == trace.captured.begin()->second.values());
  }
  CHECK(wrong > 0);  // else it could have read the right answers
  Answer other = asked.ask({1}, 1);
  other.said = {2, 1};
  CHECK(other.written() == ";1");
}

TEST_CASE("decoder: it answers with other positions, draws and temperatures as its test does, if these have room") {
  const RunSpec c(with({{"positions", "randomized:max_position=40"}, {"eval_samples", "1"}, {"seed", "4"}}));
  const std::unique_ptr<Learner> learner = answering_kind().make(c, {});
  const auto asked = [&](const std::string& positions, const std::string& temperature = "") {
    return learner->respondent(positions, temperature);
  };
  for (const int length : {2, 5, 7}) {
    const Batch one = make_batch(task(c["task"]), 1, length, stream(4, Purpose::test_tokens, uint64_t(length)));
    const Answer a = asked("").ask({one.tokens.data(), one.tokens.data() + length}, 1);
    CHECK(learner->test(c)[size_t(length - 1)].row()["accuracy"] == doctest::Approx(a.accuracy()));
  }
  const Tokens x = {0, 1, 1, 0};
  const Answer first = asked("").ask(x, 1), three = asked("").ask(x, 3);
  CHECK(three.draws == 3);
  CHECK(three.probability != first.probability);
  for (size_t o = 0; o < three.said.size(); ++o) {
    const auto row = three.probability.begin() + std::ptrdiff_t(3 * o);
    CHECK(row[0] + row[1] + row[2] == doctest::Approx(1));
    CHECK(three.said[o] == int(std::max_element(row, row + 3) - row));
  }
  CHECK(asked("sequential").ask(x, 3).draws == 1);
  CHECK(asked("sequential").positions.spelled() == "sequential");
  CHECK(asked("sequential").config["positions"] == "randomized:max_position=40");
  CHECK(asked("", "constant:tau=0.1").ask(x, 1).probability != first.probability);
  CHECK(asked("", "constant:tau=0.1").temperature.spelled() == "constant:tau=0.1");
  CHECK_THROWS_WITH_AS(asked("", "ssmax"), doctest::Contains("learns parameters"), BadInput);
  CHECK_THROWS_WITH_AS(asked("randomized:max_position=9"), doctest::Contains("it has positions for 9 tokens"),
                       BadInput);
  CHECK_THROWS_WITH_AS(asked("").check(Tokens(14, 1)),
                       doctest::Contains("14 symbols and their 28 answer slots take 42 positions"), BadInput);
  CHECK_NOTHROW(asked("sequential").check(Tokens(14, 1)));
  CHECK_THROWS_WITH_AS(asked("").check({}), doctest::Contains("ask about 1 to 10000"), BadInput);
  const std::unique_ptr<Learner> learned = answering_kind().make(with({{"encoding", "learned"}}), {});
  CHECK_THROWS_WITH_AS(learned->respondent("", "").check(Tokens(683, 1)),
                       doctest::Contains("has learned a table of 2048"), BadInput);
  CHECK(learner->respondent("", "").forward(7).flops > asked("").forward(5).flops);
}

TEST_CASE("decoder: a token that no answer has is written as the input's symbol, and the separator as a semicolon") {
  const auto written = [](const char* task, const Tokens& x, const Tokens& said) {
    Answer a = answering_kind().make(with({{"task", task}}), {})->respondent("", "").ask(x, 1);
    a.said = said;
    return a.written();
  };
  CHECK(written("modular_arithmetic", {1, 5, 2}, {4}) == "4");
  CHECK(written("modular_arithmetic", {1, 5, 2}, {5, 9}) == "+;");
  CHECK(written("stack_manipulation", {0, 1, 2}, {0, 2, 3, 4, 5}) == "0234;");  // as typed: POP, PUSH0, PUSH1
}

TEST_CASE("decoder: it learns, is stopped and continues to the same bits, and commands that read runs read it") {
  const TemporaryFolder folder;
  const Settings learned = {{"task", "even_pairs"},
                            {"encoding", "rope"},
                            {"layers", "2"},
                            {"d_model", "32"},
                            {"d_ff", "64"},
                            {"batch", "32"},
                            {"steps", "1000"},
                            {"lr", "0.002"},
                            {"warmup", "100"},
                            {"eval_samples", "32"},
                            {"checkpoint_every", "500"}};
  const auto words = [&](const std::string& out) {
    std::string all = "decoder train --threads 1 --out " + folder / out;
    const RunSpec c(with(learned));
    for (const auto& [name, value] : kept(answering_kind().table(), c))
      if (!value.empty()) all += " " + dashed(name) + "=" + value;
    return all;
  };
  Program straight(folder, words("straight"));
  REQUIRE_MESSAGE(straight.status() == 0, straight.output());
  CHECK(holds(straight.output(), "whole answers: "));
  const Results all = read_test(folder / "straight").rows;
  REQUIRE(all.size() == 7);
  double trained = 0;
  for (int n = 0; n < 5; ++n) trained += all[size_t(n)]["exact_match"] / 5;
  CHECK(trained > 0.9);
  {
    Settings more = learned;
    more.emplace_back("out", folder / "torn");
    const Run run = create_run(with(more));
    while (run.learner->adam().step < 10) run.learner->start(run.learner->draw(run.learner->adam().step));
  }  // stopped before a checkpoint: these steps are repeated
  Program resumed(folder, "decoder resume " + folder / "torn" + " --threads 2");
  REQUIRE_MESSAGE(resumed.status() == 0, resumed.output());
  for (const char* file : {"checkpoint.safetensors", "metrics.jsonl", "eval.csv", "config.toml"})
    CHECK(read_file(folder / "straight/" + file) == read_file(folder / "torn/" + file));
  Program other(folder, "resume " + folder / "torn");
  CHECK(other.status() == 2);
  CHECK(holds(other.output(), "is of a decoder of a task; `poslab decoder` reads it"));
  for (const char* command :
       {"report {0} -o {0}.html", "inspect {0} --lengths 3,5 --samples 2 -o {0}-inside",
        "view {0} --length 4 -o {0}-view", "graph {0} -o {0}-graph.html", "ask {0} 0110 01 -o {0}-asked.html",
        "align {0} --short 3 --long 6 --samples 2 -o {0}.json",
        "decoder eval {0} --temperature aligned:{0}.json --name aligned"}) {
    Program p(folder, fmt::format(fmt::runtime(command), folder / "straight"));
    CHECK_MESSAGE(p.status() == 0, p.output());
  }
  CHECK(holds(read_file(folder / "straight.html"), "Even pairs"));
  CHECK(holds(read_file(folder / "straight-asked.html"), ".\\\\\\nEach answer slot reads the symbol of"));

  write_file(folder / "sweep.toml",
             "command = \"decoder train\"\ntask = [\"even_pairs\", \"reverse_string\"]\n"
             "layers = 1\nheads = 2\nd_model = 16\nd_ff = 16\nsteps = 3\nbatch = 2\n"
             "train_length = 3\neval_lengths = \"1:5\"\neval_samples = 2\n");
  const sweep::Plan plan = sweep::make_plan(read_file(folder / "sweep.toml"), "sweep.toml");
  CHECK(sweep::kind_of(plan) == answering_kind());
  write_file(folder / "plan.jsonl", plan_lines(plan));
  Program sweep(folder, fmt::format("sweep run {0}/plan.jsonl --out {0}/sweep --threads 1", folder.path));
  REQUIRE_MESSAGE(sweep.status() == 0, sweep.output());
  const sweep::Collected both = collect(plan, sweep::SweepFolder(folder / "sweep"));
  CHECK(both.lengths.rows.size() == 10);
  CHECK(std::count(both.trials.columns.begin(), both.trials.columns.end(), "exact_match") == 1);
}

TEST_CASE("decoder: a page shows the input, the separator and, for each slot, the answer before it") {
  const RunSpec c(with({{"task", "reverse_string"}, {"seed", "5"}}));
  const std::unique_ptr<Learner> learner = answering_kind().make(c, {});
  const Sample shown = learner->sample({.length = 4, .number = 2});
  CHECK(shown.outputs == 4);
  REQUIRE(shown.symbols.size() == 8);
  CHECK(shown.symbols[4] == ";");
  for (size_t n = 0; n < 3; ++n) CHECK(shown.symbols[5 + n] == shown.symbols[3 - n]);  // the answer without its end
}

TEST_CASE("decoder: a test needs positions for all tokens, and a temperature that is not tied to a trained model") {
  const auto refuses = [](const Settings& more, const char* words) {
    CHECK_THROWS_WITH_AS(answering_kind().check(with(more)), doctest::Contains(words), BadInput);
  };
  CHECK_NOTHROW(answering_kind().check(with({{"positions", "randomized:max_position=21"}})));
  refuses({{"positions", "randomized:max_position=20"}}, "it has positions for 20 tokens");
  refuses({{"temperature", aligned_example}}, "it belongs to a trained model");
}

TEST_CASE("decoder: a loss on all tokens leaves the answers as they are, and has another value") {
  const auto first_step = [](const char* loss_on) {
    const std::unique_ptr<Learner> learner = answering_kind().make(with({{"loss_on", loss_on}}), {});
    learner->start(learner->draw(0));
    return learner->finish();
  };
  const StepResult answer = first_step("answer"), all = first_step("all");
  CHECK(answer.accuracy == all.accuracy);
  CHECK(answer.loss != all.loss);
  for (const StepResult& r : {answer, all}) CHECK((r.loss > 0.3 && r.loss < 3));  // ln 3 is 1.1
}

TEST_CASE("decoder: given tokens are read with the run's positions, or with given positions") {
  const std::unique_ptr<Learner> learner = answering_kind().make(with({{"encoding", "rope"}}), {});
  const Reader reader = learner->reader();
  CHECK(reader.vocabulary == 3);
  const NoGrad still;
  const Ids tokens({1, 4}, {0, 1, 1, 2});
  const auto read = [&](std::vector<Positions> positions) {
    return reader.logits({.tokens = tokens, .outputs = 2, .positions = std::move(positions)}, nullptr);
  };
  const Tensor counted = read({});
  CHECK(counted.shape() == Shape{1, 2, 3});
  CHECK(read({Positions::of_tokens(1, {0, 1, 2, 3})}).values() == counted.values());
  CHECK(read({Positions::of_tokens(1, {0, 5, 6, 9})}).values() != counted.values());
}

TEST_CASE("decoder: omitted options have defaults, and options that only texts have are refused") {
  const std::unique_ptr<Learner> learner = answering_kind().make(with({{"encoding", "learned"}}), {});
  CHECK(learner->sample({}).outputs == 10);  // twice the trained length
  CHECK_THROWS_WITH_AS(learner->sample({.text = "abc"}), doctest::Contains("--text goes with runs of `poslab lm`"),
                       BadInput);
  CHECK_THROWS_WITH_AS(learner->inside({3}, 2, "abc"), doctest::Contains("--text goes with runs of `poslab lm`"),
                       BadInput);
  CHECK(learner->inside({}, 2, "").takes.bytes == learner->inside({5, 20}, 2, "").takes.bytes);
  CHECK(learner->inside({}, 2, "").takes.bytes > learner->inside({5}, 2, "").takes.bytes);
  CHECK_THROWS_WITH_AS(answering_kind().check(RunSpec(answering_kind().configure({}))),
                       doctest::Contains("which task?"), BadInput);
  const RunSpec longer(with({{"eval_lengths", "6:7"}}));  // longer than in training
  const Results tested = [&] {
    Results all;
    for (const auto& at : learner->test(longer)) all.push_back(at.row());
    return all;
  }();
  const std::string shown = answering_kind().shown(longer, tested);
  CHECK(holds(shown, "% at longer ones"));
  CHECK(!holds(shown, "at trained lengths"));
}
