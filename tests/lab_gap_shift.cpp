// The gap shift (lab/papers/gap_shift/gap_shift.h): what is planned, what its sentences say of made-up numbers, and its
// tables from small trained runs.
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "lab/pages/page/grid.h"
#include "lab/papers/gap_shift/gap_shift.h"
#include "lab/papers/reproduce.h"
#include "tests/lab_helpers.h"

using namespace poslab;
using namespace poslab::reproduce;
using namespace poslab::test;
using gap_shift::which_first;

namespace {

Plan trials(const std::string& what, const std::string& size) { return all_trials(plan({{what}, size, {}, {}, {}})); }

// The cells of a line; a comma between quotes belongs to its cell.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

// Rows by the values of some columns, "bucket_sort rope 4".
std::map<std::string, std::map<std::string, std::string>> read_table(const std::string& path,
                                                                     const std::vector<std::string>& keys) {
  std::istringstream text(read_file(path));
  std::vector<std::string> head;
  std::map<std::string, std::map<std::string, std::string>> rows;
  for (std::string line; std::getline(text, line);) {
    const std::vector<std::string> cells = cells_of(line);
    if (head.empty()) {
      head = cells;
      continue;
    }
    std::map<std::string, std::string> row;
    for (size_t i = 0; i < head.size(); ++i) row[head[i]] = cells.at(i);
    std::string name;
    for (const std::string& key : keys) name += (name.empty() ? "" : " ") + row.at(key);
    CHECK_MESSAGE(rows.emplace(name, row).second, name);
  }
  return rows;
}

}  // namespace

TEST_CASE("gap shift: uniform trials are those of the first source") {
  std::set<std::string> known;
  for (const Trial& t : trials("ruoss2023:table1", "tiny")) known.insert(t.id);
  const Plan uniform = trials("gap_shift:grid", "tiny");
  CHECK(uniform.size() == 3 * 3 * 3);
  for (const Trial& t : uniform) CHECK(known.count(t.id));
  CHECK(plan_lines(uniform) == plan_lines(trials("gap_shift:first", "tiny")));
  CHECK(trials("gap_shift", "tiny").size() == 3 * 3 * 3 * 4);
  CHECK(trials("gap_shift", "example").size() == 3 * 3 * 4 * 2);
  CHECK(trials("gap_shift", "paper").size() == 3 * 3 * 4 * 10 * 3);
}

TEST_CASE("gap shift: what comes first is computed, whichever way it comes out") {
  const BySeed much = {{0, 0.30}, {1, 0.34}, {2, 0.32}}, little = {{0, 0.02}, {1, 0.05}, {2, 0.01}},
               mixed = {{0, 0.40}, {1, 0.20}, {2, 0.33}}, gained = {{0, -0.10}, {1, -0.12}, {2, -0.11}};
  CHECK(holds(which_first(much, little), "The gap alone costs 32.0 points [30.0, 34.0], the length alone 2.7 points"));
  CHECK(holds(which_first(much, little), "The gap comes first: it costs more by 29.3 points"));
  CHECK(holds(which_first(little, much), "The length comes first: it costs more by 29.3 points [28.0, 31.0]"));
  CHECK(holds(which_first(much, mixed), "inconclusive"));
  CHECK(holds(which_first(much, gained), "the length alone -11.0 points"));
  CHECK(holds(which_first(much, gained), "The gap comes first"));
  CHECK(holds(which_first(gained, gained), "Neither loses accuracy"));
  CHECK(holds(which_first({{0, 0.9}}, {{0, 0.1}}), "inconclusive"));  // of one seed
  CHECK(holds(which_first({{0, 0.9}}, {{1, 0.1}}), "No setting"));      // of no pair
  CHECK(gap_shift::ahead_or_behind("blocks", little) == "blocks +2.7 points [+1.0, +5.0]: ahead");
  CHECK(gap_shift::ahead_or_behind("blocks", gained) == "blocks -11.0 points [-12.0, -10.0]: behind");
  CHECK(holds(gap_shift::ahead_or_behind("blocks", {{0, -0.1}, {1, 0.1}}), "inconclusive"));
  CHECK(holds(gap_shift::ahead_or_behind("blocks", {}), "not tested yet"));
}

