// `poslab align`: the file that it writes, the commands that read that file, and refusals.
#include <cmath>
#include <map>
#include <set>

#include "autograd/tape.h"
#include "experiment/language/inside.h"
#include "experiment/learner.h"
#include "lab/hub/hf_run.h"
#include "lab/runs/align.h"
#include "lab/runs/run_folder.h"
#include "lab/runs/spelled_file.h"
#include "lab/runs/t5/questions.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;

TEST_CASE("align: the file of a run has that run's temperature, spelled out") {
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
  CHECK(read_alignment(file).lengths[1].tau.size() == size_t(state.config.whole("layers")));
  state.config.set("test_temperature", spelled);
  CHECK_NOTHROW(state.test_net());
  State other(tiny_config({{"seed", "9"}}));
  other.config.set("test_temperature", spelled);
  CHECK(holds(refusal([&] { other.test_net(); }), "it belongs to weights " + made.temperatures.weights));
}

TEST_CASE("align: for every kind of run, temperatures are chosen on strings that are in no test") {
  const std::map<std::string, Settings> small = {
      {"strings", {{"preset", "tiny"}, {"task", "reverse_string"}, {"encoding", "rope"}, {"layers", "1"}}},
      {"language", {{"text", "copy_grammar"}, {"layers", "1"}, {"d_model", "32"}, {"d_ff", "48"}}},
      {"t5", {{"layers", "1"}, {"decoder_layers", "1"}, {"d_model", "32"}, {"tokens", "128"}, {"train_length", "32"}}},
      {"answering", {{"task", "reverse_string"}, {"layers", "1"}, {"d_model", "32"}, {"batch", "4"}}}};
  const auto made_up = std::make_shared<language::Source>(language::Source{.grammar = CopyGrammar{}});
  for (const Kind* kind : all_kinds()) {
    INFO(kind->name);
    const std::unique_ptr<Learner> learner = kind->make(RunSpec(kind->configure(small.at(kind->name))), made_up);
    Probed model = learner->probed(learner->config(), {16, 32}, 2, "align");
    const auto largest = [&](Purpose strings) {
      return dispersion(model, 16, {}, strings).of_model().largest_weight;
    };
    CHECK(largest(aligned_on) != largest(Purpose::test_tokens));
    CHECK(largest(aligned_on) == largest(aligned_on));
    std::set<Purpose> read;
    model.run = [&read, run = model.run](const Look& look) { read.insert(look.strings), run(look); };
    align(model, {.shortest = 16, .longer = {32}}, {});
    CHECK(read == std::set{aligned_on});
  }
}

TEST_CASE("align: a language model is aligned on its training text, an external checkpoint on the text of its test") {
  const auto all = [](const char* of) {
    return Text{{{"file", 1000}}, [of](const TextFile&, int64_t, int64_t bytes) {
                  std::string text;
                  while (int64_t(text.size()) < bytes) text += of;
                  return text;
                }};
  };
  language::Source source{.training = all("a"), .test = all("b")};
  const RunSpec c(language_kind().configure({{"text", "copy_grammar"}}));
  CHECK(language::test_window(c, source, 8, 0) == std::vector<int>(9, 'b'));
  CHECK(language::test_window(c, source, 8, 0, aligned_on) == std::vector<int>(9, 'a'));
  source.training = {};
  CHECK(language::test_window(c, source, 8, 0, aligned_on) == std::vector<int>(9, 'b'));
}

TEST_CASE("align: a file that has no temperatures is refused by its name, and so is a run that has a temperature") {
  const TemporaryFolder folder;
  const std::string file = folder / "t.json";
  for (const char* text :
       {"", "{", "[]", "{\"format\": \"poslab alignment 0\"}", "{\"format\": \"poslab alignment 1\"}",
        R"({"format": "poslab alignment 1", "model": {"layers": 1, "heads": 1, "weights": "00000000"},
            "short": {"keys": 8}, "long": [{"keys": 4, "temperature": [0.5]}]})"}) {
    write_file(file, text);
    CHECK(holds(refusal([&] { read_alignment(file); }), file + " is not a file of temperatures"));
  }
  RunFolder::create(folder / "sharp", State(tiny_config({{"temperature", "log_n"}})));
  CHECK(holds(refusal([&] { write_alignment({.run = folder / "sharp", .how = {.shortest = 4, .longer = {8}}}, file); }),
              "was trained with temperature = log_n"));
}

namespace {

// The largest weight of a row, averaged over all rows in the encoder.
double largest_weight(const T5& net, const std::vector<int>& prompt) {
  const NoGrad still;
  const int T = int(prompt.size());
  Trace trace({"encoder.block*.attention.weights"});
  const PositionSample counted(choose_sampler("sequential"), Resample::per_forward, {}, 1, T);
  net.encode(Ids({1, T}, prompt), {}, {counted, {}, &trace});
  double sum = 0, rows = 0;
  for (const auto& [name, a] : trace.captured)
    for (int64_t row = 0; row < a.rows(); ++row, ++rows)
      sum += double(*std::max_element(a.data() + row * T, a.data() + (row + 1) * T));
  return sum / rows;
}

}  // namespace

