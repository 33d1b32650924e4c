// The sizes of the third source, what --set changes of them, and what Python is told to draw.
#include "lab/papers/su2023/su2023.h"

#include <fmt/format.h>

#include "experiment/language/options.h"
#include "lab/files/shell.h"
#include "lab/pages/show/show.h"
#include "lab/runs/values.h"

namespace poslab::reproduce::su2023 {
namespace {

// Times and what counts in a test are the tables' own.
const Settings tests = options("eval_times=1/2/4/8");
const Settings tests_of_llama = options("eval_times=1/2/4");

// The methods that an artifact tests.
std::vector<Method> methods(const Artifact& a, const Setup& s) {
  static const std::map<std::string, std::vector<Method> (*)(const Setup&)> all = {
      {"su2023:main", main_methods},       {"su2023:window", window_methods},     {"su2023:leaky", leaky_methods},
      {"su2023:llama", llama_methods},     {"su2023:methods", untrained_methods}, {"su2023:trained", trained_methods},
      {"su2023:lengths", length_methods},  {"su2023:far", far_methods},        {"su2023:claims", claim_methods}};
  const auto found = all.find(a.name);
  return found == all.end() ? std::vector<Method>() : found->second(s);
}

// The relative positions of six schemes, which Python draws.
Json matrices() {
  show::Options options;
  for (const show::Set& set : show::all_sets())
    if (set.name == "rerope") options.encodings = set.encodings(16);
  options.views = {"relative"}, options.length = 16, options.causal = true;
  const show::View view = show::views(options)[0];
  Json all = {{"reading", view.reading}, {"matrices", Json::object()}};
  for (const show::Matrix& m : view.matrices)
    for (int i = 0; i < m.rows; ++i) {
      const auto row = m.heads[0].begin() + i * m.cols;
      all["matrices"][m.of].push_back(std::vector<double>(row, row + i + 1));
    }
  return all;
}

Json about(const Artifact& a, const Setup& s) {
  if (a.name == "su2023:matrices") return matrices();
  Json all = {{"methods", Json::array()}};
  for (const Method& m : methods(a, s))
    all["methods"].push_back({{"method", m.name},
                              {"model", m.model},
                              {"encoding", m.encoding},
                              {"temperature", m.temperature},
                              {"file", m.test().test.file},
                              {"row", m.source}});
  return all;
}

std::string how(const Setup& s) {
  const Choices c = language::configure(s.all);
  const std::string text = c["text"].empty() ? "the C++ headers of the compiler" : c["text"];
  return fmt::format(
      "{} of a decoder of {} {}, width {}; {} steps of {} windows of {} tokens of {}{}; {}{} windows of each test.",
      counted(size_t(s.seeds), "seed"), c["layers"], c["unit"] == "gau" ? "gated attention units" : "blocks of LLaMA's",
      c["d_model"], c["steps"], c["batch"], s.length(), text,
      c.whole("merges") ? fmt::format(" (bytes and {} pairs)", c["merges"]) : "",
      c.number("repeats") > 0
          ? fmt::format("{:.3g} % of these windows repeat their beginning; ", 100 * c.number("repeats"))
          : "",
      c["eval_samples"]);
}

}  // namespace

const std::vector<ModelSize>& all_sizes() {
  static const std::vector<ModelSize> sizes = {
      {"tiny",
       "3 blocks of LLaMA's of width 128, windows of 64 tokens, three seeds; all of it within an hour on 2 cores",
       3,
       options("unit=llama layers=3 heads=4 key_heads=4 d_model=128 d_ff=256 merges=256 train_length=64 repeats=0.5 "
               "batch=16 steps=1500 lr=0.003 eval_samples=64 log_every=50"),
       {},
       "The source's models learn from their text alone to copy what they have read before; models of this size do not "
       "in the time. Tried were, always on the headers: gated attention units, 1,500 steps of 8 windows of 128 tokens, "
       "and with three tenths of the windows repeated 1,500 steps of 16 windows of 64; LLaMA's blocks, 3,000 steps of "
       "8 windows of 128. All of them were as good on repeated texts as on long ones, but no better. So half of the "
       "training windows say their beginning again and again (units of 8 to 32 tokens), and the blocks are LLaMA's, "
       "which learn to copy within 1,200 steps. No test repeats at so short a distance: its units have 128 tokens."},
      {"example", "10 million parameters: 24 units of width 256, windows of 512 tokens, one seed; days on many cores",
       1,
       options("unit=gau layers=24 heads=8 key_heads=8 d_model=256 d_ff=512 merges=768 train_length=512 batch=16 "
               "steps=20000 lr=0.001 eval_samples=16"),
       options("layers=12 d_ff=688"), ""},
      {"paper",
       "the source's 100 million parameters: 24 units of width 768, windows of 512 tokens, three seeds; name a text of "
       "your own with --set text=FOLDER",
       3,
       options("unit=gau layers=24 heads=12 key_heads=12 d_model=768 d_ff=1536 merges=12000 train_length=512 "
               "batch=64 steps=200000 lr=0.0003 warmup=2000 eval_samples=64"),
       options("layers=12 d_ff=2048"),
       "The source does not tell its text, vocabulary, batch and number of steps, and it has an optimizer of its own; "
       "these are guesses."},
  };
  return sizes;
}

Setup setup(const std::string& size, const std::vector<std::string>& sets) {
  const ModelSize& of = find("size", all_sizes(), size);
  const Sets said = read_sets(sets, {"eval_times", "eval_tail", "checkpoint_every"});
  const Settings all = joined(of.options, tests), llama = joined(joined(of.options, of.others), tests_of_llama);
  Setup s{joined(all, said.options), joined(llama, said.options), said.seeds.value_or(of.seeds), of.note};
  s.llama = joined(s.llama, {{"unit", "llama"}});
  language::check(language::configure(s.all));  // refused now, and not in each run
  if (s.length() < 16)
    bad_input("--set train_length={}: the smallest window of ReRoPE is an eighth of it; take 16 or more", s.length());
  s.llama.emplace_back("eval_tail", fmt::format("{}", s.length()));
  language::check(language::configure(s.llama));
  return s;
}

ModelSource source(const ModelRequest& request) {
  const Setup s = setup(request.size, request.sets);
  const auto tests = [s](const Artifact& a) {
    std::vector<ModelTest> all;
    for (const Method& m : methods(a, s)) all.push_back(m.test());
    return all;
  };
  return {.models = {models(s), s.seeds},
          .tests = tests,
          .how = how(s),
          .about = {{"seeds", s.seeds},
                    {"note", s.note},
                    {"stretch", stretch},
                    {"far", far},
                    {"options", config_json(language::configure(s.all))},
                    {"llama", config_json(language::configure(s.llama))}},
          .about_artifact = [s](const Artifact& a) { return about(a, s); }};
}

}  // namespace poslab::reproduce::su2023