TEST_CASE("gap shift: differences and averages are of the seeds that all have") {
  const BySeed a = {{0, 0.5}, {1, 0.7}}, b = {{1, 0.1}, {2, 0.3}};
  CHECK(gap_shift::difference(a, b) == BySeed{{1, 0.7 - 0.1}});
  CHECK(gap_shift::average({a, b}).size() == 1);
  CHECK(gap_shift::average({a, b}).at(1) == doctest::Approx(0.4));
  CHECK(std::isnan(gap_shift::mean({})));
}

TEST_CASE("gap shift: lengths, gaps and the scale of accuracies") {
  Choices c = tiny_config({{"preset", "tiny"},
                          {"task", "reverse_string"},
                          {"train_length", "20"},
                          {"eval_lengths", "1:100"},
                          {"max_position", "400"}});
  CHECK(gap_shift::lengths(c) == std::vector<int>{10, 20, 40, 80});
  CHECK(gap_shift::own_gap(c, 20) == doctest::Approx(401. / 41));
  CHECK(gap_shift::scale(c, 20)(1) == doctest::Approx(1));
  CHECK(gap_shift::scale(c, 20).majority == doctest::Approx(0.5).epsilon(0.05));
  CHECK(gap_shift::Scale{0.8}(0.8) == 0);
  CHECK(gap_shift::Scale{0.8}(0.9) == doctest::Approx(0.5));
}

TEST_CASE("gap shift: the gaps of uniform sampling shrink with the length, those of log density stay") {
  const TemporaryFolder folder;
  const Request request{{"gap_shift:gaps"}, "tiny", {}, {}, {}};
  std::filesystem::create_directories(folder / "runs");
  CHECK(write(plan(request), request, folder.path, "poslab reproduce gap_shift:gaps").empty());
  const auto rows = read_table(folder / "gaps.csv", {"task", "trained", "test_positions", "length"});
  const auto number = [&](const std::string& row, const std::string& column) {
    return std::stod(rows.at("reverse_string " + row).at(column));
  };
  for (const int length : {10, 20, 40, 80}) {
    const std::string at = fmt::format("randomized same {}", length);
    const double expected = 401. / (2 * length + 1), close = (2 * length) / 400.;  // the share of gaps of 1 is n / N
    CHECK(number(at, "mean_gap") == doctest::Approx(expected).epsilon(0.05));
    CHECK(std::abs(number(at, "share_of_1_or_less") - close) < 0.03);
  }
  CHECK(number("randomized  ", "share_of_1_or_less") < 0.5 * number("randomized same 80", "share_of_1_or_less"));
  CHECK(number("log_density same 80", "overlap") > number("randomized same 80", "overlap") + 0.1);
  CHECK(holds(read_file(folder / "gaps.md"), "reverse_string, uniform: neighbours are "));
  CHECK(holds(read_file(folder / "index.html"), "Gaps between neighbours, log density, reverse_string"));
}

TEST_CASE("gap shift: lines below a cell are set apart, and a last one ends without a comma") {
  CHECK(page::in_one("1 of 3 runs\n") == "1 of 3 runs");
  CHECK(page::in_one("1 of 3 runs\n[40.1, 50.2]") == "1 of 3 runs, [40.1, 50.2]");
}

TEST_CASE("gap shift: where nothing is done yet every table says so") {
  const TemporaryFolder folder;
  const Request request{{"gap_shift"}, "tiny", {}, {}, {}};
  std::filesystem::create_directories(folder / "runs");
  CHECK(write(plan(request), request, folder.path, "poslab reproduce gap_shift") ==
        "0 of 108 trials are done; 108 to do.");
  for (const char* name : {"grid", "first", "matched"}) {
    INFO(name);
    const std::string text = read_file(folder / (std::string(name) + ".md"));
    CHECK_FALSE(holds(text, "nan"));
    CHECK_FALSE(holds(text, "could not be drawn"));
    CHECK(holds(text, " to do."));
  }
}

