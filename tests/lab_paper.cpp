// Figures for papers: made-up charts and matrices as SVG, LaTeX and CSV, and how a converter is called.
#include <sys/stat.h>

#include <cmath>
#include <cstdlib>
#include <regex>

#include "lab/files/converter.h"
#include "lab/pages/page/figure_file.h"
#include "lab/pages/page/paper.h"
#include "tests/lab_helpers.h"

using namespace poslab;
using namespace poslab::test;
using namespace poslab::page;

namespace {

Chart chart() {
  Chart c{"accuracy0", "Accuracy & length", "", "length", "accuracy", 1, 4, 0, 1, true, false, 2};
  c.curves = {{"rope|none*4 50%_<", 0, {{1, 1}, {2, .5}, {4, .25}}, {{1, 1}, {0, std::nan("")}, {1, .5}, {4, .5}}},
              {"chance", Curve::baseline, {{1, .5}, {2, std::nan("")}, {4, .5}}, {}}};
  c.curves[0].band = {{1, .9, 1}, {4, .2, .3}};
  return c;
}
HeatMap map() { return {"rerope", "query", "key", 2, 2, 3, {0, std::nan(""), 4, 2}, {0, 4}}; }

size_t count(const std::string& text, const std::string& word) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(word, at)) != text.npos; at += word.size()) ++n;
  return n;
}

// A program rsvg-convert, alone on the PATH; its script runs with the usual PATH.
struct Converter {
  TemporaryFolder folder;
  std::string before = std::getenv("PATH");
  explicit Converter(const std::string& script) {
    if (!script.empty()) {
      write_file(folder / "rsvg-convert", "#!/bin/sh\nPATH='" + before + "'\n" + script);
      REQUIRE(chmod((folder / "rsvg-convert").c_str(), 0700) == 0);
    }
    setenv("PATH", folder.path.c_str(), 1);
  }
  ~Converter() { setenv("PATH", before.c_str(), 1); }
};

}  // namespace

TEST_CASE("figures: an SVG for paper is as wide as it was asked to be, in letters of 8 points and colours of light") {
  const std::string one = paper_svg({chart()}, 84), two = paper_svg({chart(), chart()}, 174);
  CHECK(holds(one, "width=\"84mm\""));
  std::smatch box;
  REQUIRE(std::regex_search(one, box, std::regex("viewBox=\"\\S+ \\S+ (\\S+) ")));
  const double points = 84 / 25.4 * 72;  // 13 units are 8 points
  CHECK(std::stod(box[1]) * 8 / 13 == doctest::Approx(points).epsilon(1e-4));
  CHECK(holds(one, "font-size=\"13px\""));
  for (const char* never : {"var(", "prefers-color-scheme", "NaN", "nan"}) CHECK(!holds(one, never));
  CHECK(count(one, ">chance</text>") == 1);  // in its legend
  CHECK(holds(one, "rope|none*4 50%_&lt;</text>"));
  CHECK(count(one, "Accuracy &amp; length") == 1);  // alone, a figure has no heading: papers have captions
  CHECK(count(two, "Accuracy &amp; length</text>") == 2);
  CHECK(holds(two, "<g transform=\"translate(4"));  // the second is to the right of the first
}

TEST_CASE("figures: names that are too long for a column are broken, and a legend goes on in the next line") {
  Chart c = chart();
  c.curves[0].name = "encoding=relative positions=randomized:max_position=2048 temperature=log_n steps=3000";
  const std::string svg = paper_svg({c}, 60);
  CHECK(!holds(svg, c.curves[0].name));
  CHECK(holds(svg, "steps=3000</text>"));
  std::string all;
  const std::regex text("<text x=\"34\"[^>]*>([^<]*)</text>");
  for (auto it = std::sregex_iterator(svg.begin(), svg.end(), text); it != std::sregex_iterator(); ++it)
    if ((*it)[1] != "chance") all += (*it)[1];
  CHECK(all == c.curves[0].name);  // nothing is lost
}

TEST_CASE("figures: the numbers beside the bar of a matrix end within the picture, and leave all matrices one size") {
  std::smatch box, at, scale;
  const std::regex size("scale\\((\\S+)\\)"), width("viewBox=\"-2 -2 (\\S+) ");
  for (const double millimetres : {84., 54.}) {
    const std::string plain = paper_svg({map()}, millimetres);
    REQUIRE(std::regex_search(plain, scale, size));
    const std::string expected = scale[1];
    for (const auto& [low, high, said] :
         {std::tuple{.09679, 12.625, "0.0968"}, {-1., 15.46, "15.5"}, {-.0967891, 2047., "-0.0968"}}) {
      HeatMap m = map();
      m.shades = {low, high};
      const std::string svg = paper_svg({m}, millimetres);
      REQUIRE(std::regex_search(svg, box, width));
      REQUIRE(std::regex_search(svg, at, std::regex(fmt::format("<text x=\"(\\S+)\" y=\"\\S+\">{}</text>", said))));
      const double letters = double(std::string(said).size());
      CHECK(std::stod(at[1]) + letters * 7.4 <= std::stod(box[1]) - 2);  // letters of the mean width
      REQUIRE(std::regex_search(svg, scale, size));
      if (letters <= 6) CHECK(scale[1] == expected);
    }
  }
}

