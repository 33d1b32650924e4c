#include "lab/runs/t5/questions.h"

#include <algorithm>
#include <sstream>

#include "autograd/tape.h"
#include "core/error.h"
#include "core/stop.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/json.h"
#include "lab/files/progress.h"
#include "experiment/t5/learner.h"
#include "lab/runs/results_csv.h"
#include "tasks/retrieval/words.h"

namespace poslab::t5 {
namespace {

using json = nlohmann::ordered_json;

const char* const form =
    R"(a line is {"question": "...", "answers": ["..."], "ctxs": [{"title": "...", "text": "...", "isgold": true}]})";

std::string word(const json& in, const char* key) {
  const auto found = in.find(key);
  if (found == in.end() || !found->is_string()) bad_input("no text \"{}\"; {}", key, form);
  return *found;
}

bool says_yes(const json& document, const char* key) {
  const auto found = document.find(key);
  return found != document.end() && found->is_boolean() && found->get<bool>();
}

const json& list(const json& in, const char* key) {
  const auto found = in.find(key);
  if (found == in.end() || !found->is_array() || found->empty()) bad_input("no list \"{}\"; {}", key, form);
  return *found;
}

DocumentQuestion read_question(const std::string& line) {
  const json all = try_json(line);
  if (!all.is_object()) bad_input("no JSON object; {}", form);
  DocumentQuestion q{.question = word(all, "question")};
  for (const json& answer : list(all, "answers")) {
    if (!answer.is_string()) bad_input("an answer is {}, not a text; {}", in_short(answer), form);
    q.answers.push_back(answer);
  }
  const json& documents = list(all, "ctxs");
  const bool marked =
      std::any_of(documents.begin(), documents.end(), [](const json& d) { return d.contains("isgold"); });
  for (const json& d : documents) {
    if (!d.is_object()) bad_input("a document is {}; {}", in_short(d), form);
    const bool answers = says_yes(d, "hasanswer"), gold = marked ? says_yes(d, "isgold") : answers;
    q.documents.push_back({word(d, "title"), word(d, "text"), gold, !answers});
  }
  if (std::none_of(q.documents.begin(), q.documents.end(), [](const Document& d) { return d.gold; }))
    bad_input("no document holds the answer; mark one with \"isgold\" or \"hasanswer\"");
  return q;
}

}  // namespace

TextQuestion written(const English& e, int size, int n) {
  const double place = (n + 0.5) / e.samples;
  const uint64_t seed = e.seed + uint64_t(n);
  if (e.questions.empty()) return e.task->write(e.task.choices, size, seed, place);
  Rng rng = rng_of_text(seed);
  return ask_of_documents(e.questions[size_t(n) % e.questions.size()], size, place, rng);
}

std::vector<DocumentQuestion> read_questions(const std::string& path) {
  std::istringstream lines(read_lines(path));
  std::vector<DocumentQuestion> all;
  std::string line;
  for (int n = 1; std::getline(lines, line); ++n)
    prefix_errors(fmt::format("{}, line {}", path, n), [&] { all.push_back(read_question(line)); });
  if (all.empty()) bad_input("{} has no question; {}", path, form);
  return all;
}

English english(const std::string& task, const std::string& file) {
  if (task.empty()) bad_input("which task? Give --task passkey, line, topic or documents");
  English e{.task = choose_retrieval(task), .file = file};
  if (file.empty()) return e;
  if (e.task->name != "documents")
    bad_input("--questions {} goes with --task documents, not with {}", file, e.task->name);
  e.questions = read_questions(file);
  return e;
}

void check(const English& e) {
  for (const int size : e.sizes) {
    if (std::count(e.sizes.begin(), e.sizes.end(), size) > 1)
      bad_input("--sizes: {} comes twice; name each once", size);
    if (e.questions.empty()) written(e, size, 0);
    Rng rng = rng_of_text(0);
    for (size_t n = 0; n < e.questions.size(); ++n)
      prefix_errors(fmt::format("{}, line {}", e.file, n + 1),
                    [&] { ask_of_documents(e.questions[n], size, 0., rng); });
  }
}

std::vector<AtSize> ask(const HfModel& model, const English& e, const Chosen<Sampler>& positions) {
  const NoGrad still;
  const std::shared_ptr<const Tokenizer> tokens = open_hf_tokenizer(model);
  const T5Generation writing{.count = 64, .ends = model.config.writing.ends};
  Progress progress("asking", "questions", 0, int64_t(e.sizes.size()) * e.samples);
  std::vector<AtSize> all;
  int64_t done = 0;
  try {
    for (const int size : e.sizes) {
      AtSize at{.task = e.task->name, .size = size, .samples = e.samples};
      int64_t count[places] = {};
      for (int n = 0; n < e.samples; ++n) {
        const TextQuestion q = written(e, size, n);
        const std::vector<int> prompt = tokens_of(model, *tokens, q.prompt);
        const int T = int(prompt.size());
        const PositionSample draw(positions, Resample::per_forward,
                                  stream(e.seed, Purpose::test_positions, uint64_t(T)), 1, T);
        Stoppable whole(true);
        const Tensor states = model.net.encode(Ids({1, T}, prompt), {}, {draw, {}});
        whole.complete();
        const std::string said = text_of(model.net.spec(), *tokens, answer(model.net, states, {}, writing)[0]);
        const bool right = e.task->right(said, q.answers);
        const int place = std::min(places - 1, int(q.place * places));
        at.tokens = std::max(at.tokens, T), at.accuracy += right ? 1. / e.samples : 0;
        at.accuracy_of_place[place] += right, ++count[place];
        progress.at(++done, fmt::format("{} {}", size, e.task->size));
        stop_if_requested();
      }
      for (int p = 0; p < places; ++p) at.accuracy_of_place[p] = share(at.accuracy_of_place[p], count[p]);
      all.push_back(at);
    }
  } catch (const Stopped&) { throw Interrupted(caught_signal(), "stopped while asking; nothing was written"); }
  return all;
}

std::string to_csv(const std::vector<AtSize>& all) {
  std::vector<Column> names = {Column::word("task"), Column::count("size"), Column::count("tokens"),
                               Column::count("samples"), Column::number("accuracy")};
  for (int p = 1; p <= places; ++p) names.push_back(Column::number(fmt::format("accuracy_{}", p)));
  const Columns list = columns(names);
  Results rows;
  for (const AtSize& at : all) {
    std::vector<Row::Cell> cells = {at.task, double(at.size), double(at.tokens), double(at.samples), at.accuracy};
    cells.insert(cells.end(), std::begin(at.accuracy_of_place), std::end(at.accuracy_of_place));
    rows.emplace_back(list, std::move(cells));
  }
  return poslab::to_csv(rows);
}

std::string table(const std::vector<AtSize>& all, const std::string& counted) {
  std::string text =
      fmt::format("  {:>20}   tokens   accuracy     by place of the answer, from beginning to end\n", counted);
  for (const AtSize& at : all) {
    text += fmt::format("  {:20} {:8} {:8.1f} %    ", at.size, at.tokens, 100 * at.accuracy);
    text += shown_places(at.accuracy_of_place) + "\n";
  }
  return text;
}

}  // namespace poslab::t5