TEST_CASE("gap shift: all tables from trained runs, which fit together") {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  Program program(
      folder, "reproduce gap_shift --tasks bucket_sort,missing_duplicate_string --encodings rope,sincos --out " + out +
                  " --jobs 2 --threads 1 --set seeds=2 --set steps=30 --set layers=2 --set heads=2 "
                  "--set d_model=16 --set batch=8 --set eval_samples=2 --set train_length=6 "
                  "--set eval_lengths=1:13 --set max_position=40");
  CAPTURE(program.output());
  CHECK(program.status() == 0);
  for (const char* name : {"gaps", "grid", "first", "matched"}) {
    INFO(name);
    const std::string text = read_file(fmt::format("{}/{}.md", out, name));
    CHECK_FALSE(holds(text, "nan"));
    CHECK_FALSE(holds(text, "could not be drawn"));
    CHECK(holds(read_file(out + "/index.html"), fmt::format("<h2 id=\"{}\">", name)));
  }
  // 3, 6 and 12 symbols; gaps 1, 2, 4, of which random and even, and three more spacings
  const auto grid = read_table(out + "/grid.csv", {"task", "encoding", "length", "test_positions"});
  CHECK(grid.size() == 2 * 2 * 3 * (1 + 2 + 2 + 3));
  CHECK(grid.at("bucket_sort rope 12 stretched:gap=2").at("within_pool") == "false");  // 23 steps of 2 in a pool of 40
  CHECK(grid.at("missing_duplicate_string rope 12 stretched:gap=2").at("within_pool") == "true");
  const auto first = read_table(out + "/first.csv", {"task", "encoding", "length", "change"});
  const auto skill = [&](const std::string& row) {
    const auto& r = grid.at(row);
    return gap_shift::Scale{std::stod(r.at("majority"))}(std::stod(r.at("accuracy")));
  };
  for (const std::string setting : {"bucket_sort rope", "missing_duplicate_string sincos"})
    for (const std::string home : {" 3 ", " 6 "}) {  // what the gap and the length cost is all that is lost
      const auto loss = [&](const char* change) { return std::stod(first.at(setting + home + change).at("loss")); };
      CHECK(loss("gap") + loss("length") ==
            doctest::Approx(skill(setting + home + "same") - skill(setting + " 12 same")));
      CHECK(loss("gap to 1") == doctest::Approx(skill(setting + home + "same") - skill(setting + home + "contiguous")));
    }
  CHECK(holds(read_file(out + "/matched.csv"), "bucket_sort,rope,random_floats:range=40,\"float_midpoints:range=40,"));
  CHECK(holds(read_file(out + "/matched.md"), "rope, log density"));
  CHECK(holds(read_file(out + "/matched.md"), "without reading the order of the symbols, at these lengths: chance "));
  CHECK(holds(read_file(out + "/index.html"), "Accuracy against the mean gap, bucket_sort, sincos"));
  const std::string before = read_file(out + "/README.md");
  for (const auto& run : std::filesystem::directory_iterator(out + "/runs"))  // what was measured is kept
    if (run.is_directory()) std::filesystem::remove(run.path() / "checkpoint.safetensors");
  Program again(folder,
                "reproduce gap_shift --draw --tasks bucket_sort,missing_duplicate_string --encodings rope,sincos "
                "--out " +
                    out +
                    " --set seeds=2 --set steps=30 --set layers=2 --set heads=2 --set d_model=16 "
                    "--set batch=8 --set eval_samples=2 --set train_length=6 --set eval_lengths=1:13 "
                    "--set max_position=40");
  CHECK(again.status() == 0);
  CHECK(read_file(out + "/README.md") == before);
}
