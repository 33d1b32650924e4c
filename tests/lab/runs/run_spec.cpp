// experiment/run_spec.h: options are parsed when a run begins; its steps, tests and pages do not parse them again.
#include "experiment/run_spec.h"

#include <doctest/doctest.h>

#include "encodings/own.h"
#include "lab/runs/whole_run.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;

namespace {

int times_read = 0;

// NoPE and `sequential`, each with an option that counts how often its spelling is parsed.
Option counting() {
  Option o = Option::text("word", "", "any");
  o.sets = [](const std::string& text) { return ++times_read, Settings{{"word", text}}; };
  return o;
}
struct CountingThings {
  CountingThings() {
    Sampler counted = choose_sampler("sequential").thing;
    counted.name = "counted", counted.options.push_back(counting());
    add_sampler(counted);
    add_encoding({.name = "counted", .options = {counting()}});
  }
  ~CountingThings() { list_of_encodings().pop_back(), list_of_samplers().pop_back(); }
};

int times_read_by(const Kind& kind, const std::string& option, const char* steps, bool typed) {
  static const std::map<std::string, Settings> sizes = {
      {"strings", {{"task", "reverse_string"}, {"train_length", "6"}, {"eval_lengths", "1:8"}}},
      {"language", {{"text", "copy_grammar"}, {"train_length", "16"}, {"key_heads", "2"}, {"eval_times", "1/2"}}},
      {"t5", {{"tasks", "line"}, {"train_length", "32"}, {"decoder_layers", "1"}, {"eval_lengths", "32/64"}}},
      {"answering", {{"task", "reverse_string"}, {"train_length", "6"}, {"eval_lengths", "1:8"}}}};
  const TemporaryFolder folder;
  Settings all = sizes.at(kind.name);
  all.insert(all.end(), {{"encoding", "none"}, {"layers", "2"}, {"heads", "2"}, {"d_model", "16"}, {"steps", steps},
                         {"eval_samples", "2"}, {"out", folder / "run"}});
  const Settings counted = {{option, "counted:word=a"}};
  if (!typed) all = joined(all, counted);
  times_read = 0;
  if (typed)
    train_run(kind, all, {counted, {{"seed", "1"}}}, false);   // as with --set seed=1 on the command line
  else
    train_run(kind, all, {}, false);
  return times_read;
}

}  // namespace

TEST_CASE("run: a spelling is parsed at most three times, however many steps there are") {
  const CountingThings counting;
  for (const Kind* kind : all_kinds())
    for (const char* option : {"encoding", "positions"})
      for (const bool typed : {false, true}) {
        CAPTURE(kind->name + ", " + option);
        const int few = times_read_by(*kind, option, "3", typed);
        CHECK(few > 0);
        CHECK(few <= 3);
        CHECK(times_read_by(*kind, option, "9", typed) == few);
      }
}
