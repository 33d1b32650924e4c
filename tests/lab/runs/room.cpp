// The estimate that is printed before a trained model is tested, aligned, inspected or asked, against the memory and
// operations really used. core/profile.h counts the operations, so no clock is involved.
#include <algorithm>
#include <fstream>
#include <map>

#include "autograd/tape.h"
#include "core/debug.h"
#include "core/memory.h"
#include "core/platform/parallel.h"
#include "core/profile.h"
#include "experiment/align.h"
#include "experiment/ask.h"
#include "experiment/calibrate.h"
#include "experiment/evaluate.h"
#include "experiment/language/learner.h"
#include "experiment/strings.h"
#include "experiment/t5/learner.h"
#include "lab/files/progress.h"
#include "lab/files/shell.h"
#include "lab/pages/ask/ask.h"
#include "lab/pages/show/show.h"
#include "lab/pages/view/view.h"
#include "lab/runs/room.h"
#include "lab/runs/run.h"
#include "lab/runs/t5/questions.h"
#include "lab/runs/whole_run.h"
#include "nn/generate.h"
#include "nn/t5_generate.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;

namespace {

// The peak memory of tensors, and the operations of the CPU's kernels.
Taken really_taken(const std::function<void()>& action) {
  const int before = debug_level();
  set_debug_level(2);
  action();  // this first run allocates the kernels' scratch memory and measures the machine
  clear_profile_totals(), reset_peak();
  const int64_t held = memory().bytes_requested;
  action();
  Taken took{double(memory().bytes_peak - held), 0};
  for (const ProfileTotals& k : profile_totals()) took.flops += k.cost.flops;
  set_debug_level(before);
  return took;
}

void compare_estimate(const std::string& what, const Taken& estimated, const Taken& took, double bytes_to = 1.8) {
  const double bytes = estimated.bytes / took.bytes, flops = estimated.flops / took.flops;
  fmt::print("estimate {:34} memory {:5.2f} of {:7.2f} MB   work {:.2f} of {:8.1f} MFLOP\n", what, bytes,
             took.bytes / 1e6, flops, took.flops / 1e6);
  CAPTURE(what);
  CHECK(bytes > 0.6);
  CHECK(bytes < bytes_to);
  CHECK(flops > 0.7);
  CHECK(flops < 1.3);
}

// A new model of each kind; with these sizes products are most of its work.
std::unique_ptr<Learner> model_of_kind(const std::string& kind, Settings more = {}) {
  static const std::map<std::string, Settings> sizes = {
      {"strings", {{"task", "reverse_string"}, {"encoding", "rope"}, {"train_length", "30"}}},
      {"language", {{"text", "copy_grammar"}, {"train_length", "64"}, {"d_ff", "128"}}},
      {"t5", {{"tasks", "line"}, {"train_length", "96"}, {"shortest", "96"}, {"decoder_layers", "2"}, {"d_ff", "128"}}},
      {"answering", {{"task", "reverse_string"}, {"train_length", "30"}, {"d_ff", "128"}}}};
  language::Source grammar;
  grammar.grammar = CopyGrammar{};
  for (const Kind* one : all_kinds()) {
    if (one->name != kind) continue;
    Settings all = sizes.at(kind);
    all.insert(all.end(), {{"layers", "2"}, {"heads", "2"}, {"d_model", "64"}, {"eval_samples", "3"}});
    return one->make(RunSpec(one->configure(overlaid(one->table(), all, more))),
                     std::make_shared<const language::Source>(grammar));
  }
  failure("no such kind");
}

}  // namespace

TEST_CASE("room: a duration of a day or more is given in days") {
  for (const auto& [seconds, words] : {std::pair{0.4, "0:00"},
                                       {59.6, "1:00"},
                                       {3765., "1:02:45"},
                                       {86399., "23:59:59"},
                                       {86400., "1 day"},
                                       {129600., "1.5 days"},
                                       {864000., "10 days"},
                                       {86400 * 1618., "1,600 days"},
                                       {1.4e14, "1,600,000,000 days"}})
    CHECK(clock_time(seconds) == words);
}

TEST_CASE("estimate: for a test of every kind") {
  const std::map<std::string, Settings> tested = {{"strings", {{"eval_lengths", "150:150"}}},
                                                  {"language", {{"eval_times", "6"}}},
                                                  {"t5", {{"eval_lengths", "600"}}},
                                                  {"answering", {{"eval_lengths", "120:120"}}}};
  CHECK(tested.size() == all_kinds().size());
  for (const auto& [kind, settings] : tested) {
    const std::unique_ptr<Learner> learner = model_of_kind(kind, settings);
    const std::vector<TestPart> parts = learner->test(learner->config());
    const Taken took = really_taken([&] {
      for (const TestPart& part : parts) part.row();
    });
    Taken estimated = taken_by(parts);
    const RunSpec& c = learner->config();
    CHECK(estimated.bytes == footprint(c).test);  // as estimated for training
    CHECK(estimated.flops == doctest::Approx(work(c).test));
    if (kind == "answering") continue;  // how many passes an untrained model needs is unknown
    compare_estimate(kind, estimated, took);
  }
}

