// Reproductions: what is planned at each size, what a few seeds say, and the page and tables of made-up results. Where
// the numbers come from is the business of tests of training and sweeps.
#include "lab/papers/reproduce.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/random.h"
#include "experiment/numerics.h"
#include "lab/papers/origin.h"
#include "lab/papers/paper.h"
#include "lab/papers/pivot.h"
#include "lab/papers/ruoss2023/ruoss2023.h"
#include "tests/lab_helpers.h"

using namespace poslab;
using namespace poslab::reproduce;
using namespace poslab::test;

namespace {

size_t trials(const std::string& what, const std::string& size) {
  return all_trials(plan({{what}, size, {}, {}, {}})).size();
}

// A run folder as far as tables read it: right at every trained length, `beyond` from there on.
void make_run(const std::string& folder, const Trial& t, double beyond) {
  const std::string run = SweepFolder(folder).run(t);
  std::filesystem::create_directories(run);
  std::string eval = "length,accuracy,unmasked_accuracy,loss,samples,guess,majority,content_only\n";
  for (int length = 1; length <= t.config().lengths("eval_lengths").to; ++length)
    eval += fmt::format("{0},{1},{1},0.25,32,0.5,0.5,0.6\n", length,
                        length <= t.config().whole("train_length") ? 1. : beyond);
  write_file(run + "/eval.csv", eval);
  write_file(run + "/result.json",
             fmt::format(R"({{"paper_score":{},"baselines":{{"guess":0.5,"majority":0.5,"content_only":0.6}},)"
                         R"("seconds":10.0,"isa":"cpu/avx2","threads":1}})",
                         beyond));
}

// The same with accuracies of its own, at lengths 21 to 40 and from 41 on.
void make_run(const std::string& folder, const Trial& t, double near, double far) {
  make_run(folder, t, far);
  const std::string path = SweepFolder(folder).run(t) + "/eval.csv";
  std::string eval = "length,accuracy,unmasked_accuracy,loss,samples,guess,majority,content_only\n";
  for (int length = 1; length <= 100; ++length)
    eval += fmt::format("{0},{1},{1},0.25,32,0.5,0.5,0.6\n", length, length <= 20 ? 1. : length <= 40 ? near : far);
  write_file(path, eval);
}

const Artifact& artifact(const std::string& name) { return *artifacts({name}).front(); }

// The row of a table that begins with these cells.
std::vector<nlohmann::json> row(const Table& table, const std::vector<nlohmann::json>& begin) {
  for (const auto& row : table.rows)
    if (std::equal(begin.begin(), begin.end(), row.begin())) return row;
  return {};
}

// The paper's own number, spread a little over the seeds.
double as_in_the_paper(const Trial& t) {
  for (const ruoss2023::Column& c : ruoss2023::columns())
    if (ruoss2023::is(t.config()["task"], c)(t.config()))
      return paper_value("ruoss2023_table1", t.config()["task"], c.paper) / 100 -
             0.001 * double(t.config().count("seed"));
  return 0.5;
}

}  // namespace

TEST_CASE("reproduce: the bootstrap's interval is that of the mean's normal law where that holds") {
  std::vector<double> x;
  Rng rng(stream(3, Purpose::tokens, 0));
  for (int i = 0; i < 400; ++i) x.push_back(5 + 2 * rng.normal());
  const Interval i = bootstrap(x);
  const double half = 1.96 * deviation(x) / std::sqrt(400.);
  CHECK(i.low == doctest::Approx(poslab::mean(x) - half).epsilon(0.01));
  CHECK(i.high == doctest::Approx(poslab::mean(x) + half).epsilon(0.01));
  CHECK(i.excludes(0));
  CHECK_FALSE(i.excludes(poslab::mean(x)));
}

TEST_CASE("reproduce: few values") {
  CHECK(std::isnan(poslab::mean({})));
  CHECK(std::isnan(deviation({1})));
  CHECK(deviation({1, 2, 3}) == doctest::Approx(1));
  CHECK_FALSE(bootstrap({1}).excludes(0));
  const Interval two = bootstrap({1, 3});  // a quarter of the draws takes 1 twice
  CHECK(two.low == 1);
  CHECK(two.high == 3);
}

