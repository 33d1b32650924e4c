// The third source (lab/papers/su2023/su2023.h): its rows beside the source's, what its sentences say of made-up
// numbers, and all of it on toy models, stopped and gone on with.
#include <set>
#include <sstream>

#include "core/platform/isa.h"
#include "experiment/language/options.h"
#include "experiment/numerics.h"
#include "lab/papers/claims.h"
#include "lab/papers/paper.h"
#include "lab/papers/reproduce.h"
#include "lab/papers/su2023/su2023.h"
#include "lab/runs/results_csv.h"
#include "tests/lab_helpers.h"

using namespace poslab;
using namespace poslab::reproduce;
using namespace poslab::test;
namespace fs = std::filesystem;

namespace {

std::vector<const Artifact*> all_of_it() { return artifacts({"su2023"}); }

const std::vector<std::string> toy_sets = {"text=copy_grammar", "merges=0",       "layers=2",       "heads=2",
                                           "key_heads=2",       "d_model=16",     "d_ff=16",        "batch=2",
                                           "train_length=16",   "eval_samples=2", "steps=3",        "seeds=1"};

std::string toy() {
  std::string words = " --size tiny --jobs 2 --threads 1";
  for (const std::string& set : toy_sets) words += " --set " + set;
  return words + " --out ";
}

size_t lines_with(const std::string& text, const std::string& part) {
  size_t n = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) n += holds(line, part);
  return n;
}

}  // namespace

TEST_CASE("su2023: every row of the source's tables is here once, with its number") {
  const su2023::Setup s = su2023::setup("paper", {});
  const auto known = [&](const std::vector<su2023::Method>& methods, const char* table, const char* column,
                         size_t rows) {
    std::set<std::string> names;
    for (const su2023::Method& m : methods) {
      INFO(m.name << " is " << m.source);
      CHECK(names.insert(m.source).second);
      CHECK_FALSE(std::isnan(paper_value(table, m.source, column)));
      if (std::string(table) != "su2023_llama") CHECK(m.name == m.source);  // at the source's length
    }
    CHECK(names.size() == rows);
  };
  known(su2023::main_methods(s), "su2023_main", "acc_4096_repeated", 16);
  known(su2023::window_methods(s), "su2023_window", "acc_4096_nonrepeated", 15);
  known(su2023::leaky_methods(s), "su2023_leaky", "acc_512_train", 10);
  known(su2023::llama_methods(s), "su2023_llama", "len8192", 3);
  CHECK(std::isnan(paper_value("su2023_llama", "RoPE", "len16384")));  // the source has a dash
}

TEST_CASE("su2023: windows go by the trained length, and HFWA's as in the source") {
  const su2023::Setup tiny = su2023::setup("tiny", {});
  CHECK(su2023::rerope(tiny, su2023::LogN::trained, 4).encoding == "rerope:window=32");
  CHECK(su2023::rerope(tiny, su2023::LogN::off, 2, 16).name == "LeakyReRoPE-w16-k16");
  CHECK(su2023::rerope(tiny, su2023::LogN::at_test, 8).temperature == "log_n:length=64,only_longer");
  const auto encoding_of = [](const su2023::Setup& s, const std::string& model) {
    for (const Model& m : su2023::models(s))
      if (m.name == model) return language::configure(m.settings)["encoding"];
    return std::string();
  };
  CHECK(encoding_of(su2023::setup("paper", {}), "hfwa") == "hfwa");  // 16 of 512 in 24 layers are its defaults
  CHECK(encoding_of(tiny, "hfwa") == "hfwa:window=22,length=64");
  CHECK(encoding_of(tiny, "inverse_leaky") == "rerope:window=16,leaky=0.0625");
}

