// The trained models, and the tests of each.
#include <fmt/format.h>

#include "experiment/language/options.h"
#include "lab/papers/su2023/su2023.h"

namespace poslab::reproduce::su2023 {
namespace {

std::string log_n(const Setup& s, bool only_longer) {
  return fmt::format("log_n:length={}{}", s.length(), only_longer ? ",only_longer" : "");
}

std::string suffix(LogN n) { return n == LogN::off ? "" : n == LogN::at_test ? "-logn_test_only" : "-logn"; }

Method ntk(const Setup& s, LogN n, const std::string& form, int factor = stretch) {
  return stretched(s, n, "NTK-RoPE", fmt::format("ntk:form={},factor={}", form, factor), "-" + form);
}

Method pi(const Setup& s, LogN n, int factor = stretch) {
  return stretched(s, n, "PI-RoPE", fmt::format("pi:factor={}", factor));
}

Method dynamic_ntk(const Setup& s, LogN n) {
  return stretched(s, n, "DynamicNTK", fmt::format("dynamic_ntk:length={}", s.length()));
}

Method yarn(const Setup& s, LogN n, int factor = stretch) {
  return stretched(s, n, "YaRN", fmt::format("yarn:factor={},length={}", factor, s.length()));
}

Method self_extend(const Setup& s, LogN n, int factor = stretch) {
  const int w = s.window(4), group = 2 * factor;
  return stretched(s, n, fmt::format("SelfExtend-w{}-g{}", w, group),
                   fmt::format("self_extend:window={},group={}", w, group));
}

Method lambda_mask(const Setup& s, LogN n) {
  return stretched(s, n, fmt::format("LambdaMask-w{}", s.window(4)), fmt::format("lambda:window={}", s.window(4)));
}

void add(std::vector<Method>& all, const std::vector<Method>& more) { all.insert(all.end(), more.begin(), more.end()); }

const LogN three[] = {LogN::off, LogN::at_test, LogN::trained};

Method hfwa() { return {.name = "HFWA", .model = "hfwa", .source = "HFWA"}; }

// Su's rule of thumb: its windows let a slot see (w - 1)(layers - 1) + 1 tokens, about 0.68 of the trained length in
// his experiment, so 16 of 512 in 24 layers.
int hfwa_window(const Setup& s) {
  const Choices c = language::configure(s.all);
  return std::max(2, 1 + int((0.68 * s.length() - 1) / std::max(1, c.whole("layers") - 1)));
}

std::string hfwa2(const Setup& s, int rerope) {
  return fmt::format("hfwa2:window={},rerope={}", std::max(2, s.window(1)), rerope);
}

}  // namespace

int Setup::length() const { return language::configure(all).whole("train_length"); }

std::vector<Model> models(const Setup& s) {
  const auto with = [&](const std::string& name, const Settings& more, bool llama = false) {
    return Model{name, &language_kind(), joined(llama ? s.llama : s.all, more)};
  };
  const std::string trained = log_n(s, false);
  return {
      with("rope", {}),
      with("rope_log_n", {{"temperature", trained}}),
      with("hfwa", {{"encoding", fmt::format("hfwa:window={},length={}", hfwa_window(s), s.length())}}),
      with("llama", {}, true),
      with("hfwa2", {{"encoding", hfwa2(s, 0)}, {"temperature", trained}}),
      with("inverse_leaky", {{"encoding", fmt::format("rerope:window={},leaky={}", s.window(2), 0.5 / stretch)},
                             {"temperature", trained}}),
      with("key_norm", {{"temperature", "key_norm"}}),
      with("none", {{"encoding", "none"}}),
      with("alibi", {{"encoding", "alibi"}}),
      with("randomized", {{"positions", fmt::format("randomized:max_position={}", 2 * stretch * s.length())}}),
  };
}

ModelTest Method::test() const {
  if (encoding.empty() && temperature.empty() && times.empty()) return {model, {own_test, {}}};
  const std::string file = fmt::format("tests/{}{}.csv", name, times.empty() ? "" : "-far");
  std::vector<std::string> words = {"lm", "eval", "{run}", "--out={run}/" + file};
  if (!encoding.empty()) words.push_back("--encoding=" + encoding);
  if (!temperature.empty()) words.push_back("--temperature=" + temperature);
  if (!times.empty()) words.push_back("--times=" + times);
  return {model, {file, words}};
}

Method stretched(const Setup& s, LogN n, const std::string& name, const std::string& encoding, const std::string& end,
                 const std::string& source) {
  return {.name = name + suffix(n) + end,
          .model = n == LogN::trained ? "rope_log_n" : "rope",
          .encoding = encoding,
          .temperature = n == LogN::at_test ? log_n(s, true) : "",
          .source = (source.empty() ? name : source) + suffix(n) + end};
}

Method rerope(const Setup& s, LogN n, int eighths, int leaky) {
  const int w = s.window(eighths), theirs = 64 * eighths;
  if (!leaky)
    return stretched(s, n, fmt::format("ReRoPE-w{}", w), fmt::format("rerope:window={}", w), "",
                     fmt::format("ReRoPE-w{}", theirs));
  return stretched(s, n, fmt::format("LeakyReRoPE-w{}-k{}", w, leaky),
                   fmt::format("rerope:window={},leaky={}", w, leaky), "",
                   fmt::format("LeakyReRoPE-w{}-k{}", theirs, leaky));
}

Method as_it_is(LogN n) {
  return {.name = "Baseline" + suffix(n),
          .model = n == LogN::trained ? "rope_log_n" : "rope",
          .source = "Baseline" + suffix(n)};
}

Method no_distances() { return {.name = "ReRoPE-w0", .model = "rope", .encoding = "none"}; }

std::vector<Method> main_methods(const Setup& s) {
  std::vector<Method> all = {as_it_is(LogN::off),  as_it_is(LogN::trained),  pi(s, LogN::off),
                             pi(s, LogN::trained), ntk(s, LogN::off, "old"), ntk(s, LogN::trained, "old")};
  for (const char* form : {"fixed", "mixed"})
    for (const LogN n : three) all.push_back(ntk(s, n, form));
  for (const LogN n : three) all.push_back(rerope(s, n, 4));
  all.push_back(hfwa());
  return all;
}

std::vector<Method> window_methods(const Setup& s) {
  std::vector<Method> all;
  for (const int eighths : {1, 2, 4, 6, 8})
    for (const LogN n : three) all.push_back(rerope(s, n, eighths));
  return all;
}

std::vector<Method> leaky_methods(const Setup& s) {
  std::vector<Method> all;
  for (const int eighths : {2, 4})
    for (const int k : {0, 64, 32, 16, 8}) all.push_back(rerope(s, LogN::trained, eighths, k));
  return all;
}

// As in the released patches for LLaMA (github.com/bojone/rerope): NTK mixed with k = 12 and exponent 0.75, a quarter
// of the trained length as the window, and log n at test.
std::vector<Method> llama_methods(const Setup& s) {
  const std::string at_test = log_n(s, true);
  return {{.name = "RoPE", .model = "llama", .source = "RoPE"},
          {.name = "NTK-RoPE",
           .model = "llama",
           .encoding = "ntk:form=mixed,factor=12,exponent=0.75",
           .temperature = at_test,
           .source = "NTK-RoPE"},
          {.name = "ReRoPE",
           .model = "llama",
           .encoding = fmt::format("rerope:window={}", s.window(2)),
           .temperature = at_test,
           .source = "ReRoPE"}};
}

// Each in three forms: log n off, at test, trained.
std::vector<Method> untrained_methods(const Setup& s) {
  std::vector<Method> all;
  for (const LogN n : three) {
    if (n == LogN::at_test) {
      Method m = as_it_is(LogN::off);
      all.push_back({.name = "Baseline-logn_test_only", .model = m.model, .temperature = log_n(s, true)});
    } else {
      all.push_back(as_it_is(n));
    }
  }
  const auto three_of = [&](const auto& make) {
    for (const LogN n : three) all.push_back(make(n));
  };
  three_of([&](LogN n) { return pi(s, n); });
  for (const char* form : {"old", "fixed", "mixed"}) three_of([&](LogN n) { return ntk(s, n, form); });
  three_of([&](LogN n) { return dynamic_ntk(s, n); });
  three_of([&](LogN n) { return yarn(s, n); });
  for (const int eighths : {2, 4}) three_of([&](LogN n) { return rerope(s, n, eighths); });
  three_of([&](LogN n) { return rerope(s, n, 2, 16); });
  three_of([&](LogN n) { return self_extend(s, n); });
  three_of([&](LogN n) { return lambda_mask(s, n); });
  return all;
}

std::vector<Method> trained_methods(const Setup& s) {
  return {as_it_is(LogN::off),
          as_it_is(LogN::trained),
          rerope(s, LogN::trained, 4),
          hfwa(),
          {.name = fmt::format("HFWA2-w{}-f1-logn", std::max(2, s.window(1))),
           .model = "hfwa2",
           .encoding = hfwa2(s, s.window(4)),
           .source = "HFWA2-w64-f1"},
          {.name = fmt::format("InvLeaky-w{}-logn", s.window(2)),
           .model = "inverse_leaky",
           .encoding = "rope",
           .source = "InvLeaky-w128"},
          {.name = "KeyNorm", .model = "key_norm", .source = "KeyNorm"},
          {.name = "NoPE", .model = "none"},
          {.name = "ALiBi", .model = "alibi"},
          {.name = "Randomized-RoPE", .model = "randomized"}};
}

std::vector<Method> length_methods(const Setup& s) {
  return {as_it_is(LogN::off),         pi(s, LogN::off),
          ntk(s, LogN::off, "mixed"),  rerope(s, LogN::off, 4),
          rerope(s, LogN::trained, 4), hfwa()};
}

// Methods with a factor are stretched to the last of the lengths; two of them also to `stretch`.
std::vector<Method> far_methods(const Setup& s) {
  const LogN off = LogN::off;
  std::vector<Method> all = {rerope(s, off, 4),
                             rerope(s, LogN::at_test, 4),
                             rerope(s, off, 2),
                             rerope(s, off, 2, 2 * far),
                             self_extend(s, off, far),
                             rerope(s, off, 2, 2 * stretch),
                             self_extend(s, off),
                             lambda_mask(s, off),
                             yarn(s, off, far),
                             ntk(s, off, "fixed", far),
                             ntk(s, off, "mixed", far),
                             dynamic_ntk(s, off),
                             pi(s, off, far),
                             as_it_is(off),
                             hfwa()};
  for (Method& m : all) m.times = fmt::format("1/{}/{}", stretch, far), m.source = "";
  return all;
}

std::vector<Method> claim_methods(const Setup& s) {
  std::vector<Method> all = main_methods(s);
  add(all, window_methods(s)), add(all, leaky_methods(s)), add(all, llama_methods(s));
  all.push_back(no_distances());
  for (const Method& m : trained_methods(s))
    if (m.model == "none") all.push_back(m);
  return all;
}

}  // namespace poslab::reproduce::su2023