TEST_CASE("reproduce: how often luck makes an interval exclude zero") {
  Rng rng(stream(4, Purpose::tokens, 0));
  for (const int n : {2, 3, 4, 5, 6, 8, 10, 15}) {
    constexpr int cells = 600;
    int excluded = 0;
    for (int i = 0; i < cells; ++i) {
      std::vector<double> x;
      for (int k = 0; k < n; ++k) x.push_back(rng.normal());
      excluded += bootstrap(x).excludes(0);
    }
    INFO(n);
    CHECK(std::abs(100. * excluded / cells - excluded_by_luck(n)) < 5);  // 2.5 deviations of the half that n = 2 has
  }
}

TEST_CASE("reproduce: a pivot is a table and the rows of its .csv, with the best of each row or column in bold") {
  const std::vector<std::string> names = {"a", "b", "c"};
  const std::vector<int> lengths = {10, 20};
  const auto of = [](size_t row, size_t column) {
    if (row == 0 && column == 1) return BySeed();
    return BySeed{{0, 0.25 * double(row)}, {1, 0.25 * double(row) + 0.1 * double(1 + column)}};
  };
  Section s;
  s.data = by_seed_table({"name", "length"}, "accuracy");
  Pivot p{"Accuracy", "name", lines(names), lines(lengths),
          [&](size_t row, size_t column) { return with_source(of(row, column), percent, row == 1 ? 12.34 : NAN); },
          Pivot::Best::of_column};
  add(s, p);
  const Grid& grid = s.grids.at(0);
  CHECK(grid.head == std::vector<std::string>{"name", "10", "20"});
  CHECK(grid.rows[0][2].text == "–");
  CHECK(grid.rows[0][2].below == "");
  CHECK(grid.rows[1][1].text == "30.0");
  CHECK(grid.rows[1][1].below == "[25.0, 35.0]\nsource 12.34");
  for (size_t column : {1, 2}) {
    CHECK(grid.rows[2][column].strong);
    for (size_t row : {0, 1}) CHECK_FALSE(grid.rows[row][column].strong);
  }
  CHECK(s.data.rows.size() == 6);
  CHECK(to_csv(Table{s.data.columns, {s.data.rows.at(3)}}) ==
        "name,length,seeds,accuracy,interval_low,interval_high,source\nb,20,2,0.35,0.25,0.45,0.1234\n");
  CHECK(to_csv(Table{s.data.columns, {s.data.rows.at(1)}}) ==
        "name,length,seeds,accuracy,interval_low,interval_high,source\na,20,0,,,,\n");
  p.best = Pivot::Best::of_row;
  add(s, p);
  CHECK(s.grids[1].rows[0][1].strong);  // the only one there
  CHECK(s.grids[1].rows[1][2].strong);
  CHECK_FALSE(s.grids[1].rows[1][1].strong);
}

TEST_CASE("reproduce: an accuracy beside its reference, and a difference, are bold where the interval excludes zero") {
  const BySeed low = {{0, 0.2}, {1, 0.3}, {2, 0.25}}, high = {{0, 0.3}, {1, 0.5}, {3, 0.9}};
  const Value beside = accuracy(high, &low);  // of the two seeds that both have
  CHECK(beside.cell.text == "56.7");
  CHECK(beside.cell.below == "+15.0 [+10.0, +20.0]");
  CHECK(beside.cell.strong);
  CHECK_FALSE(accuracy(low, &low).cell.strong);
  CHECK(accuracy(low).cell.below == "[20.0, 30.0]");
  const BySeed none;
  CHECK(accuracy(low, &none).cell.below == "");
  CHECK(in_points({{0, -0.1}, {1, -0.2}}).cell.text == "-15.0");
  CHECK(in_points({{0, -0.1}, {1, -0.2}}).cell.strong);
  CHECK_FALSE(in_points({{0, -0.1}, {1, 0.2}}).cell.strong);
  CHECK(difference_cell(0.1, {0.05, 0.2}, "first\n", "last").below == "first\n[+5.0, +20.0]\nlast");
  CHECK(difference_cell(0.1, {}, "", "last").below == "last");
}

