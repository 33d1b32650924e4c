#include <filesystem>
#include <memory>

#include "apps/all_commands.h"
#include "apps/run_commands.h"
#include "core/error.h"
#include "core/platform/parallel.h"
#include "experiment/no_effect.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/shell.h"
#include "lab/hub/hf_run.h"
#include "lab/hub/stored_tensors.h"
#include "lab/pages/page/print.h"
#include "lab/pages/report/report.h"
#include "lab/papers/compare/compare.h"
#include "lab/runs/output.h"
#include "lab/runs/results_csv.h"
#include "lab/runs/room.h"
#include "lab/runs/run.h"
#include "lab/runs/spelled_file.h"
#include "lab/runs/text_source.h"
#include "lab/runs/unreached.h"

namespace poslab {
namespace {

struct LmEvalWords {
  EvalWords eval;                           // of a run
  std::string hf, text, positions, length;  // an external checkpoint and its options
};

// The tested model: a run's, or an external checkpoint.
struct Model {
  std::unique_ptr<const language::TextLearner> learner;
  RunSpec config;                // the test's options, with the model's own encoding
  std::optional<HfRope> rope{};  // for a checkpoint: fills the options that other encodings leave open
  std::string temperature{};     // for a checkpoint: the typed temperature; "": not given
  // These choices with the typed encoding.
  RunSpec with(const std::string& encoding) const {
    RunSpec c = config;
    const std::string full = with_spelled_file("encoding", encoding);
    c.set("encoding", rope ? for_hf_model(full, *rope, c.whole("train_length")) : full);
    return c;
  }
};

// asked: the typed options of the test, except for the encodings.
Model model_of(const LmEvalWords& w, Settings asked, const std::string& device) {
  if (w.hf.empty()) {
    RunOf<language::TextLearner> run = open_as<language::TextLearner>(language_kind(), w.eval.run, device);
    const RunSpec c = run.learner->config().with(asked);
    return {std::move(run.learner), c};
  }
  if (!device.empty()) asked.emplace_back("device", device);
  const language::HfRun run = language::open_hf_run(w.hf, asked, true);
  Model m{language::learner_of(run), run.config, run.rope};
  for (const auto& [name, value] : asked)
    if (name == "temperature") m.temperature = value;
  return m;
}

struct Tests {
  std::vector<std::string> names;  // the encodings, as typed; "": the model's own
  std::vector<RunSpec> tested;
  std::vector<Results> results;
  Values repeats;  // notes on repeated samples, by part of the test
};

// Tests each encoding on the same texts. All encodings are checked before the first is tested. typed: options given.
Tests test_all(const Model& m, const std::vector<std::string>& encodings, Settings typed, const std::string& again,
               bool force) {
  if (!encodings.empty()) typed.emplace_back("encoding", "");
  Tests t{encodings, {}, {}, {}};
  if (t.names.empty()) t.names = {""};
  std::vector<TestPart> all;
  for (const std::string& name : t.names) {
    RunSpec c = name.empty() ? m.config : m.with(name);
    for (size_t n = 0; n < t.tested.size(); ++n)
      if (t.tested[n]["encoding"] == c["encoding"])
        bad_input("--encoding: {} and {} are the same encoding of this model; name each once", t.names[n], name);
    std::vector<TestPart> parts = m.learner->test(c);
    const int longest = longest_of(parts, c);
    for (TestPart& part : parts) {
      if (t.names.size() > 1) part.words = name + ", " + part.words;
      all.push_back(std::move(part));
    }
    if (!m.temperature.empty()) c.set("temperature", m.temperature);
    refuse_without_effect(c, typed);
    tell_unreached({c.scheme, test_sampler(c), longest, c.temperature, m.learner->config().whole("layers")});
    t.tested.push_back(std::move(c));
  }
  begin(use_of(*m.learner, "testing", taken_by(all), footprint(t.tested[0]).of_test), force);
  t.repeats = repeats(all);
  const Results rows = evaluate(all, again, m.learner->params().device());
  const size_t each = rows.size() / t.names.size();
  for (size_t n = 0; n < t.names.size(); ++n)
    t.results.emplace_back(rows.begin() + long(n * each), rows.begin() + long((n + 1) * each));
  return t;
}

std::string table_of(const Tests& t) {
  if (t.names.size() == 1) return language_kind().shown(t.tested[0], t.results[0]);
  std::vector<const Results*> results;
  for (const Results& one : t.results) results.push_back(&one);
  const std::vector<page::Grid> all = report::compared(t.names, results, t.tested[0].whole("eval_tail"));
  return fmt::format("{}\n{}\n{}\n{}", all[0].caption, markdown(all[0]), all[1].caption, markdown(all[1]));
}

bool is_drawn(const std::string& file) {
  return file.ends_with(".html") || (page::is_figure(file) && !file.ends_with(".csv"));
}

// Checks the destination of the numbers, besides the terminal. Throws BadInput.
void check_kept(const LmEvalWords& w, OtherTest& test, size_t encodings) {
  const Keep& keep = w.eval.keep;
  if (!keep.name.empty() && encodings > 1)
    bad_input("--name {}: a kept test has one encoding, but {} are given; -o page.html keeps all of them",
              keep.name, encodings);
  if (!keep.name.empty() && !keep.file.empty())
    bad_input("-o {} and --name {}: -o writes a file of your own, --name one in the folder; give one of them",
              keep.file, keep.name);
  if (!keep.name.empty()) test.text = checksum_of_text(w.text), find_name(w.hf, test);
  if (keep.file.empty()) return;
  if (encodings > 1 || is_drawn(keep.file))
    report::check_tests_output(keep.file);
  else
    check_output("-o", keep.file, {csv_output(header_of(language_kind()))});
}

void eval_command(const LmEvalWords& w) {
  const Keep& keep = w.eval.keep;
  const std::string typed = w.eval.tested.typed("encoding");
  const std::vector<std::string> encodings =
      typed.empty() ? std::vector<std::string>() : compare::read_spellings(typed);
  if (!external(w.eval.run, w.hf, "eval")) {
    for (const auto& [option, value] :
         {std::pair{"--text", &w.text}, {"--positions", &w.positions}, {"--length", &w.length}})
      if (!value->empty())
        bad_input("{} {} goes with --hf; the run {} has its own{}", option, *value, w.eval.run,
                  value == &w.length ? ", and is tested at multiples of it: use --times 1/4" : "");
    if (encodings.size() < 2 && !is_drawn(keep.file)) return test(w.eval, language_kind());
  }
  catch_signals();
  Settings asked = w.eval.tested.settings("encoding");
  std::string device;
  std::erase_if(asked, [&](const auto& s) {
    if (s.first == "threads") use_threads(s.second);
    if (s.first == "device") device = s.second;
    return s.first == "threads" || s.first == "device";
  });
  for (const auto& [name, value] :
       {std::pair{"positions", &w.positions}, {"train_length", &w.length}, {"text", &w.text}})
    if (!value->empty()) asked.emplace_back(name, with_spelled_file(name, *value));
  const std::string folder = w.hf.empty() ? w.eval.run : w.hf;
  OtherTest kept{keep.name, {asked.begin(), asked.end()}};
  if (!typed.empty()) kept.options["encoding"] = typed;
  check_kept(w, kept, encodings.size());
  std::string again = test_command(language_kind(), folder, kept);
  if (!keep.file.empty()) again += " -o " + shell_path(keep.file);

  const Tests t = test_all(model_of(w, asked, device), encodings, asked, again, w.eval.force);
  std::string where = keep.file;
  if (!keep.name.empty()) {
    Values files = checksums_of_hf(folder);
    files["text"] = kept.text;
    write_other_test(folder, kept, t.results[0],
                     {.encoding = t.tested[0]["encoding"],
                      .positions = t.tested[0]["positions"],
                      .files = std::move(files),
                      .repeats = t.repeats},
                     t.tested[0]);
    where = fmt::format("{}/{}; `poslab report {} -o report.html` draws it", folder, csv_of_test(kept.name),
                        shell_path(folder));
  } else if (t.names.size() > 1 || is_drawn(keep.file)) {
    std::vector<report::TestedRun> drawn;
    for (size_t n = 0; n < t.names.size(); ++n)
      drawn.push_back(report::tested_run(folder, t.tested[n], t.results[n], again));
    if (!keep.file.empty()) report::write_tests(drawn, keep.file);
  } else if (!keep.file.empty()) {
    write_file(keep.file, to_csv(t.results[0]));
  }
  fmt::print("{}\n{}", table_of(t), where.empty() ? "" : fmt::format("all of it is in {}\n", where));
  for (const Results& one : t.results) check_finite(one, false);
}

}  // namespace

bool external(const std::string& run, const std::string& hf, const char* command) {
  if (run.empty() == hf.empty())
    bad_input("poslab lm {} takes a run, as in `poslab lm {} runs/lm`, or a checkpoint, --hf FOLDER{}", command,
              command, run.empty() ? "" : "; not both");
  if (hf.empty() && is_hf_folder(run))
    bad_input("{0} is a checkpoint in Hugging Face format and not a run; use --hf {0}", shell_path(run));
  if (hf.empty() && !std::filesystem::exists(run))
    bad_input("there is no run folder {}; `poslab lm train` makes one, and --hf FOLDER names a checkpoint on this disk",
              shell_path(run));
  return !hf.empty();
}

void use_threads(const std::string& word) {
  const int threads = word.empty() ? 0 : language::configure({{"threads", word}}).whole("threads");
  if (threads) set_threads(threads);
}

void add_lm_eval(Commands& commands) {
  const auto words = std::make_shared<LmEvalWords>();
  CLI::App* eval = commands.add("eval", "test a run again, or an external checkpoint, also with other encodings",
                                [=] { eval_command(*words); });
  add_eval_options(eval, language_kind(), words->eval, false);
  eval->get_option("--encoding")->type_name("NAME,NAME,...  (as the run has it)");
  const auto option = [&](const char* name, std::string& to, const char* help, const char* takes) {
    eval->add_option(name, to, help)->type_name(takes);
  };
  option("--hf", words->hf, "a checkpoint in Hugging Face format, not a run", "FOLDER");
  option("--positions", words->positions, "with --hf: which positions the tokens carry (sequential)", "NAME");
  option("--length", words->length, "with --hf: the trained length (max_position_embeddings)", "2 .. 1048576");
  option("--text", words->text, "with --hf: a file or a folder (the compiler's headers)", "PATH");
}

}  // namespace poslab
