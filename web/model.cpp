// A model in training: construction, steps, tests, and its parts for a checkpoint.
#include <fmt/format.h>

#include "core/parameter_limit.h"
#include "core/params.h"
#include "experiment/build.h"
#include "experiment/evaluate.h"
#include "experiment/footprint.h"
#include "experiment/lengths.h"
#include "experiment/step.h"
#include "tasks/baselines.h"
#include "web/calls.h"

namespace poslab::web {
namespace {

std::map<int, std::unique_ptr<State>>& models() {
  static std::map<int, std::unique_ptr<State>> all;
  return all;
}

std::string gigabytes(double bytes) { return fmt::format("{:.1f} GB", bytes / 1e9); }

// A page has an address space of 4 GB, minus the program and losses to fragmentation.
void check_memory(const RunSpec& c) {
  constexpr double most = 3e9;
  if (const double needed = footprint(string_load(c)).bytes(); needed > most)
    bad_input("this model needs about {} of memory in training, but a page has {}; use a smaller batch (now {}), "
              "train_length (now {}) or d_model (now {})", gigabytes(needed), gigabytes(most), c["batch"],
              c["train_length"], c["d_model"]);
}

// A model's tensors in a checkpoint, in the order of the stored numbers: the weights, then Adam's moments.
struct Part {
  std::string name;
  Tensor values;
};
std::vector<Part> parts(const State& s) {
  std::vector<Part> all;
  for (const auto& e : s.params.entries()) all.push_back({e.name, e.tensor});
  all.push_back({"adam.m", s.adam.m});
  all.push_back({"adam.v", s.adam.v});
  return all;
}

// The options that differ from the preset and must therefore be on a command line.
Json said(const Choices& c) {
  const Choices preset = configure({{"preset", c["preset"]}});
  std::vector<Json> all;
  for (const ChoiceOption& o : all_choices().options) {
    const std::string& name = o.option.name;
    const bool always = name == "task" || name == "encoding" || name == "positions";
    const bool of_preset = name == "preset" ? c[name] == "none" : c[name] == preset[name];
    if (o.kept && (always || !of_preset)) all.push_back(Json::list(std::vector<std::string>{dashed(name), c[name]}));
  }
  return Json::list(all);
}

Json config_json(const Choices& c) {
  return Json::list(all_choices().options, [&](const ChoiceOption& o) {
    return Json::object({{"name", o.option.name},
                         {"value", c[o.option.name]},
                         {"group", o.group},
                         {"about", o.option.help},
                         {"toggle", o.option.kind == Option::Kind::toggle},
                         {"whole", o.option.kind == Option::Kind::whole && !o.option.is_word(c[o.option.name])},
                         {"number", o.option.kind == Option::Kind::number},
                         {"written", o.kept}});
  });
}

Response added(std::unique_ptr<State> s) {
  static int last = 0;
  const RunSpec& c = s->config;
  const Json about = Json::object(
      {{"model", ++last},
       {"parameters", double(s->params.count())},
       {"said", said(c)},
       {"config", config_json(c)},
       {"format", state_format},
       {"room", room(c, test_sampler(c))},
       {"parts", Json::list(parts(*s), [](const Part& p) {
          return Json::object({{"name", p.name}, {"shape", Json::list(p.values.shape())}});
        })}});
  models()[last] = std::move(s);
  return {about};
}

Response train_new(Request& request) {
  const RunSpec c(configure(of_new_run(request.settings())));
  check_memory(c);
  return added(std::make_unique<State>(c));
}

// Words: "load", a file's name, its number of weights, its configuration. The call "fill" then sets the numbers.
Response load(Request& request) {
  const std::string file = request.next();
  const int most = request.whole("weights", 0, 1 << 30);
  const RunSpec c(configure(request.settings()));
  check_memory(c);
  const ParameterLimit of_file(file, most);
  return added(std::make_unique<State>(c));
}

Response fill(Request& request) {
  State& s = model(request);
  s.adam.step = read_whole("step", request.next(), {0, 1e15}, "a number of steps");
  const float* at = request.numbers.data();
  for (const Part& p : parts(s)) {
    if (p.values.size() > request.numbers.data() + request.numbers.size() - at)
      failure("the checkpoint ends before {}; restore it from a copy, or train again", p.name);
    const std::vector<real> values(at, at + p.values.size());
    p.values.set(values.data()), at += p.values.size();
  }
  return {Json(true)};
}

Response weights(Request& request) {
  const State& s = model(request);
  Response a{Json::object({{"step", double(s.adam.step)}, {"seed", double(s.config.count("seed"))}})};
  for (const Part& p : parts(s)) {
    const std::vector<real> values = p.values.values();
    a.numbers.insert(a.numbers.end(), values.begin(), values.end());
  }
  return a;
}

Response free(Request& request) {
  const int number = request.whole("model", 1, 1 << 30);
  return {Json(models().erase(number) > 0)};
}

Response step(Request& request) {
  State& s = model(request);
  const Step done = finish_step(s.config, start_step(s, draw_step(s.config, s.adam.step)));
  return {Json::object({{"step", double(s.adam.step)},
                        {"loss", done.loss},
                        {"accuracy", double(done.score.correct) / double(done.score.scored)},
                        {"gradient_norm", done.grad_norm},
                        {"length", done.length}})};
}

// Words: a length, the number of strings, and the options in which the test differs from training.
Response test(Request& request) {
  State& s = model(request);
  const std::vector<int> lengths = request.lengths();
  const int strings = request.whole("strings", 1, 100000);
  State tested = s;
  tested.config = s.config.with(request.settings());
  check(tested.config);
  check_lengths(tested.config, lengths, "test");
  return {Json::list(lengths, [&](int length) {
    const AtLength a = test_at(tested, length, strings);
    return Json::object({{"length", length},
                         {"accuracy", a.accuracy},
                         {"unmasked_accuracy", a.unmasked_accuracy},
                         {"loss", a.loss},
                         {"strings", a.samples}});
  })};
}

Response baselines_of(Request& request) {
  const RunSpec& c = model(request).config;
  const std::vector<int> lengths = request.lengths();
  const int strings = request.whole("strings", 1, 100000);
  return {Json::list(lengths, [&](int length) {
    const Baselines b = baselines(task(c["task"]), length, strings, uint64_t(c.count("seed")));
    return Json::object({{"length", length},
                         {"chance", b.chance},
                         {"majority", b.majority},
                         {"content_only", b.content_only}});
  })};
}

}  // namespace

State& model(Request& request) {
  const int number = request.whole("model", 1, 1 << 30);
  const auto found = models().find(number);
  if (found == models().end()) bad_input("model {} is no longer there; train it again, or load a checkpoint", number);
  return *found->second;
}

std::vector<Call> model_calls() {
  return {{"train_new", train_new}, {"load", load}, {"fill", fill}, {"weights", weights},
          {"free", free},           {"step", step}, {"test", test}, {"baselines", baselines_of}};
}

}  // namespace poslab::web