TEST_CASE("reproduce: the paper's grid, and what each size makes of it") {
  CHECK(trials("ruoss2023:table1", "paper") == 15 * 11 * 10 * 3);
  CHECK(trials("ruoss2023:table4", "paper") == 15 * 11 * 10 * 3);
  CHECK(trials("ruoss2023:table3", "paper") == 15 * 2 * 10 * 3);
  CHECK(trials("ruoss2023:table1", "example") == 15 * 11 * 2);
  CHECK(trials("ruoss2023:table1", "tiny") == 15 * 11 * 3);
  CHECK(trials("ruoss2023:table5", "tiny") == 4 * (5 + 1) * 3);
  CHECK(trials("ruoss2023:fig2", "tiny") == 2);
  CHECK(trials("ruoss2023:fig3", "tiny") == 2 * 4 * 3);
  CHECK(trials("ruoss2023:fig5", "tiny") == 2);
  // Table 1 and 4; then what they do not have: unsorted, geometric, two of figure 2, three more pools, eight choices of
  // `code`.
  CHECK(trials("ruoss2023:all", "tiny") == 15 * 11 * 3 + 4 * 3 + 4 * 3 + 2 + 2 * 3 * 3 + 4 * 8 * 3);
}

TEST_CASE("reproduce: seed1, the source's old name, is a synonym") {
  CHECK(plan_lines(all_trials(plan({{"seed1:table3", "seed1:fig2"}, "tiny", {}, {}, {}}))) ==
        plan_lines(all_trials(plan({{"ruoss2023:table3", "ruoss2023:fig2"}, "tiny", {}, {}, {}}))));
}

TEST_CASE("reproduce: a source's name alone means all of it") {
  CHECK(artifacts({"ruoss2023"}) == artifacts({"ruoss2023:all"}));
  CHECK(artifacts({"gap_shift", "gap_shift:grid"}) == artifacts({"gap_shift:all"}));
  CHECK(artifacts({"seed1"}) == artifacts({"ruoss2023"}));
  CHECK(artifacts({"gap_shift", "ladder", "ruoss2023", "chi2023", "chi2023:cross", "su2023"}).size() ==
        all_artifacts().size());
}

TEST_CASE("reproduce: no trial of any artifact at any size is impossible") {
  for (const Size& s : all_sizes())
    for (const Trial& t : all_trials(plan({{"ruoss2023", "gap_shift"}, s.name, {}, {}, {}}))) {
      INFO(s.name << " " << t.config()["task"] << " " << t.config()["encoding"] << " " << t.impossible);
      CHECK(t.impossible.empty());
    }
}

TEST_CASE("reproduce: what is asked for wrongly is refused with a remedy") {
  const auto said = [](Request request) { return refusal([&] { plan(request); }); };
  CHECK(holds(said({{"ruoss2023:tabel1"}, "tiny", {}, {}, {}}), "did you mean \"ruoss2023:table1\""));
  CHECK(holds(said({{"ruoss2023:table1"}, "tinny", {}, {}, {}}), "did you mean \"tiny\""));
  CHECK(holds(said({{"ruoss2023:table1"}, "tiny", {"even_pair"}, {}, {}}), "did you mean \"even_pairs\""));
  CHECK(holds(said({{"ruoss2023:table1"}, "tiny", {}, {"rop"}, {}}), "did you mean \"rope\""));
  CHECK(holds(said({{"ruoss2023:table3"}, "tiny", {}, {"rope"}, {}}), "no trial"));
  CHECK(holds(said({{"ruoss2023:table1"}, "tiny", {}, {}, {{"lr", {}}}}), "leaves no trial"));
}