TEST_CASE("figures: four long rows are tall enough for their numbers, which begin where the view says") {
  HeatMap m{"rope", "pair", "distance", 4, 32, 1, std::vector<double>(4 * 32, .5), {-1, 1}, 1};
  m.cells[0] = 1, m.cells[127] = -1;
  CHECK(m.tall() == 4);
  CHECK(map().tall() == 1);
  for (const double millimetres : {174., 84., 54.}) {
    const std::string svg = paper_svg({m, m}, millimetres);
    std::vector<double> places;  // of the numbers of rows, from above
    std::string said;
    const std::regex text("<text x=\"32.0\" y=\"(\\S+)\" text-anchor=\"end\">(\\d+)</text>");
    for (auto it = std::sregex_iterator(svg.begin(), svg.end(), text); it != std::sregex_iterator(); ++it)
      places.push_back(std::stod((*it)[1])), said += (*it)[2];
    const std::string of_one = said.substr(0, said.size() / 2);
    CHECK_MESSAGE((of_one == "1234" || of_one == "13"), of_one);
    for (size_t n = 1; n < places.size() / 2; ++n) CHECK(places[n] - places[n - 1] >= 13);
  }
  CHECK(holds(paper_csv({m}), "rope,pair 1,0,1,,\n"));
  const std::string tex = paper_tex({m, m}, 84);
  CHECK(holds(tex, "(0,1)[1](1,1)[0.5]"));
  CHECK(holds(tex, "ytick={1,2,3,4}") != holds(tex, "ytick={1,3}"));
  CHECK(holds(tex, "ytick={-1,1}"));  // of its colours
}

TEST_CASE("figures: where training is a narrow strip, its name and the next one stand apart") {
  Chart c = chart();
  c.x_high = 100;
  const std::string svg = paper_svg({c}, 84);
  std::smatch trained, unseen;
  REQUIRE(std::regex_search(svg, trained, std::regex("x=\"(\\S+)\" y=\"\\S+\">trained")));
  REQUIRE(std::regex_search(svg, unseen, std::regex("x=\"(\\S+)\" y=\"\\S+\">unseen")));
  CHECK(std::stod(unseen[1]) - std::stod(trained[1]) >= 7 * 7.4);
}

TEST_CASE("figures: panels stand in rows of about as many, each kind in its own") {
  const std::vector<Panel> six(6, Panel(map()));
  const std::vector<PanelRow> rows = rows_of(six, 174);  // 4 would fit: 3 and 3, not 4 and 2
  REQUIRE(rows.size() == 2);
  CHECK((rows[0].to == 3 && rows[0].columns == 3 && rows[1].from == 3 && rows[1].to == 6));
  const std::vector<PanelRow> mixed = rows_of({map(), map(), map(), chart()}, 84);
  REQUIRE(mixed.size() == 3);
  CHECK((mixed[0].to == 2 && mixed[1].to == 3 && mixed[1].columns == 2 && mixed[2].columns == 1));
}

TEST_CASE("figures: LaTeX has the numbers of the chart in percent, its names in signs of its own, and breaks lines") {
  const std::string tex = paper_tex({chart()}, 84);
  CHECK(holds(tex, "coordinates {(1,100)(2,50)(4,25)};\n\\addlegendentry{rope\\textbar{}none*4 50\\%\\_\\textless{}}"));
  CHECK(holds(tex, "{(1,100)(4,30)(4,20)(1,90)} -- cycle;"));  // the band, there and back
  CHECK(holds(tex, "coordinates {(1,100)};"));                 // one seed, and
  CHECK(holds(tex, "coordinates {(1,50)(4,50)};"));            // the other
  CHECK(holds(tex, "coordinates {(1,50)};"));                  // the baseline is broken where a number is missing
  CHECK(holds(tex, "coordinates {(4,50)};\n\\addlegendentry{chance}"));
  CHECK(count(tex, "\\addlegendentry") == 2);
  CHECK(holds(tex, "(1,0)(2,0)(2,100)(1,100)} -- cycle;  % trained"));
  CHECK(holds(tex, "anchor=south west] at (axis cs:1,0) {trained};"));
  CHECK(holds(tex, "\\definecolor{poslab0072b2}{HTML}{0072B2}"));
  CHECK(holds(tex, "width=84mm"));
  CHECK(!holds(tex, "title={"));
  CHECK(holds(paper_tex({chart(), chart()}, 84), "title={Accuracy \\& length}"));
  for (const Panel& p : {Panel(chart()), Panel(map())}) {
    const std::string all = paper_tex({p}, 84);
    CHECK(count(all, "{") == count(all, "}"));
    CHECK(count(all, "\\begin{axis}") == count(all, "\\end{axis}"));
  }
  Chart log = chart();
  log.log = true, log.y_low = .01, log.curves[1].points[0].y = 0;  // no logarithm, so no point
  CHECK(holds(paper_tex({log}, 84), "ymode=log"));
  CHECK(count(paper_tex({log}, 84), "(1,0)") == 0);
  CHECK(holds(paper_tex({log}, 84), "xtick={1,2,3,4}"));  // of lengths and pairs, not at 1.5
  log.doubling = true;
  CHECK(holds(paper_tex({log}, 84), "xtick={1,2,4}"));
}

