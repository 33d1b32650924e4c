// Figures as data, and the call of Python that draws them; the drawing is tested in tests/python/test_figures.py.
#include <sys/stat.h>

#include <cmath>

#include "lab/files/python.h"
#include "lab/pages/page/chart.h"
#include "lab/pages/page/print.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;
using namespace poslab::page;

namespace {

Chart chart() {
  Chart c{"accuracy0", "Accuracy & length", "length", "accuracy", 1, 4, 0, 1, true, false, 2};
  c.curves = {{"rope|none", 0, {{1, 1}, {2, .5}, {4, .25}}, {{1, 1}, {0, std::nan("")}, {1, .5}}},
              {"chance", Curve::baseline, {{1, .5}, {2, std::nan("")}, {4, .5}}, {}}};
  c.curves[0].band = {{1, .9, 1}, {4, .2, .3}};
  return c;
}

}  // namespace

TEST_CASE("figures: CSV has a row for each point that has a number") {
  Chart c = chart();
  c.curves[0].name = "a \"b\", c";
  CHECK(charts_csv({c}) ==
        "panel,series,x,y,low,high\n"
        "Accuracy & length,\"a \"\"b\"\", c\",1,1,0.9,1\nAccuracy & length,\"a \"\"b\"\", c\",2,0.5,,\n"
        "Accuracy & length,\"a \"\"b\"\", c\",4,0.25,0.2,0.3\nAccuracy & length,chance,1,0.5,,\n"
        "Accuracy & length,chance,4,0.5,,\n");
}

TEST_CASE("figures: the data has names, axes, bands and background lines") {
  const nlohmann::json page = chart_json(chart());
  CHECK(page["curves"][0]["name"] == "rope|none");
  CHECK(page["curves"][0]["band"].dump() == "[[1.0,0.9,1.0],[4.0,0.2,0.3]]");
  CHECK(page["curves"][1]["points"].dump() == "[[1.0,0.5],[2.0,null],[4.0,0.5]]");
  CHECK_FALSE(page["curves"][1].contains("band"));
  CHECK_FALSE(page["curves"][1].contains("behind"));
  CHECK(page["title"] == "Accuracy & length");
  CHECK(page["y"] == "accuracy");
  CHECK(page["curves"][0]["behind"].dump() == "[[1.0,1.0],[0.0,null],[1.0,0.5]]");
  CHECK(figure_file("x.json", {{{"kind", "chart"}}}, "") == "{\"figures\":[{\"kind\":\"chart\"}]}\n");
}

TEST_CASE("figures: named widths, widths in millimetres, and widths that are refused") {
  CHECK(millimetres_of("") == column_mm);
  CHECK(millimetres_of("page") == page_mm);
  CHECK(millimetres_of("77.5mm") == 77.5);
  for (const char* wrong : {"wide", "0", "39", "401", "3in", "nan", "-80", "80 mm "})
    CHECK(holds(refusal([&] { millimetres_of(wrong); }), "use column (84 mm), page (174 mm), or a number"));
}

TEST_CASE("figures: Python reads the data that it draws, and reports its errors") {
  const TemporaryFolder folder;
  const auto python = [&](const std::string& script) {
    write_file(folder / "python3", "#!/bin/sh\n" + script);
    REQUIRE(chmod((folder / "python3").c_str(), 0700) == 0);
    return std::string(folder / "python3");
  };
  CHECK(python_output(python("echo \"$@\"; cat"), "figures", {"-o", "-"}, "data") ==
        "-m poslab_drawing.figures -o -\ndata");
  const auto said = [&](const std::string& script) {
    return refusal([&] { python_output(python(script), "figures", {}, ""); });
  };
  CHECK(said("echo 'poslab: no such figure; there are two' >&2; exit 2") == "2: no such figure; there are two");
  CHECK(said("echo 'a warning' >&2; echo 'poslab: no LaTeX' >&2; exit 1") == "1: no LaTeX");
  CHECK(holds(said("echo Traceback >&2; echo 'KeyError: x' >&2; exit 1"),
              "python3 -m poslab_drawing.figures ended with status 1: KeyError: x"));
  CHECK(holds(refusal([&] { python_output(python(""), "nowhere", {}, ""); }), "this program came without its Python"));
}
