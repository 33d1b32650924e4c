// `poslab show`: the numbers in its views against the formulas of the schemes, and the files that it writes.
#include <doctest/doctest.h>

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "core/error.h"
#include "encodings/encoding.h"
#include "lab/pages/show/show.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;

namespace {

show::View view_of(const std::string& name, std::vector<std::string> encodings, int length = 6, bool causal = false,
                   const std::string& positions = "sequential") {
  show::Options options{.encodings = std::move(encodings), .positions = positions, .views = {name}, .length = length};
  options.causal = causal;
  const std::vector<show::View> all = show::views(options);
  REQUIRE(all.size() == 1);
  return all[0];
}

}  // namespace

TEST_CASE("show: biases and rotations equal the formulas, masked pairs are empty, two schemes have a difference") {
  const show::View one = view_of("bias", {"alibi:symmetric"});
  REQUIRE(one.matrices.size() == 1);
  REQUIRE(one.matrices[0].heads.size() == 8);
  for (int h = 0; h < 8; ++h)
    CHECK(one.matrices[0].heads[size_t(h)][5] == doctest::Approx(-5 * std::exp2(-(h + 1))));   // query 0, key 5
  const show::View masked = view_of("bias", {"alibi"}, 6, true);
  CHECK(std::isnan(masked.matrices[0].heads[0][5]));
  CHECK(masked.matrices[0].heads[0][30] == doctest::Approx(-2.5));                             // query 5, key 0
  const show::View two = view_of("bias", {"alibi:symmetric", "none"});
  REQUIRE(two.matrices.size() == 3);
  CHECK(two.matrices[1].heads.size() == 1);
  CHECK(two.matrices[2].of == "difference");
  CHECK(two.matrices[2].heads[7][5] == doctest::Approx(-5 * std::exp2(-8)));
}

TEST_CASE("show: a difference is drawn only between like quantities, and an axis has one quantity") {
  const auto bias = [](const char* a, const char* b) { return view_of("bias", {a, b}); };
  CHECK(bias("rope", "rerope:window=2").matrices.size() == 3);
  CHECK(bias("kerple", "alibi").matrices.size() == 3);
  const show::View unlike = bias("rerope:window=2", "alibi");
  CHECK(unlike.matrices.size() == 2);
  CHECK(unlike.reading.ends_with("No difference is drawn: rerope:window=2 shows the logit of equal contents, and alibi "
                                 "shows the term added to the logit."));
  for (const char* other : {"sincos", "shaw", "geometric", "none*4+rope*4"})
    CHECK_MESSAGE(bias("alibi", other).matrices.size() == 2, other);
  CHECK(bias("none*4+rope*4", "none*4+rope*4").matrices.size() == 2);
  const show::View apart = view_of("similarity", {"rerope:window=2", "alibi"});
  REQUIRE(apart.charts.size() == 2);
  CHECK(apart.charts[0].y_label == "the logit of equal contents");
  CHECK(apart.charts[1].curves.size() == 8);
  CHECK(view_of("similarity", {"rope", "rerope:window=2"}).charts.size() == 1);
}

TEST_CASE("show: counted positions have no chart of gaps, as all are 1") {
  CHECK(view_of("positions", {"rope"}).charts.empty());
  CHECK(view_of("positions", {"rope"}, 6, false, "randomized").charts.size() == 1);
}

TEST_CASE("show: Su's matrices equal the formulas of his articles, and have one scale") {
  show::Options options{.encodings = show::all_sets()[0].encodings(32), .views = {"relative"}, .length = 32};
  options.causal = true;
  const show::View v = show::views(options)[0];
  CHECK(show::all_sets()[0].name == "rerope");
  REQUIRE(v.matrices.size() == 6);
  const int buckets[] = {4, 7, 12, 20};                        // 4 8^(n / 4), rounded up
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 32; ++j) {
      const int r = i - j, w = 8, k = 4;
      const double group = r < w ? r : i / k - j / k + w - w / k;
      double bucket = r;
      for (const int first : buckets)
        if (r >= first) bucket = first;
      const double expected[] = {double(r), r / 4., r < w ? r : w + (r - w) / double(k), double(std::min(r, w)), group,
                                 bucket};
      for (size_t n = 0; n < 6; ++n) {
        CAPTURE(v.matrices[n].of);
        CAPTURE(r);
        const double cell = v.matrices[n].heads[0][size_t(i * 32 + j)];
        if (r < 0) CHECK(std::isnan(cell));
        else CHECK(cell == doctest::Approx(-expected[n]));
      }
    }
  CHECK(v.one_scale);
  CHECK(show::scale_of(v, v.matrices[3], v.matrices[3].heads[0]) == std::pair{-31., 0.});
}