TEST_CASE("reproduce: best, best learning rate, and pairs of seeds") {
  const TemporaryFolder folder;
  const std::vector<Planned> planned =
      plan({{"ruoss2023:table1"}, "tiny", {"even_pairs"}, {"rope"}, {{"lr", {"1e-3", "1e-4"}}}});
  // Plain: 0.5, 0.6, 0.7 at one rate, 0.8, 0.3, 0.3 at the other. Randomized: 0.2 more than the first of them.
  for (const Trial& t : planned[0].plan) {
    const bool random = t.config()["positions"] == "randomized", first = t.config().number("lr") == 1e-3;
    const double seed = double(t.config().count("seed"));
    make_run(folder.path, t, first ? 0.5 + 0.1 * seed + (random ? 0.2 : 0) : t.config().count("seed") ? 0.3 : 0.8);
  }
  const Outcomes outcomes(planned[0].plan, SweepFolder(folder.path));
  CHECK(outcomes.done().size() == 12);
  const Summary plain = outcomes.summary(ruoss2023::is("even_pairs", ruoss2023::columns()[4]));
  CHECK(plain.runs == 6);
  CHECK(plain.best == doctest::Approx(0.8));
  CHECK(plain.best_lr == 1e-4);
  CHECK(plain.lr == 1e-3);
  CHECK(plain.mean == doctest::Approx(0.6));
  CHECK(plain.deviation == doctest::Approx(0.1));
  CHECK(plain.at_lr.size() == 3);
  const Summary random = outcomes.summary(ruoss2023::is("even_pairs", ruoss2023::columns()[9]));
  const Paired difference = paired(random.by_seed, plain.by_seed);
  CHECK(difference.seeds == 3);
  CHECK(difference.mean == doctest::Approx(0.2));
  CHECK(difference.interval.low == doctest::Approx(0.2));  // every seed says the same: pairing takes their spread out
}

TEST_CASE("reproduce: what is done in part is marked, and not judged") {
  const TemporaryFolder folder;
  const auto table = [&](const Request& request, const std::function<bool(const Trial&)>& done) {
    const std::vector<Planned> planned = plan(request);
    for (const Trial& t : all_trials(planned)) {
      std::filesystem::remove_all(SweepFolder(folder / "runs").run(t));
      if (done(t)) make_run(folder / "runs", t, as_in_the_paper(t));
    }
    std::filesystem::create_directories(folder / "runs");
    write(planned, request, folder.path, "");
    return read_file(folder / (planned[0].artifact->name.substr(planned[0].artifact->name.find(':') + 1) + ".md"));
  };
  const Request two{{"ruoss2023:table1"}, "tiny", {"even_pairs"}, {"rope", "sincos"}, {{"lr", {"1e-3", "1e-4"}}}};
  const std::string half =
      table(two, [](const Trial& t) { return t.config().number("lr") == 1e-3 || t.config()["encoding"] == "sincos"; });
  CHECK(holds(half, "| 100.0 (3 of 6 runs, 100.0, 0.0)"));  // not bold: what is missing may be better
  CHECK(holds(half,
              "1 of 1 comparisons agree: 1 with an interval above zero, 0 in the sign of the mean only. Not complete "
              "yet: 1 more."));
  CHECK(holds(half, "(not all runs, ["));
  const std::string lone =
      table({{"ruoss2023:table1"}, "tiny", {"even_pairs"}, {"none"}, {}}, [](auto&) { return true; });
  CHECK(holds(lone, "| **50.4** (50.4, 0.0) |"));
  CHECK_FALSE(holds(lone, "omparisons"));  // of what?
  CHECK_FALSE(holds(lone, "Randomized minus plain"));
  const Request against{{"ruoss2023:table1"}, "tiny", {"odds_first"}, {"learned", "alibi"}, {{"task", {"odds_first"}}}};
  CHECK(holds(table(against, [](auto&) { return false; }), "No comparison of randomized positions with plain ones"));
}

TEST_CASE("reproduce: table 5 shows the luckiest run and compares the best mean") {
  const TemporaryFolder folder;
  const Request request{{"ruoss2023:table5"}, "tiny", {"bucket_sort"}, {"rope", "relative", "geometric"}, {}};
  const std::vector<Planned> planned = plan(request);
  for (const Trial& t : all_trials(planned)) {
    const double lucky = t.config().count("seed") == 1 ? 0.99 : 0.8;
    make_run(folder / "runs", t,
             t.config()["encoding"] == "rope"       ? lucky
             : t.config()["encoding"] == "relative" ? 0.95
                                                 : 0.9);
  }
  write(planned, request, folder.path, "");
  const std::string text = read_file(folder / "table5.md");
  CHECK(holds(text, "| 99.0 (R-RoPE, 100.0, -1.0) |"));
  CHECK(holds(text, "| **+5.0** (R-Relative, [+5.0, +5.0], "));
}

