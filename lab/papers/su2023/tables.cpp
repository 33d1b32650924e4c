// The tables: ours, its interval over the seeds, and the source's number.
#include <fmt/ranges.h>

#include <algorithm>

#include "lab/pages/page/page.h"
#include "lab/papers/paper.h"
#include "lab/papers/su2023/su2023.h"
#include "lab/papers/telling.h"

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

std::string heading(const Column& c, int length) {
  return c.times == 1 ? fmt::format("{} (trained)", length) : fmt::format("{} ({})", length * c.times, c.set);
}

// What the source has is in percent.
Cell cell(const BySeed& ours, double source) {
  std::string below = interval_text(bootstrap(values(ours)), false);
  if (!std::isnan(source)) below += fmt::format("{}source {:.2f}", below.empty() ? "" : "\n", source);
  return {points(mean(ours)), below};
}

Table accuracy_data() {
  return {{"method", "model", "encoding", "temperature", "length", "set", "seeds", "accuracy", "interval_low",
           "interval_high", "source"},
          {}};
}

std::vector<nlohmann::json> data_row(const Method& m, int length, bool repeated, const BySeed& ours, double source) {
  const Interval i = bootstrap(values(ours));
  return {m.name,
          m.model,
          m.encoding,
          m.temperature,
          length,
          repeated ? "repeated" : "plain",
          ours.size(),
          number(mean(ours)),
          number(i.low),
          number(i.high),
          number(source / 100)};
}

// The best of each column is bold.
void emphasize(Grid& grid, const std::vector<std::vector<double>>& means) {
  for (size_t c = 0; !means.empty() && c < means[0].size(); ++c) {
    size_t best = grid.rows.size();
    for (size_t r = 0; r < means.size(); ++r)
      if (!std::isnan(means[r][c]) && (best == grid.rows.size() || means[r][c] > means[best][c])) best = r;
    if (best < grid.rows.size()) grid.rows[best][c + 1].strong = true;
  }
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
  const int length = r.setup().length();
  Grid grid{"Accuracy in %, and the source's", {"method"}, {}};
  for (const Column& c : columns()) grid.head.push_back(heading(c, length));
  std::vector<std::vector<double>> means;
  for (const Method& m : methods) {
    std::vector<Cell> row(1, Cell{m.name});
    means.emplace_back();
    for (const Column& c : columns()) {
      const BySeed ours = r.accuracy(m, c.times, c.repeated);
      const double theirs = m.source.empty() ? std::nan("") : paper_value(source, m.source, c.source);
      row.push_back(cell(ours, theirs));
      means.back().push_back(mean(ours));
      s.data.rows.push_back(data_row(m, c.times * length, c.repeated, ours, theirs));
    }
    grid.rows.push_back(std::move(row));
  }
  emphasize(grid, means);
  s.grids.push_back(std::move(grid));
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
  const int length = r.setup().length();
  const std::vector<Method> all = untrained_methods(r.setup());
  Grid grid{fmt::format("Accuracy in % at length {}: repeated texts, below that long ones, then the source's for YaRN",
                        stretch * length),
            {"method", "no log n", "log n at test only", "log n trained"},
            {}};
  std::vector<std::vector<double>> means;
  for (size_t n = 0; n + 2 < all.size(); n += 3) {
    std::vector<Cell> row(1, Cell{all[n].name});
    means.emplace_back();
    for (size_t k = n; k < n + 3; ++k) {
      const BySeed repeated = r.accuracy(all[k], stretch, true), plain = r.accuracy(all[k], stretch, false);
      const double theirs = paper_value("su2023_methods", all[k].source, columns()[1].source),
                   theirs_plain = paper_value("su2023_methods", all[k].source, columns()[2].source);
      Cell one{points(mean(repeated)), fmt::format("long: {}", points(mean(plain)))};
      if (!std::isnan(theirs)) one.below += fmt::format("\nsource {:.2f}, long {:.2f}", theirs, theirs_plain);
      row.push_back(std::move(one));
      means.back().push_back(mean(repeated));
      s.data.rows.push_back(data_row(all[k], stretch * length, true, repeated, theirs));
      s.data.rows.push_back(data_row(all[k], stretch * length, false, plain, theirs_plain));
    }
    grid.rows.push_back(std::move(row));
  }
  emphasize(grid, means);
  s.grids.push_back(std::move(grid));
  s.notes = {
      "Intervals are in the CSV file. Bold: the best of a column on repeated texts. Leaky ReRoPE has k = 16; "
      "SelfExtend has groups of 16 tokens beyond its window; the Lambda mask sees a window and the first four "
      "keys; dynamic NTK has factor 1."};
  return s;
}

Section llama_table(const Results& r) {
  Section s;
  s.data = {{"method", "encoding", "temperature", "length", "seeds", "loss", "interval_low", "interval_high", "source"},
            {}};
  const int length = r.setup().length();
  Grid grid{fmt::format("Loss in nats a token on the last {} tokens, and the source's", length), {"method"}, {}};
  const std::vector<std::pair<int, std::string>> tested = {{1, "len4096_train"}, {2, "len8192"}, {4, "len16384"}};
  for (const auto& [times, source] : tested)
    grid.head.push_back(fmt::format("{}{}", times * length, times == 1 ? " (trained)" : ""));
  for (const Method& m : llama_methods(r.setup())) {
    std::vector<Cell> row(1, Cell{m.name});
    for (const auto& [times, source] : tested) {
      const BySeed ours = r.loss(m, times);
      const Interval i = bootstrap(values(ours));
      const double theirs = paper_value("su2023_llama", m.source, source);
      std::string below = std::isnan(i.low) ? "" : fmt::format("[{:.3f}, {:.3f}]", i.low, i.high);
      if (!std::isnan(theirs)) below += fmt::format("{}source {:.4f}", below.empty() ? "" : "\n", theirs);
      row.push_back({ours.empty() ? "–" : fmt::format("{:.4f}", mean(ours)), below});
      s.data.rows.push_back({m.name, m.encoding, m.temperature, times * length, ours.size(), number(mean(ours)),
                             number(i.low), number(i.high), number(theirs)});
    }
    grid.rows.push_back(std::move(row));
  }
  s.grids.push_back(std::move(grid));
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
