// The report from small made-up run folders: what the page shows, that it needs nothing but itself, and what it
// refuses.
#include "lab/report/report.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/error.h"
#include "lab/page/chart.h"
#include "lab/page/html.h"
#include "lab/report/run.h"
#include "tests/lab_helpers.h"

using namespace poslab;
namespace fs = std::filesystem;

namespace {

struct Folder : test::TemporaryFolder {
  const fs::path path = TemporaryFolder::path;
};

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

// Trained on lengths 1 to 4, tested on 1 to 8: all right, then `beyond`.
std::string make_run(const Folder& folder, const std::string& name, const std::string& positions, double beyond) {
  const fs::path run = folder.path / name;
  fs::create_directories(run);
  write(run / "config.toml", fmt::format("task = \"even_pairs\"\nencoding = \"relative\"\npositions = "
                                         "\"{}\"\ntrain_length = 4\nlr = 0.001\nunsorted = false\n",
                                         positions));
  std::string metrics, eval = "length,accuracy,unmasked_accuracy,loss,samples,guess,majority,content_only\n";
  for (int step = 0; step < 50; ++step)
    metrics += fmt::format("{{\"step\":{},\"loss\":{},\"accuracy\":0.5,\"length\":3,\"grad_norm\":1}}\n", step,
                           .7 / (1 + step));
  for (int length = 1; length <= 8; ++length)
    eval += fmt::format("{0},{1},{1},0.25,512,0.5,0.5,0.6\n", length, length <= 4 ? 1. : beyond);
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
  write_report(runs, out);
  CHECK_FALSE(fs::exists(out + ".partial"));
  return text_of(out);
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

template <class Error>
std::string refusal(const std::vector<std::string>& runs, const std::string& out) {
  try {
    write_report(runs, out);
  } catch (const Error& e) {
    CHECK_FALSE(holds(e.what(), "\n"));
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("report: two runs come apart, and the page says so") {
  const Folder folder;
  const std::string plain = make_run(folder, "plain", "sequential", .625),
                    random = make_run(folder, "random", "randomized", .9375);
  const std::string html = page_of(folder, {plain, random});
  CHECK(holds(html, "a gap of 31.2 points"));
  CHECK(holds(html, "unseen lengths 5 to 8"));
  CHECK(holds(html, "relative (randomized)"));
  CHECK(holds(html, "data-name=\"trained lengths\">100.0&#8239;%</td>"));
  CHECK(holds(html, "data-name=\"paper score\">62.5&#8239;%</td>"));
  CHECK(holds(html, "data-name=\"released score\">–</td>"));  // null: not measured
  CHECK(holds(html, "20.2"));
  CHECK(holds(html, "0123abc"));
  CHECK(holds(html, "avx2"));
  CHECK(holds(html, "class=\"trained\""));
  CHECK(holds(html, "guess, majority"));  // equal baselines share a curve
  CHECK(holds(html, "data-name=\"content only\">60.0&#8239;%</td>"));
  CHECK(holds(html, "poslab report " + plain + "-again " + random + "-again -o "));
  for (const char* chart : {"accuracy0-wide", "accuracy0-narrow", "loss0-wide", "log0-narrow"})
    CHECK(holds(html, std::string("id=\"") + chart + "-t\""));
}

TEST_CASE("report: one run, and runs that do not differ") {
  const Folder folder;
  const std::string a = make_run(folder, "a", "sequential", .75), b = make_run(folder, "b", "sequential", .75);
  CHECK(holds(page_of(folder, {a}), "75.0&#8239;% of the answer slots right at unseen lengths 5 to 8"));
  const std::string both = page_of(folder, {a, b});
  CHECK(holds(both, "do not differ beyond noise"));
  CHECK(holds(both, "relative (sequential), " + a));  // same scheme, so the folder tells them apart
  const std::string c = make_run(folder, "c", "sequential", .6);
  CHECK(holds(page_of(folder, {c}), "None is above the 60.0&#8239;%"));
}

TEST_CASE("report: the page needs nothing but itself and trusts no name") {
  const Folder folder;
  const std::string html = page_of(folder, {make_run(folder, "<b>&\"x'", "</script><script>alert(1)</script>", .75)});
  CHECK(holds(html, "&lt;b&gt;&amp;&quot;x&#39;"));
  CHECK_FALSE(holds(html, "<b>&\"x'"));
  CHECK_FALSE(holds(html, "alert(1)</script>"));
  std::string rest = html;
  for (size_t at; (at = rest.find("http://www.w3.org/2000/svg")) != rest.npos;) rest.erase(at, 26);
  for (const char* outside : {"http:", "https:", "src=", "@import", "url(", "{{"}) {
    CAPTURE(outside);
    CHECK_FALSE(holds(rest, outside));
  }
}

TEST_CASE("report: damaged input is refused and what stood there stays") {
  const Folder folder;
  const std::string run = make_run(folder, "run", "sequential", .75), out = (folder.path / "old.html").string();
  write(out, "old");
  CHECK(holds(refusal<BadInput>({run + "s"}, out), "no run folder \"" + run + "s\""));
  CHECK(holds(refusal<BadInput>({}, out), "no run folder was named"));
  const auto broken = [&](const std::string& name, const std::string& text, const std::string& said) {
    const std::string before = text_of(fs::path(run) / name);
    write(fs::path(run) / name, text);
    CAPTURE(name);
    CAPTURE(text);
    CHECK(holds(refusal<Failure>({run}, out), said));
    write(fs::path(run) / name, before);
  };
  broken("config.toml", "task = ", "config.toml is damaged");
  broken("config.toml", "task = \"even_pairs\"\nencoding = \"none\"\npositions = \"sequential\"",
         "lacks \"train_length\"");
  broken("metrics.jsonl", "{\"step\":0,\"loss\":0.5}\n{\"step\":1,\"lo", "metrics.jsonl, line 2");
  const std::string header = "length,accuracy,unmasked_accuracy,loss,samples,guess,majority,content_only\n";
  broken("eval.csv", "length,accuracy\n1,1\n", "its first line is not");
  broken("eval.csv", header, "no length");
  broken("eval.csv", header + "1,1,1,0.1,512,0.5,0.5\n", "line 2");
  broken("eval.csv", header + "1,1.5,1,0.1,512,0.5,0.5,0.5\n", "line 2");
  broken("eval.csv", header + "2,1,1,0.1,512,0.5,0.5,0.5\n2,1,1,0.1,512,0.5,0.5,0.5\n", "line 3");
  broken("result.json", "{\"steps\":", "result.json is damaged");
  fs::remove(fs::path(run) / "result.json");
  CHECK(holds(refusal<BadInput>({run}, out), "has no result.json; finish it with `poslab resume"));
  CHECK(text_of(out) == "old");
  const std::string whole = make_run(folder, "whole", "sequential", .75);
  CHECK(holds(refusal<Failure>({whole}, (folder.path / "nowhere" / "x.html").string()), "cannot write"));
  fs::create_directories(folder.path / "taken.html" / "inside");
  CHECK(holds(refusal<Failure>({whole}, (folder.path / "taken.html").string()), "cannot write"));
  CHECK_FALSE(fs::exists(folder.path / "taken.html.partial"));
}

TEST_CASE("report: outline keeps the extremes, smooth keeps the mean") {
  std::vector<report::Point> noisy;
  for (int i = 0; i < 1000; ++i) noisy.push_back({double(i), i == 333 ? 9. : i % 2 ? 1. : -1.});
  const auto kept = report::outline(noisy, 50);
  CHECK(kept.size() == 100);
  CHECK(std::count_if(kept.begin(), kept.end(), [](auto p) { return p.y == 9; }) == 1);
  CHECK(std::is_sorted(kept.begin(), kept.end(), [](auto a, auto b) { return a.x < b.x; }));
  const auto mean = report::smooth({{0, 1}, {1, 2}, {2, 6}, {3, 4}, {4, 5}}, 2, 5);
  CHECK(mean.size() == 5);
  CHECK(mean[0].y == 1);
  CHECK(mean[1].y == doctest::Approx(3));
  CHECK(mean[4].y == 5);
}

TEST_CASE("report: a diverged loss leaves a shorter curve") {
  const Folder folder;
  const std::string run = make_run(folder, "run", "sequential", .75);
  write(fs::path(run) / "metrics.jsonl", "{\"step\":0,\"loss\":0.5}\n{\"step\":1,\"loss\":null}\n");
  const std::string html = page_of(folder, {run});
  CHECK(holds(html, "0.5 at the start, 0.5 at the end"));
  CHECK_FALSE(holds(html, "nan"));
}