TEST_CASE("reproduce: results as the paper's agree with it, and flat ones are said not to") {
  const TemporaryFolder folder;
  const Request request{{"ruoss2023:table1", "ruoss2023:table4", "ruoss2023:fig4", "ruoss2023:table2"},
                        "tiny",
                        {"even_pairs", "bucket_sort"},
                        {},
                        {}};
  const std::vector<Planned> planned = plan(request);
  const Plan all = all_trials(planned);
  for (const Trial& t : all) make_run(folder / "runs", t, as_in_the_paper(t));
  CHECK(holds(write(planned, request, folder.path, "poslab reproduce"),
              fmt::format("All {} trials are done", all.size())));
  const std::string table = read_file(folder / "table1.md"), page = read_file(folder / "index.html");
  CHECK(holds(table, "10 of 10 comparisons agree: 10 with an interval above zero"));
  CHECK_FALSE(holds(table, "Not so here"));
  CHECK(holds(table, "96.4 (96.4, 0.0)"));
  CHECK(holds(page, "Accuracy against length, bucket_sort, positions randomized"));
  CHECK(holds(page, "10 of 10 comparisons agree"));
  for (const char* name : {"table1", "table4", "fig4", "table2"})
    CHECK(std::filesystem::exists(folder / (std::string(name) + ".csv")));

  for (const Trial& t : all) make_run(folder / "runs", t, 0.5);
  write(planned, request, folder.path, "poslab reproduce");
  CHECK(holds(read_file(folder / "table1.md"), "0 of 10 comparisons agree"));
  CHECK(
      holds(read_file(folder / "table1.md"), "Not so here: even_pairs, R-sin/cos - sin/cos (0.0 points; paper +49.1)"));
}

TEST_CASE("reproduce: where nothing is done yet every artifact says so") {
  const TemporaryFolder folder;
  const Request request{{"ruoss2023:all"}, "tiny", {}, {}, {}};
  const std::vector<Planned> planned = plan(request);
  std::filesystem::create_directories(folder / "runs");
  const std::string said = write(planned, request, folder.path, "poslab reproduce ruoss2023:all");
  CHECK(said == fmt::format("0 of {0} trials are done; {0} to do.", all_trials(planned).size()));
  for (const Artifact* each : artifacts({"ruoss2023"})) {
    const Artifact& e = *each;
    INFO(e.name);
    const std::string text = read_file(folder / (e.name.substr(e.name.find(':') + 1) + ".md"));
    CHECK_FALSE(holds(text, "nan"));
    CHECK_FALSE(holds(text, "could not be drawn"));
    CHECK(holds(text, e.trials ? " to do." : "| R-Relative | 100.0 | 100.0 |"));  // coverage takes no training
  }
  CHECK(
      holds(read_file(folder / "table1.md"), "No comparison of randomized positions with plain ones is complete yet."));
  CHECK(holds(read_file(folder / "code.md"), "No comparison can be made"));
  const Request one{{"ruoss2023:coverage"}, "tiny", {}, {}, {}};
  CHECK(write(plan(one), one, folder.path, "poslab reproduce ruoss2023:coverage").empty());
  const Request none{{"ruoss2023:table1", "ruoss2023:fig5"}, "tiny", {}, {"rope"}, {}};
  write(plan(none), none, folder.path, "poslab reproduce ruoss2023:table1 ruoss2023:fig5 --encodings rope");
  CHECK(holds(read_file(folder / "fig5.md"), "None of the runs asked for belongs here."));
}