TEST_CASE("estimate: for a test with every scheme") {
  for (const Scheme& scheme : all_encodings()) {
    const bool causal = !scheme.causal_only(choose_encoding(scheme.name).choices).empty();
    const Settings sizes =
        overlaid(all_choices(), tiny,
                 {{"encoding", choose_encoding(scheme.name, trained_on(1024)).spelled()},  // with a wide window
                  {"positions", "sequential"},
                  {"causal", causal ? "on" : "off"},
                  {"max_position", "256"},
                  {"d_model", "32"},
                  {"eval_lengths", "100:100"}});
    const StringsLearner learner{State(RunSpec(configure(sizes)))};
    const std::vector<TestPart> parts = learner.test(learner.config());
    const Taken took = really_taken([&] { test_at(learner.state, 100, 8); });
    const double ratio = taken_by(parts).bytes / took.bytes;
    fmt::print("estimate of a test with {:16} memory {:.2f} of {:.1f} MB   work {:.2f}\n", scheme.name, ratio,
               took.bytes / 1e6, taken_by(parts).flops / took.flops);
    CAPTURE(scheme.name);
    CHECK(ratio > 0.5);
    CHECK(ratio < 3.2);  // memory that short strings share is counted several times
    const double operations = taken_by(parts).flops / took.flops;
    CHECK(operations > 0.4);  // DAPE applies a network to all logits
    CHECK(operations < 1.6);
  }
}

TEST_CASE("estimate: for an alignment") {
  for (const Kind* kind : all_kinds()) {
    const std::unique_ptr<Learner> learner = model_of_kind(kind->name);
    const auto all = [&](const Aligning& how, const std::string& what) {
      const Probed probed = learner->probed(learner->config(), {how.shortest, how.longer[0]}, 2, "align");
      compare_estimate(kind->name + ", " + what, alignment_takes(probed, how),
                       really_taken([&] { align(probed, how, {}); }));
    };
    Aligning how{.shortest = 96, .longer = {160}, .grid = {1, 0.8, 0.6}};
    all(how, "pmax");
    if (kind->name != "language") continue;  // passes are counted in the same way for all kinds
    how.per = AlignPer::layer;
    all(how, "pmax by layer");
    how.mode = AlignMode::prop2;
    all(how, "prop2 by layer");
    how.mode = AlignMode::log;
    all(how, "log");
  }
}

