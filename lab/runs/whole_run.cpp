#include "lab/runs/whole_run.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/platform/parallel.h"
#include "experiment/build.h"
#include "experiment/no_effect.h"
#include "lab/files/files.h"
#include "lab/files/progress.h"
#include "lab/files/shell.h"
#include "lab/runs/output.h"
#include "lab/runs/own_files.h"
#include "lab/runs/pictures.h"
#include "lab/runs/results_csv.h"
#include "lab/runs/room.h"
#include "lab/runs/unreached.h"

namespace poslab {
namespace {

void use_threads_of(const Choices& c) {
  if (c.whole("threads") > 0) set_threads(c.whole("threads"));
}

// The settings' value of this option, or "".
std::string said_of(const std::string& option, const Settings& settings) {
  const auto said = std::find_if(settings.rbegin(), settings.rend(), [&](auto& s) { return s.first == option; });
  return said == settings.rend() ? "" : said->second;
}

std::string to_resume(const RunFolder& run, const Choices& c) {
  return fmt::format("poslab {} {}", kind_of(c).command("resume"), shell_path(run.path()));
}

// The outcome of a run: its training and program, its scores if its kind has the paper's, and its speed.
RunRecord record_of(const Learner& l, const Choices& tested, const std::vector<TestPart>& parts, const Results& all) {
  const Choices& c = l.config();
  RunRecord r;
  if (c.has("task")) r.task = c["task"];
  r.encoding = tested["encoding"], r.positions = tested["positions"];
  r.repeats = repeats(parts);
  r.parameters = l.params().count(), r.steps = l.adam().step;
  const auto known = [](double x) { return std::isnan(x) ? std::nullopt : std::optional(x); };
  if (const Row s = kind_of(c).scores(tested, all); s.has("paper_score")) {
    r.paper_score = known(s["paper_score"]), r.released_score = known(s["released_score"]);
    if (r.paper_score) r.baselines = Baselines{s["chance"], s["majority"], s["content_only"]};
  }
  add_origin(r, products(c), device(c) == Device::cpu ? rounding(c) : Rounding::fp32);
  return r;
}

// Writes eval.csv, result.json and pictures; pictures come last, and complete a run. seconds: of training since step 0,
// if known. Without `trained` the run was only tested, and the record keeps its training.
void write_own_test(const RunFolder& run, const Learner& l, RunRecord r, const Choices& tested, const Results& all,
                    bool trained, std::optional<double> seconds = {}) {
  if (seconds) add_clock(r, *seconds);
  if (const State* state = l.pictured()) write_pictures(run, *state);
  r.files = own_files(run.path());
  if (!trained) {
    const RunRecord before = record_before(run.path(), l.config());
    keep_origin(r, before);
    for (const auto& [name, sum] : before.files)
      if (name != "pictures.json") r.files[name] = sum;
  }
  write_test(run.path(), "", all, r, tested);
}

std::string summary(const Learner& l, const RunSpec& tested, const Results& all, std::optional<double> seconds) {
  const Kind& kind = kind_of(tested);
  const std::string& studied = tested[kind.studied];  // "" for a text means the compiler's headers
  std::string text = fmt::format("{}, {}, positions {}: {} parameters, {} steps", studied.empty() ? kind.name : studied,
                                 tested.scheme.spelled(), tested["positions"], l.params().count(), l.adam().step);
  if (seconds) text += fmt::format(", {:.1f} steps/s with checkpoints", double(l.adam().step) / *seconds);
  for (const std::string& option : kind.tested)       // the encoding is named above, and ranges and test_... below
    if (option != "encoding" && !option.starts_with("eval_") && !option.starts_with("test_") &&
        tested[option] != l.config()[option])
      text += fmt::format(", tested with {} = {}", option, tested[option]);
  return text + "\n" + kind.shown(tested, all);
}

std::string train_and_test(Run run, Trace* trace) {
  Learner& l = *run.learner;
  if (const char* from = std::getenv("POSLAB_BLOCK_KERNEL"); from && l.params().device() == Device::cpu)
    tell(log_of_thread(), "POSLAB_BLOCK_KERNEL={} changes nothing here: it is for runs on a GPU\n", from);
  const std::optional<double> seconds = train(run.folder, l, trace);
  const std::string again = to_resume(run.folder, l.config());
  const std::vector<TestPart> parts = l.test(l.config());
  const Results all = evaluate(parts, again, l.params().device());
  write_own_test(run.folder, l, record_of(l, l.config(), parts, all), l.config(), all, true, seconds);
  check_finite(all, true);
  const std::string& path = run.folder.path();
  return fmt::format("{}\nall of it is in {}; `poslab report {} -o report.html` draws it",
                     summary(l, l.config(), all, seconds), path, shell_path(path));
}

// The destination of a test: a file that the user names; eval.csv for the run's own test; for another test, a file in
// the run; and none for another model without a name.
struct Destination {
  std::string file;
  OtherTest other;
  bool nowhere = false;
};

Destination destination_of(const Run& run, const Choices& tested, const Keep& keep) {
  const Choices& own = run.learner->config();
  const Kind& kind = kind_of(own);
  Destination p{keep.file, {keep.name, differing(own, tested)}};
  if (!keep.file.empty() && !keep.name.empty())
    bad_input("-o {} and --name {}: -o writes a file of your own, --name one in the run; give one of them", keep.file,
              keep.name);
  if (!keep.file.empty()) {
    check_output("-o", keep.file, {csv_output(header_of(kind))});
    return p;
  }
  const bool same_model = std::all_of(p.other.options.begin(), p.other.options.end(), [](const auto& o) {
    return o.first.starts_with("eval_") || o.first.starts_with("test_") || o.first == "matmul";
  });
  p.nowhere = !same_model && keep.name.empty();
  if (!p.nowhere) find_name(run.folder.path(), p.other);
  if (const int64_t all = own.count("steps"), done = run.learner->adam().step; p.other.options.empty() && done < all)
    bad_input(
        "{} is trained to step {} of {}, but eval.csv is for finished runs; finish it with `{}`, or write a file of "
        "your own with -o FILE",
        run.folder.path(), done, all, to_resume(run.folder, own));
  return p;
}

}  // namespace

std::string train_run(const Kind& kind, const Settings& given, const std::vector<Settings>& typed, bool force,
                      Trace* trace) {
  const Settings of_user = overlaid(kind.table(), typed);
  Settings all = joined(overlaid(kind.table(), {given}), of_user);
  std::optional<Origin> origin;
  if (const std::string from = said_of("from", all); !from.empty())
    origin = open_origin(kind, from), all = settings_from(*origin, kind, all);
  const RunSpec c(kind.configure(of_new_run(all)));
  use_threads_of(c);
  kind.check(c);
  refuse_without_effect(c, of_user);
  RunFolder::check_free(c["out"]);
  if (!force) check_memory(c), check_time(c, threads());
  return train_and_test(create_run(c, std::move(origin)), trace);
}

std::string resume_run(const std::string& path, const Settings& settings, bool force, Trace* trace, const Kind* of) {
  const auto fits = [force](const RunSpec& c) {
    if (!force) check_memory(c);
  };
  Run run = open_run(path, said_of("device", settings), of, fits);
  const RunSpec& c = run.learner->config();
  const Kind& kind = kind_of(c);
  if (const std::string n = said_of("threads", settings); !n.empty()) use_threads_of(kind.configure({{"threads", n}}));
  if (const int64_t done = run.learner->adam().step;
      done == c.count("steps") && missing_of_test(run.folder.path(), kind).empty())
    return fmt::format("{} is complete: {} steps; `poslab {} {}` tests it again", path, done, kind.command("eval"),
                       shell_path(path));
  check_writable(run.folder.path());
  if (!force) check_time(c, threads(), run.learner->adam().step);
  if (Progress::shown) tell(log_of_thread(), "{}\n", estimate(c, run.learner->adam().step));
  return train_and_test(std::move(run), trace);
}

Tested test_run(const std::string& path, const Settings& settings, const Keep& keep, bool force, const Kind* of) {
  const Run run = open_run(path, said_of("device", settings), of);
  const Learner& l = *run.learner;
  const std::string& folder = run.folder.path();  // for a lone checkpoint, the folder next to it
  Settings of_test = settings;
  std::erase_if(of_test, [](const auto& s) { return s.first == "device"; });
  RunSpec c = l.config().with(of_test);
  // an option that repeats the run's own value makes no other test
  for (const std::string trained : {"positions", "temperature"})
    if (const std::string of = "test_" + trained; c.has(of) && l.config()[of] == "same" && c[of] == c[trained])
      c.set(of, "same");
  use_threads_of(c);
  const Kind& kind = kind_of(c);
  refuse_without_effect(c, settings);
  const std::vector<TestPart> parts = l.test(c);
  tell_unreached({c.scheme, test_sampler(c), longest_of(parts, c), c.test_temperature, deepest_stack(c)});
  const Destination place = destination_of(run, c, keep);
  std::string again = test_command(kind, folder, place.other);
  if (!place.file.empty()) again += " -o " + shell_path(place.file);
  begin(use_of(l, "testing", taken_by(parts), footprint(c).of_test), force);
  const Results all = evaluate(parts, again, l.params().device());
  std::string said = summary(l, c, all, {});
  if (place.nowhere) {
    said += fmt::format(
        "\nnot kept, because it is another model than the run's: --name NAME keeps it in {}, -o FILE "
        "elsewhere",
        folder);
  } else if (!place.file.empty()) {
    write_file(place.file, to_csv(all));
    said += "\nall of it is in " + place.file;
  } else if (!place.other.name.empty()) {
    write_other_test(folder, place.other, all, record_of(l, c, parts, all), c);
    said += fmt::format("\nall of it is in {}; `poslab report {} -o report.html` draws it",
                        run.folder.file(csv_of_test(place.other.name)), shell_path(folder));
  } else {
    write_own_test(run.folder, l, record_of(l, c, parts, all), c, all, false);
    said += fmt::format("\nall of it is in {}; `poslab report {} -o report.html` draws it", folder, shell_path(folder));
  }
  const bool kept_in_run = place.file.empty() && !place.nowhere;
  return {said, kept_in_run ? place.other.name : "", all};
}

void check_finite(const Results& all, bool after_training) {
  for (const Row& at : all) {
    if (std::isfinite(at["loss"])) continue;
    const std::string why = fmt::format(
        "the loss at length {} is {}, so its figures mean nothing: NaN or infinity came up in the computation; "
        "POSLAB_DEBUG=4 stops at the first op that makes one, and names it",
        at.length(), std::isnan(at["loss"]) ? "NaN" : "infinite");
    if (!after_training) failure("{}", why);
    tell(log_of_thread(), "poslab: {}\n", why);
    return;
  }
}

}  // namespace poslab