TEST_CASE("reproduce: half of figure 2, and a run with a file missing, cost no other table") {
  const TemporaryFolder folder;
  const Request request{{"ruoss2023:fig2", "ruoss2023:table3"}, "tiny", {"even_pairs"}, {}, {{"seed", seeds(2)}}};
  const std::vector<Planned> planned = plan(request);
  const SweepFolder runs(folder / "runs");
  for (const Trial& t : all_trials(planned))
    if (t.config()["encoding"] == "sincos" || t.config()["positions"] == "randomized") make_run(runs.path(), t, 0.75);
  const Trial& figure = planned[1].plan[0];  // table 3 comes first
  const Trial& half = figure.config()["positions"] == "randomized" ? figure : planned[1].plan[1];
  const auto written = [&] {
    return write(planned, request, folder.path, "poslab reproduce"), read_file(folder / "fig2.md");
  };
  CHECK(holds(written(), "This could not be drawn: cannot read "));  // it has no tests.jsonl
  write_file(runs.run(half) + "/tests.jsonl",
             R"({"step":150,"seconds":1.5,"accuracy":0.75,"lengths":[10,30],"accuracies":[1.0,0.95]})"
             "\n"
             R"({"step":300,"seconds":3.0,"accuracy":0.75,"lengths":[10,30],"accuracies":[0.0,0.5]})"
             "\n");
  write_file(runs.run(half) + "/result.json", R"({"paper_score":0.75,"baselines":7})");
  CHECK(holds(written(), "is damaged; remove its folder"));  // JSON, but not what it should be
  make_run(runs.path(), half, 0.75);
  for (const char* bytes : {"", "7", R"({"paper_score":"high"})"}) {
    write_file(runs.result(planned[0].plan[0]), bytes);
    written();
    CHECK(holds(read_file(folder / "README.md"), "is damaged; remove its folder"));
    CHECK(holds(read_file(folder / "trials.csv"), "is damaged; remove its folder"));
  }
  make_run(runs.path(), planned[0].plan[0], 0.75);
  const std::string text = written();
  CHECK_FALSE(holds(text, "nan"));
  CHECK(holds(text, "randomized not in this run, naive not yet run"));
  CHECK(holds(read_file(folder / "fig2.csv"),
              "even_pairs,randomized,20,0,150,1.5,0.95"));  // of the unseen length alone
  CHECK(holds(read_file(folder / "table3.md"), "All 4 trials are done."));
  std::filesystem::remove(runs.run(planned[0].plan[0]) + "/eval.csv");
  written();
  CHECK(holds(read_file(folder / "table3.md"), "3 of 4 trials are done; 1 failed."));
  CHECK(holds(read_file(folder / "table3.md"), "has no eval.csv"));
}

TEST_CASE("reproduce: every artifact of the first source, from trained runs") {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  Program program(
      folder,
      fmt::format(
          "reproduce ruoss2023:all --tasks even_pairs,reverse_string --encodings relative,geometric,sincos --out "
          "{} --jobs 2 --threads 1 --set seeds=1 "
          "--set steps=40 --set layers=2 --set heads=2 --set d_model=16 --set batch=8 --set eval_samples=2",
          out));
  CAPTURE(program.output());
  CHECK(program.status() == 0);
  for (const Artifact* each : artifacts({"ruoss2023"})) {
    const Artifact& e = *each;
    INFO(e.name);
    const std::string name = e.name.substr(e.name.find(':') + 1), text = read_file(out + "/" + name + ".md");
    CHECK_FALSE(holds(text, "to do"));
    CHECK_FALSE(holds(text, "nan"));
    CHECK_FALSE(holds(text, "could not be drawn"));
    CHECK(holds(read_file(out + "/index.html"), "<h2 id=\"" + name + "\">"));
    const std::string csv = read_file(out + "/" + name + ".csv");
    CHECK(std::count(csv.begin(), csv.end(), '\n') > 1);
  }
  const std::string page = read_file(out + "/index.html");
  CHECK(holds(page, "data-maps=\"attention-relative-randomized\""));
  CHECK(holds(page, "<a href=\"fig6.npz\">"));
  CHECK(holds(read_file(out + "/fig5.npz"), "sequential/layer2/length75.npy"));
  CHECK(holds(page, "Accuracy on unseen lengths against seconds of training, even_pairs"));
  CHECK(holds(read_file(out + "/code.md"), "that table through the clamped lookup (code)"));
  CHECK(holds(read_file(out + "/code.md"), "the clamped lookup, drawn in every layer (code: both at once)"));
  CHECK(holds(read_file(out + "/table5.md"), "R-"));
  CHECK(holds(read_file(out + "/fig2.csv"), "even_pairs,sequential,100,0,40,"));
  CHECK(holds(read_file(out + "/trials.csv"), "done"));
}