TEST_CASE("figures: LaTeX of a matrix has its cells by slot, masked ones as nan") {
  const std::string cells = paper_tex({map()}, 84);
  CHECK(holds(cells, "mesh/cols=2] coordinates {\n(0,0)[0](3,0)[nan]\n(0,3)[4](3,3)[2]\n};"));
  CHECK(holds(cells, "point meta min=0, point meta max=4"));
  CHECK(std::regex_search(cells, std::regex("poslab/.try, width=(\\S+)mm, height=\\1mm\\]")));  // square in any style
  CHECK(holds(paper_tex({chart()}, 84), "poslab/.try]"));
}

TEST_CASE("figures: CSV has a row for each point that has a number") {
  Chart c = chart();
  c.curves[0].name = "a \"b\", c";
  CHECK(paper_csv({c}) ==
        "panel,series,x,y,low,high\n"
        "Accuracy & length,\"a \"\"b\"\", c\",1,1,0.9,1\nAccuracy & length,\"a \"\"b\"\", c\",2,0.5,,\n"
        "Accuracy & length,\"a \"\"b\"\", c\",4,0.25,0.2,0.3\nAccuracy & length,chance,1,0.5,,\n"
        "Accuracy & length,chance,4,0.5,,\n");
  CHECK(paper_csv({map()}) ==
        "panel,series,x,y,low,high\nrerope,query 0,0,0,,\nrerope,query 3,0,4,,\nrerope,query 3,3,2,,\n");
}

TEST_CASE("figures: widths") {
  CHECK(millimetres_of("") == column_mm);
  CHECK(millimetres_of("page") == page_mm);
  CHECK(millimetres_of("77.5mm") == 77.5);
  for (const char* wrong : {"wide", "39", "401", "3in", "nan", "-80", "80 mm "})
    CHECK(holds(refusal([&] { millimetres_of(wrong); }), "use column (84 mm), page (174 mm), or a number"));
}

TEST_CASE("figures: the converter gets the SVG and says how it failed; without it a line says what to install") {
  {
    const Converter none("");
    CHECK(holds(refusal([] { require_converter("-o", "x.pdf"); }),
                "2: -o x.pdf: there is no rsvg-convert on the PATH"));
    CHECK(refusal([] { require_converter("-o", "x.svg"); }).empty());
  }
  {
    const Converter echo("printf '%%PDF-'; echo \"$@\"; cat");  // it begins as a PDF does
    CHECK(refusal([] { require_converter("-o", "x.pdf"); }).empty());
    CHECK(pdf_of("<svg/>") == "%PDF---format pdf --dpi-x 72 --dpi-y 72\n<svg/>");
  }
  {
    const Converter broken("echo 'no fonts' >&2; echo more >&2; exit 3");
    CHECK(refusal([] { pdf_of("<svg/>"); }) ==
          "1: rsvg-convert could not convert the picture to pdf: no fonts; write it as .svg, which needs no converter");
  }
  {
    const Converter other("echo '<svg/>'");
    CHECK(holds(refusal([] { png_of("<svg/>"); }),
                "rsvg-convert could not convert the picture to png: it gave no reason"));
  }
}

TEST_CASE("figures: PDF and PNG have the size in print, where rsvg-convert is installed") {
  if (!refusal([] { require_converter("-o", "x.pdf"); }).empty()) {
    MESSAGE("skipped: no rsvg-convert here");
    return;
  }
  const std::string svg = paper_svg({chart()}, 84), pdf = pdf_of(svg), png = png_of(svg);
  CHECK(std::regex_search(pdf, std::regex("/MediaBox \\[ 0 0 238\\.1")));  // 84 mm in points
  const auto number = [&](size_t at) {
    uint32_t n = 0;
    for (size_t k = 0; k < 4; ++k) n = n << 8 | uint8_t(png[at + k]);
    return n;
  };
  CHECK((number(16) == 992 || number(16) == 993));  // 84 mm at 300 dots per inch
  CHECK(png.substr(37, 4) == "pHYs");
  CHECK(number(41) == 11811);       // dots of a meter
  CHECK(number(50) == 0x78a53f76);  // the sum that all PNGs of this resolution have
}
