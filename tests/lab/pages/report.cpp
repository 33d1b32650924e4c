// The report of small made-up run folders: its content, that the page is self-contained, and what it refuses.
#include "lab/pages/report/report.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "core/error.h"
#include "lab/pages/page/page.h"
#include "lab/pages/report/tested_run.h"
#include "lab/runs/sweep/sweep.h"
#include "tests/lab/helpers.h"

namespace poslab {
extern const std::string_view page_css;
}

using namespace poslab;
using test::holds;
namespace fs = std::filesystem;

namespace {

using nlohmann::json;

struct Folder : test::TemporaryFolder {
  const fs::path path = TemporaryFolder::path;
};

std::string file_text(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

// Trained on lengths 1 to 4, tested on first .. last: all answers are right up to 4, then the accuracy is `beyond`.
struct Tested { int first = 1, last = 8, samples = 512; };
std::string make_run(const Folder& folder, const std::string& name, const std::string& positions, double beyond,
                     const std::string& more = "", Tested at = {}) {
  const fs::path run = folder.path / name;
  fs::create_directories(run);
  write(run / "config.toml", fmt::format("task = \"even_pairs\"\nencoding = \"relative\"\npositions = "
                                         "\"{}\"\ntrain_length = 4\nlr = 0.001\n{}",
                                         positions, more));
  std::string metrics, eval = "length,accuracy,unmasked_accuracy,loss,samples,chance,majority,content_only\n";
  for (int step = 1; step <= 50; ++step)
    metrics += fmt::format("{{\"step\":{},\"loss\":{},\"accuracy\":0.5,\"length\":3,\"grad_norm\":1}}\n", step,
                           .7 / step);
  for (int length = at.first; length <= at.last; ++length)
    eval += fmt::format("{0},{1},{1},0.25,{2},0.5,0.5,0.6\n", length, length <= 4 ? 1. : beyond, at.samples);
  write(run / "metrics.jsonl", metrics);
  write(run / "eval.csv", eval);
  write(run / "result.json",
        fmt::format(
            R"({{"config":{{}},"paper_score":{},"released_score":null,"steps":50,"seconds":2.5,"steps_per_second":20.25,
    "threads":2,"isa":"avx2","version":"0.1.0","commit":"0123abc"}})",
            beyond));
  return run.string();
}

std::string page_of(const Folder& folder, const std::vector<std::string>& runs) {
  const std::string out = (folder.path / "report.html").string();
  report::write(runs, out);
  CHECK_FALSE(fs::exists(out + ".poslab.partial"));
  return file_text(out);
}