#ifndef POSLAB_DOUBLE  // whose exponents are too large for training to leave them in four steps
TEST_CASE("reproduce: the program trains, goes on, and reports what failed without stopping") {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  const std::string words = fmt::format(
      "reproduce ruoss2023:table3 --tasks even_pairs --out {} --jobs 2 --threads 1 --set seeds=2 --set steps=10 --set "
      "layers=40 "
      "--set d_model=16 --set eval_samples=2 --set eval_lengths=20:22 --set 'lr=[1e-3, 100]' --set clip=1e12",
      out);
  const auto says = [&](const std::string& more) {
    Program program(folder, more);
    const int status = program.status();
    return std::pair(status, program.output());
  };
  CHECK(says(words).first == 1);
  const std::string text = read_file(out + "/README.md");
  CHECK(holds(text, "4 of 8 trials are done; 4 failed."));
  CHECK(holds(text, "training has diverged; lower lr (now 100)"));
  const auto when = std::filesystem::last_write_time(out + "/runs/journal.jsonl");
  CHECK(says(words + " --draw").first == 0);
  CHECK(says(words).first == 1);
  CHECK(std::filesystem::last_write_time(out + "/runs/journal.jsonl") == when);  // nothing ran again
  CHECK(read_file(out + "/README.md") == text);
  for (const char* times : {"once", "twice"}) {  // it has no runs, and no plan
    INFO(times);
    CHECK(says(fmt::format("reproduce ruoss2023:coverage --out '{}/no runs' --size example --set eval_lengths=1:150",
                           folder.path))
              .first == 0);
  }
  const std::string covered = read_file(folder / "no runs/README.md");
  CHECK(holds(covered, "| encoding | length 40 | length 150 |"));
  CHECK(holds(covered, "--set eval_lengths=1:150 --out '" + folder.path + "/no runs'"));
  CHECK(holds(says("reproduce ruoss2023:coverage --plan --out x").second, "nothing to plan"));
  CHECK(holds(says("reproduce ruoss2023:table3 --out x --set task=parity_check").second, "--tasks"));
  CHECK(holds(says("reproduce ruoss2023:table3 --out x --set 'steps=[1,2]'").second, "only lr and seed"));
  CHECK(holds(says("reproduce ruoss2023:table1 --out " + out).second, "choose another --out"));
  CHECK(holds(says("reproduce ruoss2023:table1 --draw --out " + out + "x").second, "there is no folder"));
  CHECK(says("reproduce ruoss2023:table3").first == 2);  // no folder
}
#endif