TEST_CASE("show: heads that rotate differently have separate curves, and a part without distances has no matrix") {
  const show::View f = view_of("frequencies", {"none*4+rope*2+pi:factor=2*2"});
  REQUIRE(f.charts[0].curves.size() == 3);                     // two heads, and the trained length
  CHECK(f.charts[0].curves[0].name == "none*4+rope*2+pi:factor=2,length=40*2, heads 5 to 6");
  CHECK(f.charts[0].curves[1].points[0].y == doctest::Approx(4 * std::acos(-1)));
  CHECK(view_of("frequencies", {"rope"}).charts[0].curves[0].name == "rope");
  const show::View d = view_of("relative", {"none*4+rope*4"});
  REQUIRE(d.matrices[0].heads.size() == 8);
  CHECK((std::isnan(d.matrices[0].heads[0][5]) && d.matrices[0].heads[7][5] == 5));
  show::Options options{.encodings = {"rope|none"}, .views = {"relative"}, .length = 6, .layer = 2};
  CHECK_THROWS_AS(show::views(options), BadInput);
  options.layer = 1;
  CHECK(show::views(options)[0].matrices[0].heads[0][5] == 5);
}

TEST_CASE("show: the hands of a clock point where the engine's rotation puts a key") {
  // The logit of equal contents is the mean cosine of the hands, times the logit of a key at the query's own slot.
  std::vector<std::string> rotating = {"pi:factor=3", "rerope:window=8,leaky=4", "window:window=8", "pi*4+rerope*4"};
  for (const Scheme& scheme : all_encodings())
    if (scheme.pages.pictures.frequencies && scheme.pages.pictures.distances) rotating.push_back(scheme.name);
  CHECK(rotating.size() > 20);
  for (const std::string& spelled : rotating) {
    show::Options options{.encodings = {spelled}, .views = {"bias", "rotation"}, .length = 40, .train_length = 20};
    options.causal = true;
    const std::vector<show::View> all = show::views(options);
    REQUIRE_MESSAGE(all.size() == 2, spelled);
    const show::Matrix& engine = all[0].matrices[0];
    for (const show::Hands& hands : all[1].hands) {
      const size_t at = hands.of.find(", head");   // "pi*4+rerope*4, heads 5 to 8"
      const int head = at == std::string::npos ? 1 : std::atoi(&hands.of[hands.of.find_first_of("123456789", at)]);
      const std::vector<double>& logits = engine.heads[engine.heads.size() == 1 ? 0 : size_t(head - 1)];
      for (size_t d = 0; d < 40; ++d) {
        double mean = 0;
        for (const double f : hands.frequencies) mean += std::cos(f * hands.relative[d]);
        mean /= double(hands.frequencies.size());
        const double logit = logits[logits.size() - 1 - d] / logits.back();
        const double hand = std::isnan(mean) ? -1 : mean;   // as for a masked pair
        CHECK_MESSAGE(hand == doctest::Approx(logit).epsilon(1e-4), hands.of << ", " << d << " slots back");
      }
    }
  }
  const show::View stops = view_of("rotation", {"rerope:window=3", "alibi"}, 8, true);
  REQUIRE(stops.hands.size() == 1);
  CHECK(stops.hands[0].relative == std::vector<double>{0, -1, -2, -3, -3, -3, -3, -3});
  CHECK(stops.matrices[0].rows == 4);
  CHECK(stops.matrices[0].heads[0][5] == doctest::Approx(std::cos(3.)));   // pair 1, 5 slots back
}