TEST_CASE("estimate: for the texts and answers of a model") {
  const auto text = model_of_kind("language");
  const auto& writer = dynamic_cast<const language::TextLearner&>(*text);
  const std::vector<int> prompt(40, 3);
  for (const char* encoding : {"rope", "dynamic_ntk"}) {  // with dynamic_ntk, keys are computed again
    const Decoder net = writer.state.net.with_encoding(choose_encoding(encoding, trained_on(32)));
    compare_estimate(fmt::format("text, {}", encoding), language::writing_takes(net.spec(), 40, 60),
                     really_taken([&] { generate(net, prompt, {.count = 60}, [](int) { return true; }); }));
  }
  const auto questions = model_of_kind("t5");
  const auto& answerer = dynamic_cast<const t5::QuestionLearner&>(*questions);
  const T5& net = answerer.state.net;
  for (const int beams : {1, 3})
    compare_estimate(fmt::format("answer, {} beams", beams), t5::answer_takes(net.spec(), 300, 30, beams),
                     really_taken([&] {
                       const NoGrad still;
                       const PositionSample places(choose_sampler("sequential"), Resample::per_forward, {}, 1, 300);
                       const Tensor states = net.encode(Ids({1, 300}, std::vector<int>(300, 3)), {}, {places, {}});
                       T5Generation how{.count = 30, .beams = beams};
                       if (beams == 1)
                         answer(net, states, {}, how);
                       else
                         beam_search(net, states, {}, how);
                     }));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // sanitizers hold memory themselves
namespace {

// The program's largest memory in bytes, as the system reports it while the program runs.
double peak_of_program(const TemporaryFolder& folder, const std::string& arguments) {
  Program poslab(folder, arguments, fmt::format("cd '{}' &&", folder.path), "said");
  double most = 0;
  while (poslab.running()) {
    std::ifstream status(fmt::format("/proc/{}/status", poslab.process()));
    bool begun = false;  // until then it is a copy of this process
    for (std::string line; std::getline(status, line);) {
      if (line == "Name:\tposlab") begun = true;
      if (begun && line.starts_with("VmHWM:")) most = std::max(most, 1024 * std::stod(line.substr(6)));
    }
    usleep(1000);
  }
  CAPTURE(poslab.output());
  CHECK(poslab.status() == 0);
  return most;
}

}  // namespace

TEST_CASE("estimate: for pages and files that hold matrices, against the program's memory") {
  const TemporaryFolder folder;
  const RunSpec c(tiny_config({{"positions", "sequential"}, {"heads", "4"}, {"steps", "1"}, {"encoding", "alibi"}}));
  RunFolder::create(folder / "run", State(c));
  const StringsLearner learner{State(c)};
  const auto check = [&](const std::string& command, const std::string& small, const std::string& large,
                         const Taken& estimated) {
    const double took = peak_of_program(folder, command + large) - peak_of_program(folder, command + small);
    fmt::print("estimate of {:10} {:.2f} of {:.0f} MB\n", command.substr(0, command.find(' ')), estimated.bytes / took,
               took / 1e6);
    CAPTURE(command);
    CHECK(estimated.bytes > 0.6 * took);
    CHECK(estimated.bytes < 2 * took);
  };
  const Inspection inside = learner.inside({6, 450}, 2, "");
  check("inspect run --samples 2 -o inside", "1 --lengths 6,7", "2 --lengths 6,450",
        {inside.takes.bytes + 2 * inside.arrays, 0});
  check("calibrate run --samples 1 -o c.txt --length ", "6", "450",
        calibration_takes(c, {.length = 450, .samples = 1}));
  check("show alibi --heads 8 --view bias -o b.json --length ", "8", "700",
        show::views_take({.encodings = {"alibi"}, .views = {"bias"}, .length = 700}));
  check("show alibi --heads 8 --view bias -o b.csv --length ", "8", "700",
        show::views_take({.encodings = {"alibi"}, .views = {"bias"}, .length = 700, .text = 32}));
  check("view run -o maps", "1 --length 6", "2 --length 900",
        view::drawing_takes(view::open(folder / "run", {.length = 900})));
  const std::string longer(300, '1');
  const asking::Session session(folder / "run", learner.respondent("", ""), {.page = true});
  check("ask run ", "110 -o a.html", longer + " -o b.html", session.takes(session.read(longer)));
}
#endif

TEST_CASE("estimate: for questions to an external checkpoint, which decides where its answers end") {
  const t5::HfModel model = t5::open_hf_model(std::string(source_folder) + "/tests/data/huggingface/t5/v1_0");
  t5::English e = t5::english("line", "");
  e.samples = 2, e.sizes = {40};
  const Taken took = really_taken([&] { t5::ask(model, e, choose_sampler("sequential")); });
  const Taken estimated = t5::asking_takes(model, e);
  fmt::print("estimate of t5 eval --hf  memory {:.2f} of {:.2f} MB   work {:.2f}\n", estimated.bytes / took.bytes,
             took.bytes / 1e6, estimated.flops / took.flops);
  CHECK(estimated.bytes > 0.6 * took.bytes);
  CHECK(estimated.bytes < 2 * took.bytes);
  CHECK(estimated.flops > 0.7 * took.flops);
  CHECK(estimated.flops < 2 * took.flops);  // answers may be shorter
}

TEST_CASE("estimate: work that needs more memory than there is does not begin, unless it is forced") {
  const TemporaryFolder folder;
  const RunSpec strings(tiny_config(
      {{"encoding", "geometric"}, {"positions", "sequential"}, {"eval_lengths", "200000:200000"}, {"steps", "2"}}));
  RunFolder::create(folder / "run", State(strings));
  const std::string run = folder / "run", needed = " of memory is needed";
  CHECK(holds(refusal([&] { resume_run(run, {}); }), needed));
  CHECK(
      holds(refusal([&] { test_run(run, {}, {.file = folder / "own.csv"}); }), "for testing (eval_lengths to 200000)"));
  // A test of short strings instead of long ones needs little memory, so it runs.
  CHECK(refusal([&] { test_run(run, {{"eval_lengths", "1:2"}}, {.name = "short"}); }).empty());

  Settings text = {{"text", "copy_grammar"}, {"layers", "1"},     {"heads", "1"}, {"d_model", "8"},      {"d_ff", "8"},
                   {"train_length", "4096"}, {"eval_times", "1"}, {"batch", "1"}, {"out", folder / "lm"}};
  create_run(RunSpec(language::configure(text)));
  CHECK(holds(refusal([&] {
                test_run(folder / "lm", {{"encoding", "stick_breaking"}, {"eval_times", "1024"}});
              }),
              needed));
  const Use large{.what = "testing", .takes = {1e18, 0}, .with = "lengths to 9", .parameters = 250000};
  CHECK(refusal([&] { begin(large, true); }).empty());
  CHECK(holds(
      refusal([&] { begin(large, false); }),
      "1e+06 TB of memory is needed: 4 MB for the model of 250,000 parameters, 1e+06 TB for testing (lengths to 9)"));

  const bool shown = std::exchange(Progress::shown, true);  // estimates are shown only if they matter
  {
    const LogFile said(folder / "log");
    begin({.what = "testing", .takes = {1e6, 1e9}}, false);
    begin({.what = "asking", .takes = {2e9, 0}}, false);
    begin({.what = "aligning", .takes = {1e6, 5e11 * threads()}}, false);
  }
  Progress::shown = shown;
  const std::string on = counted(size_t(threads()), "thread");
  CHECK(read_file(folder / "log") == fmt::format("asking takes about 2 GB of memory and, on {0}, about 0:00\n"
                                                 "aligning takes about 1 MB of memory and, on {0}, about 0:10\n",
                                                 on));
}