TEST_CASE("su2023: every method is tested in a file of its own, once for all tables") {
  for (const ModelSize& size : su2023::all_sizes()) {
    const su2023::Setup setup = su2023::setup(size.name, {});
    const ModelSource source = su2023::source({size.name, {}, "nowhere"});
    const std::vector<Plan> plans = source.plans(all_of_it());
    REQUIRE(plans.size() == 1);
    CHECK(plans[0].size() == su2023::models(setup).size() * size_t(size.seeds));
    for (const Trial& t : plans[0]) {
      std::set<std::string> files;
      for (const TrialTest& test : t.tests) CHECK(files.insert(test.file).second);
      CHECK(SweepFolder("nowhere").steps_left(t) == 1 + t.tests.size());
    }
    CHECK(source.plans(artifacts({"su2023:llama"}))[0].size() == size_t(size.seeds));
    CHECK(source.plans(artifacts({"su2023:matrices"})).empty());
  }
}

TEST_CASE("su2023: what is claimed is told by the interval, whichever way it comes out") {
  CHECK(verdict({{0, 0.1}, {1, 0.2}, {2, 0.1}}, 0) == "holds");
  CHECK(verdict({{0, -0.1}, {1, -0.2}, {2, -0.1}}, 0) == "does not");
  CHECK(verdict({{0, 0.1}, {1, -0.2}, {2, 0.1}}, 0) == "inconclusive");
  CHECK(verdict({{0, 0.1}}, 0) == "inconclusive");
  CHECK(verdict({{0, 0.01}, {1, -0.01}, {2, 0.}}, 0.02) == "holds");
  CHECK(verdict({{0, 0.03}, {1, 0.05}, {2, 0.04}}, 0.02) == "does not");
  CHECK(verdict({{0, 0.03}, {1, 0.01}, {2, 0.}}, 0.02) == "inconclusive");
}

TEST_CASE("su2023: settings that do not fit are refused") {
  const auto said = [](const std::vector<std::string>& sets) { return refusal([&] { su2023::setup("tiny", sets); }); };
  CHECK(said({"steps=5", "seeds=2"}) == "");
  CHECK(holds(said({"steps"}), "2: --set steps is not KEY=VALUE"));
  CHECK(holds(said({"encoding=alibi"}), "each table says for itself which"));
  CHECK(holds(said({"stepps=3"}), "did you mean \"steps\""));
  CHECK(holds(said({"train_length=8"}), "take 16 or more"));
  CHECK(holds(refusal([] { su2023::setup("tinny", {}); }), "did you mean \"tiny\""));
  CHECK(holds(refusal([] { plan({{"su2023:main"}, "tiny", {}, {}, {}}); }), "ask for it apart from those that are"));
}