TEST_CASE("reproduce: signs are counted, with Holm over all comparisons") {
  const TemporaryFolder folder;
  const std::vector<Planned> planned =
      plan({{"ruoss2023:signs"}, "tiny", {"even_pairs", "reverse_string"}, {"rope", "relative"}, {}});
  // RoPE on Even Pairs is 40 points ahead with little spread, on Reverse String behind; relative has one seed.
  for (const Trial& t : planned[0].plan) {
    const Choices& c = t.config();
    if (c["encoding"] == "relative" && c.count("seed") > 0) continue;
    const bool random = c["positions"] == "randomized";
    make_run(folder.path, t,
             0.5 + (random ? (c["task"] == "even_pairs" ? 0.4 : -0.1) + 0.01 * double(c.count("seed")) : 0));
  }
  const Outcomes outcomes(planned[0].plan, SweepFolder(folder.path));
  const Section s = artifact("ruoss2023:signs").draw(outcomes, planned[0].plan[0].config());
  REQUIRE(s.data.rows.size() == 4);
  const auto rope = row(s.data, {"even_pairs", "RoPE"}), against = row(s.data, {"reverse_string", "RoPE"}),
             relative = row(s.data, {"even_pairs", "Relative"});
  CHECK(rope[3] == 3);
  CHECK(rope[4].get<double>() == doctest::Approx(0.41));
  CHECK(rope[8].get<double>() == doctest::Approx(0.41 - 4.302652729749462 * 0.01 / std::sqrt(3)));
  CHECK(rope[12].get<double>() == doctest::Approx(2 * 0.000198236).epsilon(1e-3));  // scipy's p of t = 71.01, twice
  CHECK(against[12].get<double>() == doctest::Approx(0.00408999).epsilon(1e-3));    // of t = -15.59, once
  CHECK(rope[13].get<double>() == 0.5);
  CHECK(rope[10].is_null());  // three seeds have no such interval
  CHECK(relative[3] == 1);
  CHECK(relative[12].is_null());
  CHECK(holds(s.readings[0], "Of 4 comparisons"));
  CHECK(holds(s.readings[0], "2 have the paper's sign"));
  CHECK(holds(s.readings[0], "1 to 3 seeds"));
  CHECK(holds(s.readings[1], "1 differ from zero with the paper's sign and 1 with the other"));
}

TEST_CASE("reproduce: a run is chosen just past the trained lengths, and scored beyond") {
  const TemporaryFolder folder;
  const std::vector<Planned> planned = plan({{"ruoss2023:chosen"}, "tiny", {"even_pairs"}, {"rope"}, {}});
  // The best seed at validation is not the best at test.
  const double near[] = {0.9, 0.8, 0.7}, far[] = {0.6, 0.75, 0.5};
  for (const Trial& t : planned[0].plan)
    if (t.config()["positions"] == "sequential")
      make_run(folder.path, t, near[t.config().count("seed")], far[t.config().count("seed")]);
  const Outcomes outcomes(planned[0].plan, SweepFolder(folder.path));
  const Section s = artifact("ruoss2023:chosen").draw(outcomes, planned[0].plan[0].config());
  const auto rope = row(s.data, {"even_pairs", "rope", "sequential"});
  REQUIRE(rope.size() == 10);
  const double expected[] = {0.75, 0.6, 0.9, (0.6 + 0.75 + 0.5) / 3, 0.6, (0.75 + 0.75 + 0.6) / 3};
  for (size_t i = 0; i < 6; ++i) CHECK(rope[4 + i].get<double>() == doctest::Approx(expected[i]));
  CHECK(holds(s.readings[0], "adds +15.0 points on average over the 1 cells"));
  CHECK(row(s.data, {"even_pairs", "rope", "randomized"}).empty());
}

TEST_CASE("reproduce: a page says what trained its runs, and begins with Old where their numerics are not ours") {
  const TemporaryFolder folder;
  const std::vector<Planned> planned = plan({{"ruoss2023:table1"}, "tiny", {"even_pairs"}, {"none"}, {}});
  const auto said = [&](const std::string& number) {
    make_run(folder.path, planned[0].plan[0], 0.5);
    const std::string path = SweepFolder(folder.path).result(planned[0].plan[0]);
    nlohmann::ordered_json result = nlohmann::ordered_json::parse(read_file(path));
    result["commit"] = "0123abc", result["date"] = "2026-11-24", result["seconds"] = 3600;
    if (!number.empty()) result["numerics"] = number;
    write_file(path, result.dump());
    return origin(Outcomes(planned[0].plan, SweepFolder(folder.path)));
  };
  CHECK(said("").starts_with("Old: these runs do not say their numerics number. Trained by 0123abc; cpu/avx2;"));
  CHECK(said("00000000").starts_with("Old: these runs have the numerics 00000000, and this program has"));
  const std::string ours = numerics("avx2");
  if (ours.empty()) return;  // a compiler whose numbers nobody committed
  CHECK(said(ours) ==
        fmt::format("Trained by 0123abc; cpu/avx2; 2026-11-24; numerics {}. Training took 1.0 "
                    "hours of clock time, summed over threads. 2 of the 2 trials that are missing take about 2.0 more, "
                    "by the median of their tasks.",
                    ours));
}