TEST_CASE("align: an external checkpoint on questions in English; its file fits no other checkpoint") {
  const TemporaryFolder folder;
  const std::string hf = std::string(source_folder) + "/tests/data/huggingface/t5/v1_0", file = folder / "t.json";
  AlignRequest request{.hf = hf, .how = {.shortest = 2, .longer = {9}}, .samples = 1, .task = "line"};
  const Alignment made = write_alignment(request, file);
  {
    const t5::HfModel model = t5::open_hf_model(hf);
    const auto tokens = t5::open_hf_tokenizer(model);
    t5::English e = t5::english("line", "");
    e.samples = 1, e.seed = align_seed;
    const auto prompt = [&](int size) { return t5::tokens_of(model, *tokens, t5::written(e, size, 0).prompt); };
    CHECK(made.temperatures.shortest == double(prompt(2).size()));
    CHECK(made.lengths[0].found.keys == double(prompt(9).size()));
    const double target = largest_weight(model.net, prompt(2));
    CHECK(made.target.of_model().largest_weight == doctest::Approx(target).epsilon(1e-4));
    double least = INFINITY, nearest = 0;
    for (const double tau : request.how.grid) {
      const T5 sharper = model.net.at_temperature(choose_temperature(fmt::format("constant:tau={}", tau)));
      const double off = std::abs(largest_weight(sharper, prompt(9)) - target);
      if (off < least) least = off, nearest = tau;
    }
    CHECK(nearest < 1);
    CHECK(made.lengths[0].found.tau == std::vector{nearest});
    e.samples = 5, e.sizes = {4};  // prompts of this size have several lengths; the mean counts
    double sum = 0;
    for (int n = 0; n < 5; ++n) sum += double(t5::tokens_of(model, *tokens, t5::written(e, 4, n).prompt).size()) / 5;
    CHECK(t5::probed(model, e).keys(4) == std::lround(sum));
  }
  const std::string copy = folder / "copy";
  std::filesystem::copy(hf, copy);
  const auto answered = [&](const std::string& words) {
    Program program(folder, words + " --hf " + copy + " --temperature aligned:" + file);
    return fmt::format("{}: {}", program.status(), program.output());
  };
  const std::string eval = "t5 eval --task line --sizes 9 --samples 1", write = "t5 generate --prompt a --count 1";
  CHECK(answered(eval).starts_with("0: "));
  CHECK(answered(write).starts_with("0: "));
  const std::string weights = copy + "/model-00002-of-00002.safetensors";
  std::string bytes = read_file(weights);
  bytes.back() ^= 1;
  std::filesystem::remove(weights), write_file(weights, bytes);
  for (const std::string& words : {eval, write}) {
    CHECK(answered(words).starts_with("2: "));
    CHECK(holds(answered(words), "temperature aligned: it belongs to weights " + made.temperatures.weights));
  }
}

TEST_CASE("align: a file is written to the working folder or to another that exists") {
  const TemporaryFolder folder;
  const auto refused = [](const std::string& file) { return refusal([&] { write_alignment({}, file); }); };
  CHECK(refused(folder / "none/t.json") ==
        "2: cannot write " + folder / "none/t.json" + ": there is no such folder; choose another path");
  CHECK(refused(folder.path) == "2: cannot write " + folder.path + ": it is a folder; choose another path");
  for (const std::string& good : {folder / "t.json", std::string("poslab_test_of_here.json")})
    CHECK(holds(refused(good), "2: poslab align takes a run, as in `poslab align runs/first`, or a checkpoint"));
}

TEST_CASE("align: options that do not apply to a checkpoint are refused before it is opened") {
  const TemporaryFolder folder;
  const std::string file = folder / "t.json";
  const auto refused = [&](AlignRequest r) {
    r.how.shortest = 2, r.how.longer = {4};
    return refusal([&] { write_alignment(r, file); });
  };
  CHECK(holds(refused({.hf = folder / "none"}), "which task? Give --task passkey"));
  CHECK(holds(refused({.hf = folder / "none", .task = "line"}), "is not a folder; --hf names one with config.json"));
  CHECK(holds(refused({.run = "run", .hf = "hf", .task = "line"}), "--hf FOLDER; not both"));
  CHECK(holds(refused({.run = "run", .task = "line"}), "--task line goes with --hf"));
  CHECK(holds(refused({.hf = "hf", .tasks = "line"}), "--tasks line goes with a run"));
  CHECK(holds(refused({.hf = "hf", .device = "gpu", .task = "line"}), "unknown device \"gpu\""));
  write_file(
      folder / "q.jsonl",
      R"({"question": "where?", "answers": ["Rome"], "ctxs": [{"title": "y", "text": "Rome", "isgold": true}]})");
  CHECK(holds(refused({.hf = "hf", .task = "documents", .questions = folder / "q.jsonl"}),
              "q.jsonl, line 1: the question \"where?\" has 0 documents"));
  CHECK(!std::filesystem::exists(file));
}

TEST_CASE("align: an external language model accepts temperatures set by hand, but not those of other weights") {
  const auto refused = [](const std::string& of) {
    const std::string folder = std::string(source_folder) + "/tests/data/huggingface/llama";
    return refusal([&] { language::open_hf_run(folder, {{"temperature", "aligned:of=" + of}}, true); });
  };
  CHECK(holds(refused("2.4.0badcafe 8 64:0.5"),
              "temperature aligned: it belongs to weights 0badcafe, but this model has"));
  CHECK(holds(refused("any 8 64:0.5"), "tokenizer"));  // accepted; what fails next is the missing tokenizer
}