TEST_CASE("su2023: all of it on toy models, stopped and gone on with") {
  const TemporaryFolder folder;
  const std::string out = folder / "toy", words = "reproduce su2023" + toy() + "'" + out + "'";
  const std::string one = su2023::source({"tiny", toy_sets, out}).models.file("rope", 0, "tests/PI-RoPE.csv");
  Program first(folder, words);
  while (first.running() && !fs::exists(one))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  first.send(SIGINT);
  CHECK_MESSAGE(first.status() == 130, first.output());
  CHECK(holds(first.output(), "the same command goes on with it"));
  const auto written = fs::last_write_time(one);

  Program again(folder, words);
  REQUIRE_MESSAGE(again.status() == 0, again.output());
  CHECK(holds(again.output(), "10 of 10 runs are trained, and"));
  CHECK(fs::last_write_time(one) == written);
  const std::string head = read_file(out + "/README.md").substr(0, 1000);  // by what its runs were trained
  CHECK_MESSAGE(holds(head, "Trained by "), head);
  const bool listed = !numerics(isa()).empty();  // not for a clang, nor where real = double
  CHECK_MESSAGE(holds(head, "; numerics ") == listed, head);
  CHECK_MESSAGE(holds(head, "further tests done. Old: ") != listed, head);
  for (const Artifact* a : all_of_it()) {
    const std::string name = out + "/" + a->name.substr(a->name.find(':') + 1);
    CHECK(fs::exists(name + ".csv"));
    CHECK_MESSAGE(!holds(read_file(name + ".md"), "could not be drawn"), name);
  }
  CHECK(lines_with(read_file(out + "/main.md"), "| ReRoPE-w8-logn |") == 1);
  CHECK(lines_with(read_file(out + "/main.csv"), "Baseline") == 6);
  CHECK(holds(read_file(out + "/index.html"), "data:image/svg+xml;base64,"));
  // the numbers are those of the tests
  const su2023::Results results(su2023::setup("tiny", toy_sets), out);
  const su2023::Method method = su2023::rerope(results.setup(), su2023::LogN::trained, 4);
  for (const Row& at :
       read_results(out + "/runs/named/rope_log_n-0/tests/ReRoPE-w8-logn.csv", language_kind()))
    if (at.length() == 128)
      CHECK(results.accuracy(method, 8, at.word("set") == "repeated").at(0) == at["accuracy"]);
  CHECK(results.loss(su2023::llama_methods(results.setup())[0], 4).size() == 1);
  // a window of 8 within training: ReRoPE of a model that was trained with distances to 15 is another model
  const auto loss = [&](const su2023::Method& m) { return results.loss(m, 8).at(0); };
  CHECK(loss(method) != loss(su2023::as_it_is(su2023::LogN::trained)));

  // other settings are other trials
  Program other(folder, "reproduce su2023:main --draw" + toy() + "'" + out + "' --set steps=4");
  CHECK(other.status() == 0);
  CHECK(holds(other.output(), "0 of 3 runs are trained, and 0 of 13 further tests done."));
  fs::remove(one);
  Program draw(folder, "reproduce su2023:main --draw" + toy() + "'" + out + "'");
  CHECK(draw.status() == 0);
  CHECK(holds(draw.output(), "3 of 3 runs are trained, and 12 of 13 further tests done."));
}

TEST_CASE("su2023: what an earlier version trained and tested is taken over") {
  const TemporaryFolder folder;
  const std::string out = folder / "out", words = "reproduce su2023:llama" + toy() + "'" + out + "'";
  Program first(folder, words);
  REQUIRE_MESSAGE(first.status() == 0, first.output());
  const ModelSource source = su2023::source({"tiny", toy_sets, out});
  const std::string run = source.models.file("llama", 0, ""), weights = read_file(run + "checkpoint.safetensors");
  fs::remove_all(out + "/runs/named");
  fs::create_directory(out + "/tests");
  fs::rename(run + "tests", out + "/tests/llama-0");
  fs::rename(fs::path(run).parent_path(), out + "/runs/llama-0");
  const std::string before = read_file(out + "/llama.csv");
  Program draw(folder, words + " --draw");
  CHECK(holds(draw.output(), "1 of 1 runs are trained, and 2 of 2 further tests done."));
  CHECK(read_file(out + "/llama.csv") == before);
  CHECK(read_file(run + "checkpoint.safetensors") == weights);
  // a test that fails says which
  fs::remove(run + "tests/ReRoPE.csv"), fs::remove(run + "checkpoint.safetensors");
  Program broken(folder, words);
  CHECK(broken.status() == 1);
  CHECK(holds(broken.output(), "llama-0  tests/ReRoPE.csv: "));
  CHECK(holds(broken.output(), "1 of 1 runs are trained, and 1 of 2 further tests done."));
}

TEST_CASE("su2023: runs that fail are named, and what is missing is drawn as missing") {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  Program failing(folder, "reproduce su2023:llama --set text=/nowhere --set seeds=2 --out '" + out + "'");
  CHECK(failing.status() == 1);
  CHECK(holds(failing.output(), "llama-1  there is no file or folder /nowhere; name a text"));
  CHECK(holds(failing.output(), "2 runs failed; the same command tries again what is missing"));
  CHECK(holds(failing.output(), "0 of 2 runs are trained, and 0 of 4 further tests done."));
  CHECK(holds(read_file(out + "/llama.md"), "| ReRoPE | – (source 1.4996) |"));
}