TEST_CASE("show: a picture has the matrices of a view, then its curves") {
  const page::json figures = show::figures({view_of("positions", {"rope"}, 8, false, "randomized")}, 1);
  REQUIRE(figures.size() == 2);
  CHECK(figures[0]["kind"] == "matrix");
  CHECK(figures[0]["row"] == "draw");
  CHECK(figures[1]["kind"] == "chart");
  CHECK(figures[1]["title"] == "Gaps between neighbours");
}

TEST_CASE("show: by distance, a Toeplitz matrix is a list of one number for each diagonal") {
  const show::View v = view_of("similarity", {"alibi:symmetric"}, 9);
  REQUIRE(v.charts.size() == 1);
  REQUIRE(v.charts[0].curves.size() == 8);
  for (const page::Point& p : v.charts[0].curves[1].points) CHECK(p.y == doctest::Approx(-std::abs(p.x) / 4));
  CHECK(v.charts[0].curves[1].points.size() == 17);
}

TEST_CASE("show: by distance, heads that see different keys each have a number in the row of its distance") {
  const show::View v = view_of("similarity", {"none", "alibi:sides=split"}, 9);
  CHECK(view_of("bias", {"none"}, 6, true).matrices[0].heads.size() == 1);   // heads are equal in masked pairs too
  REQUIRE(v.table.rows.size() == 9);                           // -8 -4 -2 -1 0 1 2 4 8
  const auto& first = v.table.rows.front();
  const auto& last = v.table.rows.back();
  REQUIRE(first.size() == 10);                                 // distance, none, 8 heads: 4 see the left, 4 the right
  CHECK((first[0] == "-8" && first[1] == "0" && first[2] == "-2" && first[6] == "–"));
  CHECK((last[0] == "8" && last[1] == "0" && last[2] == "–" && last[6] == "-2"));
}

TEST_CASE("show: positions from 1 on, or from a list, are in a learned table; a short list has no coverage") {
  CHECK(view_of("bias", {"learned"}, 6, false, "randomized:max_position=6,first=1").matrices.size() == 1);
  CHECK(view_of("bias", {"learned"}, 4, false, "given:at=0 1 2 5").matrices.size() == 1);
  const show::Options short_list{.encodings = {"rope"}, .positions = "given:at=0 1 2 5", .length = 4};
  for (const show::View& v : show::views(short_list)) CHECK(v.name != "coverage");
}

TEST_CASE("show: gaps and coverage of samplers") {
  const show::View plain = view_of("coverage", {"rope"}, 32);
  const auto& curves = plain.charts[0].curves;
  CHECK(curves[0].points[0].y == doctest::Approx(1));          // 10 slots: all were seen
  CHECK(curves[0].points.back().y == doctest::Approx(40. / 500));
  CHECK(curves[2].points.back().y == doctest::Approx(1));      // every gap is 1
  const show::View wide = view_of("coverage", {"rope"}, 32, false, "randomized");
  CHECK(wide.charts[0].curves[0].points.back().y > 0.95);      // every position of the pool was seen at some time
  CHECK(plain.charts[0].curves[3].points.back().y == doctest::Approx(1));
  CHECK(wide.charts[0].curves[2].points.back().y > 0.95);      // so was every gap;
  CHECK(wide.charts[0].curves[3].points.back().y < 0.5);       // but small gaps are more frequent in long strings
  // After 2000 of a million steps the pool still has a quarter, 512 of 2048 positions; the test draws from all.
  const show::View growing = view_of("coverage", {"rope"}, 32, false, "randomized:grow=1000000");
  CHECK(growing.charts[0].curves[0].points.back().y == doctest::Approx(0.25).epsilon(0.1));
  const show::View draws = view_of("positions", {"rope"}, 32, false, "randomized:max_position=320");
  double slots = 0;
  for (const double n : draws.matrices[0].heads[0]) slots += n;
  CHECK(slots == 24 * 32);
  CHECK(draws.table.rows.size() == 2);                         // 480 slots need more than 320 positions
}

