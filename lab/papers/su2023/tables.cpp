// The tables: ours, its interval over the seeds, and the source's number.
#include <fmt/format.h>

#include "experiment/language/options.h"
#include "lab/papers/paper.h"
#include "lab/papers/pivot.h"
#include "lab/papers/su2023/su2023.h"
#include "lab/papers/wording.h"

namespace poslab::reproduce::su2023 {
namespace {

struct Column {
  std::string set, source;  // the source's column
  int times;
  bool repeated;
};
const std::vector<Column>& columns() {
  static const std::vector<Column> list = {{"trained length", "acc_512_train", 1, false},
                                           {"repeated", "acc_4096_repeated", stretch, true},
                                           {"not repeated", "acc_4096_nonrepeated", stretch, false}};
  return list;
}

Table accuracy_data() {
  return by_seed_table({"method", "model", "encoding", "temperature", "length", "set"}, "accuracy");
}
Line of_method(const Method& m) { return {{m.name}, {m.name, m.model, m.encoding, m.temperature}}; }
Line of_column(const Column& c, int trained) {
  return {{fmt::format("{} ({})", trained * c.times, c.times == 1 ? "trained" : c.set)},
          {trained * c.times, c.repeated ? "repeated" : "plain"}};
}
Value beside_source(const Results& r, const Method& m, const Column& c, const std::string& source) {
  return with_source(r.accuracy(m, c.times, c.repeated), percent, paper_value(source, m.source, c.source));
}

const char* of_columns =
    "Ours: percent of the next tokens that were the most probable one, mean over the seeds, then its interval. The "
    "source's numbers are of 100 million parameters, trained at 512 tokens; those of its first column are the model's "
    "own, ours those of the method at that length, which shows what it costs there. -logn: log n in training too; "
    "-logn_test_only: a factor max(1, log n / log of the trained length) on the logits at test alone. A window w is so "
    "many tokens.";

// In the layout of the source: a row for each method, three columns.
Section table(const Results& r, const std::vector<Method>& methods, const std::string& source) {
  Section s;
  s.data = accuracy_data();
  const auto column = [&](const Column& c) { return of_column(c, r.setup().length()); };
  add(s, {"Accuracy in %, and the source's", "method", lines(methods, of_method), lines(columns(), column),
          [&](size_t row, size_t n) { return beside_source(r, methods[row], columns()[n], source); },
          Pivot::Best::of_column});
  s.notes = {of_columns, poslab::about_intervals(r.setup().seeds)};
  return s;
}

}  // namespace

Section main_table(const Results& r) {
  Section s = table(r, main_methods(r.setup()), "su2023_main");
  if (!r.setup().note.empty()) s.notes.push_back(r.setup().note);
  return s;
}
Section window_table(const Results& r) { return table(r, window_methods(r.setup()), "su2023_window"); }
Section leaky_table(const Results& r) { return table(r, leaky_methods(r.setup()), "su2023_leaky"); }

Section trained_table(const Results& r) {
  Section s = table(r, trained_methods(r.setup()), "su2023_trained");
  s.notes.push_back(
      "HFWA2 has windows of an eighth of the trained length and one full layer, which turns as ReRoPE at test. "
      "InvLeaky is trained with large steps beyond its window (k = 1/16) and tested as RoPE. Both have log n in "
      "training. Randomized RoPE draws its positions from a pool of 16 trained lengths, in training and at test.");
  if (language::configure(r.setup().all)["unit"] == "gau")
    s.notes.push_back(
        "ALiBi's slopes are 2^(-8h/H): with the one head of a gated attention unit a single slope of 1/256, so it "
        "hardly differs from NoPE.");
  return s;
}

Section untrained_table(const Results& r) {
  Section s;
  s.data = accuracy_data();
  const Column &repeated = columns()[1], &plain = columns()[2];
  const std::vector<Method> all = untrained_methods(r.setup());  // three of each: log n off, at test, trained
  std::vector<Line> rows;
  for (size_t n = 0; n < all.size(); n += 3) rows.push_back({{all[n].name}});
  const std::vector<Line> across = {{{"no log n"}}, {{"log n at test only"}}, {{"log n trained"}}};
  const auto value = [&](size_t row, size_t n) -> Value {
    const Method& m = all[3 * row + n];
    const double ours = mean(r.accuracy(m, stretch, true)), ours_long = mean(r.accuracy(m, stretch, false)),
                 theirs = paper_value("su2023_methods", m.source, repeated.source),
                 theirs_long = paper_value("su2023_methods", m.source, plain.source);
    for (const Column* c : {&repeated, &plain})
      add_data(s, of_method(m), of_column(*c, r.setup().length()), beside_source(r, m, *c, "su2023_methods"));
    const std::string source =
        std::isnan(theirs) ? "" : fmt::format("\nsource {:.2f}, long {:.2f}", theirs, theirs_long);
    return {{points(ours), fmt::format("long: {}{}", points(ours_long), source)}, {}, ours};
  };
  add(s, {fmt::format("Accuracy in % at length {}: repeated texts, below that long ones, then the source's for YaRN",
                      stretch * r.setup().length()),
          "method", rows, across, value, Pivot::Best::of_column});
  s.notes = {
      "Intervals are in the CSV file. Bold: the best of a column on repeated texts. Leaky ReRoPE has k = 16; "
      "SelfExtend has groups of 16 tokens beyond its window; the Lambda mask sees a window and the first four "
      "keys; dynamic NTK has factor 1."};
  return s;
}

Section llama_table(const Results& r) {
  Section s;
  s.data = by_seed_table({"method", "encoding", "temperature", "length"}, "loss");
  const int length = r.setup().length();
  const std::vector<Method> methods = llama_methods(r.setup());
  const std::vector<Column> tested = {
      {"", "len4096_train", 1, false}, {"", "len8192", 2, false}, {"", "len16384", 4, false}};
  const auto row = [](const Method& m) { return Line{{m.name}, {m.name, m.encoding, m.temperature}}; };
  const auto column = [&](const Column& c) {
    return Line{{fmt::format("{}{}", c.times * length, c.times == 1 ? " (trained)" : "")}, {c.times * length}};
  };
  add(s, {fmt::format("Loss in nats a token on the last {} tokens, and the source's", length), "method",
          lines(methods, row), lines(tested, column), [&](size_t m, size_t n) {
            return with_source(r.loss(methods[m], tested[n].times), nats,
                               paper_value("su2023_llama", methods[m].source, tested[n].source));
          }});
  const Choices c = language::configure(r.setup().llama);
  s.notes = {
      fmt::format("{} blocks of LLaMA's, width {}. All lengths count the same last {} tokens, so the columns of a "
                  "row differ in what there is to read before them alone. NTK and ReRoPE are as in the released "
                  "patches for LLaMA: NTK mixed with k = 12 and exponent 0.75, a window of a quarter of the "
                  "trained length, log n at test only.",
                  c["layers"], c["d_model"], length),
      poslab::about_intervals(r.setup().seeds)};
  return s;
}

}  // namespace poslab::reproduce::su2023