template <class Error>
std::string refusal(const std::vector<std::string>& runs, const std::string& out) {
  try {
    report::write(runs, out);
  } catch (const Error& e) {
    CHECK_FALSE(holds(e.what(), "\n"));
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("report: two runs that differ clearly, and the page says so") {
  const Folder folder;
  const std::string plain = make_run(folder, "plain", "sequential", .625),
                    random = make_run(folder, "random", "randomized", .9375);
  const std::string html = page_of(folder, {plain, random});
  const json document = test::document_in(html);
  const auto cells = [&](const char* column) { return json(test::cells_in(document, "Table of runs", column)); };
  CHECK(holds(html, "a gap of 31.2 points"));
  CHECK(holds(html, "right. Both are clearly above the best baseline of each unseen length, 60.0\u202f% on average;"));
  CHECK(holds(html, "unseen lengths 5 to 8"));
  CHECK(holds(html, "positions=randomized"));
  CHECK(cells("trained lengths") == json({1., 1.}));
  CHECK(cells("paper score")[0]["value"] == .625);
  CHECK(cells("released score") == json({nullptr, nullptr}));  // it was not measured
  CHECK(cells("steps/s") == json({20.25, 20.25}));
  CHECK(holds(html, "0123abc"));
  CHECK(holds(html, "avx2"));
  CHECK(holds(html, "\"id\":\"accuracy\""));
  CHECK(holds(html, "chance, majority"));  // equal baselines share a curve
  CHECK(cells("content only")[0].get<double>() == doctest::Approx(.6));
  CHECK(holds(html, "poslab report " + plain + "-again " + random + "-again -o "));
  const std::vector<json> charts = test::parts_in(document, "kind", "chart");
  REQUIRE(charts.size() == 2);
  CHECK((charts[0]["id"] == "accuracy0" && charts[0]["shaded"] == 4.));
  CHECK((charts[1]["id"] == "loss0" && charts[1]["log_low"].get<double>() > 0));
}

TEST_CASE("report: one run, and runs that do not differ") {
  const Folder folder;
  const std::string a = make_run(folder, "a", "sequential", .75), b = make_run(folder, "b", "sequential", .75);
  CHECK(holds(page_of(folder, {a}), "75.0\u202f% of the answer slots right at unseen lengths 5 to 8"));
  const std::string both = page_of(folder, {a, b});
  CHECK(holds(both, "a gap of 0.0 points, which may be noise"));
  const std::string low = make_run(folder, "low", "randomized", .6);
  CHECK(holds(page_of(folder, {a, low}), "right. Of the 2, only ["));
  CHECK(holds(both, "relative (sequential), " + a));  // the scheme is the same, so the folder distinguishes them
  const std::string c = make_run(folder, "c", "sequential", .6);
  const std::string single = page_of(folder, {c});
  CHECK(holds(single,
              "]{c0} is not clearly above the best baseline of each unseen length, 60.0\u202f% on average; "
              "a margin of up to 2.2 points may be noise. ["));
  const json best = test::cells_in(test::document_in(single), "Table of runs", "best of each length")[0];
  CHECK(best.get<double>() == doctest::Approx(.6));
}

TEST_CASE("report: each test has the margin of its own number of strings, and its own lengths") {
  const Folder folder;
  const std::string usual = make_run(folder, "usual", "sequential", .61),
                    few = make_run(folder, "few", "randomized", .8, "", {5, 5, 4}),
                    near = make_run(folder, "near", "contiguous", 0, "", {1, 4}),
                    far = make_run(folder, "far", "stretched", .62, "", {9, 12});
  const auto lead = [&](const std::vector<std::string>& runs) {
    return test::document_in(page_of(folder, runs))["lead"].dump();
  };
  const std::string three = lead({usual, few, near});
  CHECK(holds(three, "Neither is clearly above"));          // of 4 strings: 50 points; of 2048: 2.2
  CHECK(holds(three, "a margin of up to 2.2 to 50.0 points may be noise"));
  CHECK(holds(three, "at unseen length 5, "));
  CHECK(holds(three, "the ranges differ, so these cannot be compared"));
  CHECK(holds(three, "{c2} was not tested at lengths beyond the training range."));
  CHECK(holds(lead({near}), "beyond the training range, so nothing can be said about unseen lengths."));
  CHECK(holds(lead({usual, few, make_run(folder, "other", "blocks", .61)}), "the ranges differ"));
  const json chart = test::parts_in(test::document_in(page_of(folder, {usual, far})), "kind", "chart")[0];
  const json& curves = chart["curves"];
  const auto chance =
      std::find_if(curves.begin(), curves.end(), [](auto& c) { return c["name"] == "chance, majority"; });
  REQUIRE(chance != curves.end());
  CHECK((*chance)["points"].size() == 12);
}

TEST_CASE("report: lengths of a fixed curriculum, and of a run that began with another") {
  const Folder folder;
  const std::string uniform = page_of(folder, {make_run(folder, "uniform", "randomized", .7)});
  CHECK(holds(uniform, "The shaded lengths, 1 to 4, were trained on. "));
  CHECK_FALSE(holds(uniform, "was trained on before"));
  const std::string fixed =
      page_of(folder, {make_run(folder, "fixed", "randomized", .7, "curriculum = \"fixed\"\nfrom = \"runs/a\"\n")});
  CHECK(holds(fixed, "Only length 4 was trained on, so none is shaded. The lengths that runs/a was trained on before "
                     "are not counted. "));
}

TEST_CASE("report: if no line is above the baselines, that comes first; lines picked by score have no interval") {
  const Folder folder;
  std::vector<std::string> near, far;   // the best baseline is 60 %: near is within its noise, most of far is above
  for (int batch = 1; batch <= 4; ++batch)
    for (int seed = 0; seed < 3; ++seed) {
      const std::string more = fmt::format("seed = {}\nbatch = {}\n", seed, batch);
      near.push_back(make_run(folder, fmt::format("near{}{}", batch, seed), "sequential", .595 + .005 * batch, more));
      far.push_back(make_run(folder, fmt::format("far{}{}", batch, seed), "sequential", .55 + .05 * batch, more));
    }
  const std::string none = page_of(folder, near), some = page_of(folder, far);
  CHECK(holds(none, "** None of the 4 is clearly above the best baseline of each unseen length, 60.0\u202f%"));
  CHECK(holds(none, "up to 2.2 points may be noise. At unseen lengths 5 to 8 the best of 4, "));
  CHECK(holds(some, "** At unseen lengths 5 to 8 the best of 4, "));
  CHECK(holds(some, " 3 of the 4 are clearly above the best baseline"));
  for (const std::string& html : {none, some}) CHECK_FALSE(holds(test::document_in(html)["lead"].dump(), "interval"));
}

TEST_CASE("report: the lines of the table of differences are never picked by their scores") {
  const Folder folder;
  std::vector<std::string> runs;
  for (int n = 0; n < 8; ++n)           // 28 pairs, more than fit in the table; the last run is the best
    for (int seed = 0; seed < 2; ++seed)
      runs.push_back(make_run(folder, fmt::format("{}-{}", n, seed), "sequential", .5 + n / 16.,
                              fmt::format("seed = {}\nbatch = {}\n", seed, 1 + n)));
  std::set<std::string> better, worse;
  for (const json& pair : test::cells_in(test::document_in(page_of(folder, runs)), "Paired differences", "runs"))
    better.insert(pair[0]["text"]), worse.insert(pair[1]["text"]);
  for (int n = 1; n < 8; ++n) CHECK(better.count(fmt::format("batch={}", 1 + n)));
  CHECK(worse == std::set<std::string>{"batch=1"});
}

TEST_CASE("report: runs that differ only in their seed are one line, and lines are compared in pairs of seeds") {
  const Folder folder;
  std::vector<std::string> runs;
  for (int seed = 0; seed < 3; ++seed)
    for (const bool unsorted : {false, true})
      runs.push_back(make_run(folder, fmt::format("{}{}", unsorted ? "u" : "s", seed),
                              unsorted ? "randomized:unsorted" : "randomized", (unsorted ? .625 : .75) + seed / 16.,
                              fmt::format("seed = {}\n", seed)));
  const std::string html = page_of(folder, runs);
  const json document = test::document_in(html);
  const std::vector<json> names = test::cells_in(document, "Table of runs", "run");
  CHECK(names[0].dump() == R"({"below":"seeds 0 to 2","color":"c0","text":"positions=randomized"})");
  CHECK(names[1].dump() == R"({"below":"seeds 0 to 2","color":"c1","text":"positions=randomized:unsorted"})");
  const json score = test::cells_in(document, "Table of runs", "paper score")[0];  // the mean over three seeds
  CHECK((score["value"] == .8125 && score["low"] == .75 && score["high"] == .875));
  CHECK(test::parts_in(document, "kind", "chart")[0]["curves"][0]["band"][7] == json({8., .75, .875}));
  CHECK(holds(html, "the band reaches from the lowest to the highest"));
  CHECK(holds(html, "a gap of 12.5 points, 95\u202f% interval +12.5 to +12.5 over 3 paired seeds"));
  CHECK(test::cells_in(document, "Paired differences", "paired seeds")[0] == 3);
  CHECK(holds(html, "Single runs"));
  CHECK(holds(html, "With 3 seeds they hardly exceed the range of seeds"));
  // With one seed per line there is no band.
  const std::string two = page_of(folder, {runs[0], runs[1]});
  CHECK(test::cells_in(test::document_in(two), "Table of runs", "run")[1]["below"] == runs[1]);
  CHECK_FALSE(holds(two, "\"band\":"));
  CHECK_FALSE(holds(two, "\"id\":\"differences\""));
}

TEST_CASE("report: more lines than colors are distinguished by dashes and marks") {
  const Folder folder;
  std::vector<std::string> runs;
  for (int n = 0; n < 18; ++n)
    runs.push_back(
        make_run(folder, fmt::format("run{}", n), "sequential", .5 + n / 64., fmt::format("batch = {}\n", 1 + n)));
  const json document = test::document_in(page_of(folder, runs)), chart = test::parts_in(document, "kind", "chart")[0];
  std::set<std::string> looks;
  for (int n = 0; n < 18; ++n) {
    const std::string look = page::color_class(n), name = fmt::format("batch={}", 1 + n);
    CHECK(looks.insert(look).second);
    for (const json& here : {chart["curves"][size_t(n)], test::cells_in(document, "Table of runs", "run")[size_t(n)]}) {
      CHECK(here["color"] == look);
      CHECK(here.value("name", here.value("text", "")) == name);
    }
  }
  CHECK(page::color_class(7) == "c7");
  CHECK(page::color_class(9) == "c1 again1");
  CHECK(page::color_class(page::Curve::baseline) == "base");
  const std::string css(page_css);
  for (const char* part :
       {".again1.line {stroke-dasharray", ".again2.line {stroke-dasharray", ".again1.mark", ".again2.mark"})
    CHECK_MESSAGE(holds(css, part), part);
}

TEST_CASE("report: a sweep's folder, its plan, and a pattern that matches more than runs") {
  const Folder folder;
  const std::string run = make_run(folder, "run", "sequential", .75),
                    half = make_run(folder, "a half", "randomized", .5);
  fs::remove(fs::path(half) / "result.json");
  write(folder.path / "notes.txt", "no run");
  fs::create_directories(folder.path / "empty");
  const std::string out = (folder.path / "report.html").string();
  std::vector<std::string> passed = report::write({run, half, (folder.path / "notes.txt").string(),
                                                   (folder.path / "empty").string(), run}, out);
  REQUIRE(passed.size() == 3);
  CHECK(holds(passed[0], "finish it with `poslab resume '" + half + "'`"));
  CHECK(holds(passed[1], "is a file, not a run folder"));
  CHECK(holds(passed[2], "has no config.toml"));
  CHECK(holds(file_text(out), "Skipped: "));
  passed = report::write({folder.path.string()}, out);  // a folder of runs
  CHECK(passed.size() == 1);

  const std::string lists =
      "task = \"even_pairs\"\nencoding = \"relative\"\ntrain_length = 4\nlr = 0.001\nseeds = 2\n";
  const sweep::Plan plan = sweep::make_plan(lists, "sweep.toml");
  const std::string file = (folder.path / "plan.jsonl").string(), trials = (folder.path / "runs" / "sweep").string();
  write(file, sweep::plan_lines(plan));
  CHECK(holds(refusal<BadInput>({file}, out), "name the folder that `poslab sweep run` was given by --out"));
  sweep::keep_plan(plan, sweep::SweepFolder(trials));
  fs::rename(run, fs::path(trials) / plan[0].id);
  write(fs::path(trials) / "journal.jsonl", "{\"event\":\"done\"}\n"), write(fs::path(trials) / "claims", "");
  std::vector<std::string> pattern;  // as a shell expands runs/sweep/*
  for (const auto& at : fs::directory_iterator(trials)) pattern.push_back(at.path());
  REQUIRE(pattern.size() == 4);
  passed = report::write(pattern, out);
  CHECK(passed.size() == 3);  // the journal, the claims, the trial that is left to do
  for (const std::string& word : {file, trials, trials + "/plan.jsonl"}) {
    passed = report::write({word}, out);
    CHECK(passed == std::vector<std::string>{fmt::format("not all 2 trials of {} are done: 1 to do",
                                                         word == trials ? trials : fs::proximate(trials).string())});
  }
  const fs::path below = fs::path(trials) / "runs";  // where compare and reproduce put them
  fs::create_directories(below);
  fs::rename(fs::path(trials) / plan[0].id, below / plan[0].id);
  passed = report::write({trials}, out);
  CHECK(passed == std::vector<std::string>{
                      fmt::format("not all 2 trials of {} are done: 1 to do", fs::proximate(below).string())});
  fs::create_directories(below / plan[1].id);  // a trial as --kept restores it
  for (const char* name : {"eval.csv", "result.json"}) fs::copy(below / plan[0].id / name, below / plan[1].id / name);
  passed = report::write({trials}, out);
  REQUIRE(passed.size() == 1);
  CHECK(holds(passed[0], "1 came from a file of --kept, which has no runs; `poslab sweep collect` has their numbers"));
}

TEST_CASE("report: the page needs nothing but itself and escapes every name") {
  const Folder folder;
  const std::string html = page_of(folder, {make_run(folder, "<b>&\"x'", "</script><script>alert(1)</script>", .75)});
  CHECK(holds(html, "\\u003cb>&\\\"x'"));
  CHECK_FALSE(holds(html, "<b>&\"x'"));
  CHECK_FALSE(holds(html, "alert(1)</script>"));
  std::string rest = html;
  for (size_t at; (at = rest.find("http://www.w3.org/2000/svg")) != rest.npos;) rest.erase(at, 26);
  for (const char* outside : {"http:", "https:", "src=", "@import", "url(", "{{"}) {
    CAPTURE(outside);
    CHECK_FALSE(holds(rest, outside));
  }
}

TEST_CASE("pages: text has a contrast of at least 4.5 to 1 on paper and wash, light and dark") {
  const std::string css(page_css), dark = "prefers-color-scheme:dark";
  for (const std::string& theme : {css.substr(0, css.find(dark)), css.substr(css.find(dark))}) {
    const auto luminance = [&](const std::string& name) {
      const size_t at = theme.find("--" + name + ":#") + name.size() + 4;
      std::string hex = theme.substr(at, theme.find_first_of(";,", at) - at);
      if (hex.size() == 3) hex = {hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]};
      double sum = 0;
      for (int k = 0; k < 3; ++k) {
        const double v = std::stoi(hex.substr(size_t(2 * k), 2), nullptr, 16) / 255.;
        const double linear = v <= .03928 ? v / 12.92 : std::pow((v + .055) / 1.055, 2.4);
        sum += std::array{.2126, .7152, .0722}[size_t(k)] * linear;
      }
      return sum + .05;
    };
    for (const char* text : {"ink", "soft", "faint", "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"})
      for (const char* ground : {"paper", "wash"}) {
        const double a = luminance(text), b = luminance(ground);
        CHECK_MESSAGE(std::max(a, b) / std::min(a, b) >= 4.5, text << " on " << ground);
      }
  }
}

TEST_CASE("report: damaged input is refused, and an earlier report is kept") {
  const Folder folder;
  const std::string run = make_run(folder, "run", "sequential", .75), out = (folder.path / "old.html").string();
  const std::string old = "<!doctype html><meta name=\"generator\" content=\"poslab report\">";  // an earlier report
  write(out, old);
  CHECK(holds(refusal<BadInput>({run + "s"}, out), "no run folder \"" + run + "s\""));
  CHECK(holds(refusal<BadInput>({}, out), "no run folder was named"));
  const auto broken = [&](const std::string& name, const std::string& text, const std::string& said) {
    const std::string before = file_text(fs::path(run) / name);
    write(fs::path(run) / name, text);
    CAPTURE(name);
    CAPTURE(text);
    CHECK(holds(refusal<std::runtime_error>({run}, out), said));
    write(fs::path(run) / name, before);
  };
  broken("config.toml", "preset = \"none\"\ntask = ", "/config.toml, line 2: ");
  broken("config.toml", "task = \"even_pairs\"\nencoding = \"none\"\npositions = \"sequential\"",
         "/config.toml lacks train_length, a number of at least 1; restore it from a copy, or train again");
  broken("metrics.jsonl", "{\"step\":0,\"loss\":0.5}\n{\"step\":1,\"lo",
         "/metrics.jsonl is damaged: line 2 reads \"{\"step\":1,\"lo\", which is not an object with the numbers step, "
         "loss; restore the file from a copy, or empty it to do without");
  broken("metrics.jsonl", "{\"step\":0,\"loss\":\"low\"}\n", "line 1 reads");
  broken("metrics.jsonl", "{\"step\":49,\"loss\":0.5}\n",
         "/metrics.jsonl is cut off: its last line is of step 49, but the run had one of step 50; restore it from a "
         "copy");
  const std::string header = "length,accuracy,unmasked_accuracy,loss,samples,chance,majority,content_only\n";
  broken("eval.csv", "length,accuracy\n1,1\n", "its first line is not");
  broken("eval.csv", header, "no line below the header");
  broken("eval.csv", header + "1,1,1,0.1,512,0.5,0.5\n", "line 2");
  broken("eval.csv", header + "1,1.5,1,0.1,512,0.5,0.5,0.5\n", "line 2");
  broken("eval.csv", header + "2,1,1,0.1,512,0.5,0.5,0.5\n2,1,1,0.1,512,0.5,0.5,0.5\n", "line 3");
  broken("result.json", "{\"steps\":", "result.json is damaged");
  fs::remove(fs::path(run) / "result.json");
  CHECK(holds(refusal<BadInput>({run}, out), "has no result.json; finish it with `poslab resume"));
  CHECK(file_text(out) == old);
  write(out, "<!doctype html><p>of my own</p>");
  CHECK(holds(refusal<BadInput>({run}, out), "this file exists and holds something else"));
  const std::string whole = make_run(folder, "whole", "sequential", .75);
  CHECK(holds(refusal<BadInput>({whole}, (folder.path / "nowhere" / "x.html").string()), "cannot write"));
  fs::create_directories(folder.path / "taken.html" / "inside");
  CHECK(holds(refusal<BadInput>({whole}, (folder.path / "taken.html").string()), "cannot write"));
  CHECK_FALSE(fs::exists(folder.path / "taken.html.poslab.partial"));
}

TEST_CASE("pages: C++ writes data, and draws nothing") {
  int files = 0;
  const auto check = [&](const fs::path& path, const std::vector<std::string>& markups) {
    if (path.extension() != ".cpp" && path.extension() != ".h") return;
    ++files;
    const std::string text = file_text(path);
    for (const std::string& markup : markups)
      CHECK_FALSE_MESSAGE(holds(text, markup), path.string() << " has " << markup);
  };
  for (const char* folder : {"apps", "autograd", "bench", "core", "course", "cuda", "encodings", "examples",
                             "experiment", "lab", "nn", "python", "tasks", "web"})
    for (const auto& at : fs::recursive_directory_iterator(fs::path(test::source_folder) / folder))
      check(at.path(), {"<svg", "<table", "addplot"});
  CHECK(files > 500);
  for (const auto& at : fs::recursive_directory_iterator(fs::path(test::source_folder) / "lab/pages"))
    check(at.path(), {"<div", "<p>", "<p ", "<span", "<b>", "<section", "style=", "stroke="});
}

TEST_CASE("report: outline keeps the extremes, smooth keeps the mean") {
  std::vector<page::Point> noisy;
  for (int i = 0; i < 1000; ++i) noisy.push_back({double(i), i == 333 ? 9. : i % 2 ? 1. : -1.});
  const auto kept = page::outline(noisy, 50);
  CHECK(kept.size() == 100);
  CHECK(std::count_if(kept.begin(), kept.end(), [](auto p) { return p.y == 9; }) == 1);
  CHECK(std::is_sorted(kept.begin(), kept.end(), [](auto a, auto b) { return a.x < b.x; }));
  const std::vector<page::Point> five = {{0, 1}, {1, 2}, {2, 6}, {3, 4}, {4, 5}};
  const auto mean = page::smooth(five, 2);
  CHECK(mean.size() == 5);
  CHECK(mean[0].y == doctest::Approx(3));
  CHECK(mean[1].y == doctest::Approx(3));
  CHECK(mean[3].y == doctest::Approx(5));
  CHECK(mean[4].y == doctest::Approx(5));
  CHECK(page::smooth(five, 0)[4].y == 5);
  CHECK(page::smooth(five, 9)[0].y == doctest::Approx(3.6));
  const auto some = page::some_of(five, 3);
  CHECK(some.size() == 3);
  CHECK(some[1].x == 2);
  CHECK(some[2].x == 4);
}

TEST_CASE("report: the mean over seeds has the steps that all of them log") {
  const Folder folder;
  const std::string a = make_run(folder, "a", "sequential", .75),
                    b = make_run(folder, "b", "sequential", .75, "seed = 1\n");
  write(fs::path(a) / "metrics.jsonl",
        "{\"step\":10,\"loss\":1}\n{\"step\":20,\"loss\":2}\n{\"step\":50,\"loss\":3}\n");
  write(fs::path(b) / "metrics.jsonl", "{\"step\":15,\"loss\":7}\n{\"step\":50,\"loss\":5}\n");
  const auto curves = test::parts_in(test::document_in(page_of(folder, {a, b})), "id", "loss0")[0]["curves"];
  CHECK(curves.size() == 1);
  CHECK(curves[0]["points"].dump() == "[[50.0,4.0]]");
  CHECK(curves[0]["behind"].size() == 7);
}

TEST_CASE("report: a diverged loss leaves a shorter curve") {
  const Folder folder;
  const std::string run = make_run(folder, "run", "sequential", .75);
  write(fs::path(run) / "metrics.jsonl", "{\"step\":49,\"loss\":0.5}\n{\"step\":50,\"loss\":null}\n");
  const std::string html = page_of(folder, {run});
  CHECK(test::parts_in(test::document_in(html), "id", "loss0")[0]["curves"][0]["points"].dump() == "[[49.0,0.5]]");
  CHECK_FALSE(holds(html, "nan"));
}