TEST_CASE("show: large matrices are reduced to means without masked cells; text, CSV and pictures have these means") {
  show::Matrix m{"m", 3, 3, {{1, 3, 5, 5, 7, NAN, 9, 9, NAN}}};
  const show::Matrix small = show::reduced(m, 2);
  CHECK(small.rows == 2);
  CHECK(small.heads[0][0] == 4);
  CHECK(small.heads[0][1] == 5);                               // the mean of 5 and a masked cell
  CHECK(std::isnan(small.heads[0][3]));
  show::View view{.name = "bias", .title = "Title", .reading = "Reading.", .matrices = {m}};
  const std::string text = show::text(view, 1, 80, false, false);
  CHECK(text.find("  1133") == std::string::npos);
  CHECK(text.find("from 1 to 9") != std::string::npos);
  CHECK(text.find("..") != std::string::npos);                 // masked
  CHECK(show::text(view, 1, 80, true, true).find("\033[48;5;") != std::string::npos);
  const std::string csv = show::csv({view});
  CHECK(csv.find("bias,m,1,0,1,3\n") != std::string::npos);
  CHECK(csv.find("nan") == std::string::npos);
  const page::json drawn = show::figures({view}, 1)[0];
  CHECK(drawn["cells"].dump() == "[[1.0,3.0,5.0],[5.0,7.0,null],[9.0,9.0,null]]");
  CHECK((drawn["low"] == 1. && drawn["high"] == 9. && drawn["block"] == 1));
}

TEST_CASE("show: a view that cannot be drawn is refused with the reason") {
  const auto refused = [](const std::string& view, const std::string& encoding, const std::string& positions) {
    try {
      view_of(view, {encoding}, 6, false, positions);
      return std::string();
    } catch (const BadInput& e) { return std::string(e.what()); }
  };
  CHECK(refused("biases", "rope", "sequential").find("did you mean \"bias\"?") != std::string::npos);
  CHECK(refused("frequencies", "alibi", "sequential").find("it has no fixed frequencies") != std::string::npos);
  CHECK(refused("bias", "rope", "randomized:max_position=5").find("raise max_position") != std::string::npos);
  CHECK(refused("positions", "alibi", "randomized").find("table of offsets") != std::string::npos);
}

TEST_CASE("show command: a scheme that lacks the view that the others have is named") {
  const TemporaryFolder folder;
  const char* lack = "alibi has no view \"frequencies\": it has no fixed frequencies";
  for (const std::string& out : {std::string(), " -o " + folder / "f.csv"}) {
    Program program(folder, "show rope alibi --view frequencies" + out);
    CHECK_MESSAGE(program.output().find(lack) != std::string::npos, out);
    CHECK(program.status() == 0);
  }
  const auto views = view_of("relative", {"t5", "alibi", "rope"}, 5);
  CHECK(views.matrices.size() == 2);           // no difference: three schemes would have several
  CHECK(views.reading.find("alibi has no view \"relative\": it has no single distance") != std::string::npos);
  CHECK(view_of("relative", {"t5", "rope"}, 5).matrices.size() == 3);
}

TEST_CASE("show command: a setting that changes nothing is named") {
  const TemporaryFolder folder;
  const auto told = [&](const std::string& words) {
    Program program(folder, "show " + words);
    const std::string all = program.output();
    CHECK(program.status() == 0);
    return all.find("changes nothing here") != all.npos;
  };
  CHECK(told("rope --seed 3"));
  CHECK(told("rope --layer 2"));
  CHECK(told("rope --train-length 12"));
  CHECK_FALSE(told("rope --seed 3 --positions randomized"));
  CHECK_FALSE(told("relative --layer 2"));
  CHECK_FALSE(told("rope --train-length 12 --view frequencies"));
  CHECK(told("rope --positions randomized --view frequencies"));
  CHECK(told("rope --view coverage --d-model 128"));
  CHECK(told("rope --view coverage --heads 4"));
  CHECK(told("rope --view positions --head 2"));
  CHECK(told("alibi --view similarity --head 2"));
  CHECK(told("rope --view bias --length 4 --head 3"));
  CHECK_FALSE(told("alibi --head 2"));
  CHECK_FALSE(told("alibi --heads 3 --length 8"));
}
