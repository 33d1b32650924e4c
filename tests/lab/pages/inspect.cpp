// Inspection of runs: principal components of known clouds, and attention against lab/pictures.
#include <cmath>
#include <nlohmann/json.hpp>

#include "autograd/tape.h"
#include "experiment/attention_maps.h"
#include "experiment/evaluate.h"
#include "experiment/language/inside.h"
#include "experiment/lengths.h"
#include "experiment/pca.h"
#include "lab/pages/inspect/figures.h"
#include "lab/runs/pictures.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::inspect;
using namespace poslab::test;

namespace {

double dot(const double* a, const double* b, size_t n) {
  double sum = 0;
  for (size_t k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

}  // namespace

TEST_CASE("inspect: eigenvectors are orthonormal and give the matrix back") {
  const size_t C = 9;
  Rng rng(stream(1, Purpose::init, 0));
  std::vector<double> A(C * C);
  for (size_t i = 0; i < C; ++i)
    for (size_t j = 0; j <= i; ++j) A[i * C + j] = A[j * C + i] = rng.normal();
  const Eigen e = eigen(A, int(C));
  CHECK(std::is_sorted(e.values.rbegin(), e.values.rend()));
  for (size_t a = 0; a < C; ++a) {
    const double* v = e.vectors.data() + a * C;
    for (size_t b = 0; b < C; ++b) {
      CHECK(std::abs(dot(v, e.vectors.data() + b * C, C) - (a == b)) < 1e-12);
      CHECK(std::abs(dot(A.data() + b * C, v, C) - e.values[a] * v[b]) < 1e-12);
    }
    CHECK(*std::max_element(v, v + C) >= -*std::min_element(v, v + C));
  }
  const Eigen small = eigen({2, 1, 1, 2}, 2);
  CHECK(small.values[0] == doctest::Approx(3));
  CHECK(small.values[1] == doctest::Approx(1));
  const Eigen diagonal = eigen({2, 0, 0, 3}, 2);  // there is nothing to rotate
  CHECK(diagonal.values == std::vector<double>{3, 2});
  CHECK(diagonal.vectors == std::vector<double>{0, 1, 1, 0});
}

TEST_CASE("inspect: the principal axes of a line and of a rotated ellipse") {
  std::vector<double> line, ellipse;
  for (int t = -5; t <= 5; ++t)
    for (const double v : {1 + 3. * t, 2 + 4. * t, 7.}) line.push_back(v);
  const Principal one = principal(line, 3);
  CHECK(one.share[0] == doctest::Approx(1));
  CHECK(std::abs(one.share[1]) + std::abs(one.share[2]) < 1e-12);
  CHECK(one.mean[2] == doctest::Approx(7));
  CHECK(one.axes[0] == doctest::Approx(.6));
  CHECK(one.axes[1] == doctest::Approx(.8));
  CHECK(std::abs(project(one, line)[0]) == doctest::Approx(25));

  const double c = std::cos(.5), s = std::sin(.5);
  for (int t = 0; t < 360; ++t) {
    const double x = 3 * std::cos(t * M_PI / 180), y = std::sin(t * M_PI / 180);
    for (const double v : {c * x - s * y + 4, s * x + c * y - 2, -1.}) ellipse.push_back(v);
  }
  const Principal two = principal(ellipse, 3);
  CHECK(two.share[0] == doctest::Approx(.9));
  CHECK(two.share[1] == doctest::Approx(.1));
  CHECK(two.axes[0] == doctest::Approx(c));
  CHECK(two.axes[1] == doctest::Approx(s));
  CHECK(two.axes[4] == doctest::Approx(c));
  const std::vector<double> plane = project(two, ellipse);
  for (size_t n = 0; n < plane.size(); n += 2)
    CHECK(std::pow(plane[n] / 3, 2) + std::pow(plane[n + 1], 2) == doctest::Approx(1));
  CHECK(principal({1, 1, 1, 1}, 2).share == std::vector<double>{0, 0});
}

TEST_CASE("inspect: the share of points outside a cloud") {
  const std::vector<double> cloud = {0, 0, 10, 0, 20, 5, 0, 10};  // squares of side 1
  CHECK(share_outside(cloud, cloud) == 0);
  CHECK(share_outside({.5, .9, 10.2, .1, 20.5, 5.5, 11, 0}, cloud) == doctest::Approx(.25));
  CHECK(share_outside({-.1, 0, 100, 100}, cloud) == 1);
  // A square's side is a twentieth of the cloud's longer side, wherever the cloud is.
  const std::vector<double> far = {1000, 0, 1000, 3, 1000, 5, 1000, 20, 990, 0};
  CHECK(share_outside(far, far) == 0);
  CHECK(share_outside({1000.5, .5, 1001.5, 0, 1000, 4, 990, .9}, far) == doctest::Approx(.5));
}

TEST_CASE("inspect: clouds are the activations of answer slots, on the map of the first length") {
  const State state(tiny_config());
  const Pca p = pca(state, {6, 9}, 3);
  REQUIRE(p.layers.size() == 2);
  const NoGrad no_grad;
  const auto answers = [&](int length,
                           int first) {  // block 1's output at the answer slots of 3 strings, and their score
    const Batch batch = test_batch(state.config, length, first, 3);
    Trace trace({"block1.out"});
    const int T = 2 * length;
    const PositionSample drawn = test_draw(state.config, length, first, 3, T);
    const Tensor logits = slice(state.net(batch.tokens, T, {drawn, {}, &trace}), 1, T - batch.outputs, T);
    const std::vector<real> all = trace.captured.at("block1.out").values();
    std::vector<double> points;
    for (int b = 0; b < 3; ++b)
      points.insert(points.end(), all.begin() + (2 * b + 1) * length * 16, all.begin() + (2 * b + 2) * length * 16);
    return std::pair(points, score(logits.values().data(), 2, batch));
  };
  const PcaLayer& last = p.layers[1];
  CHECK(principal(answers(6, 0).first, 16).axes == last.map.axes);
  for (const size_t n : {0, 1}) {
    const auto [points, s] = answers(p.lengths[n], 0);
    CHECK(project(last.map, points) == last.clouds[n].at);
    CHECK(p.accuracy[n] == doctest::Approx(double(s.correct) / double(s.scored)));
    // The share outside the first length's cloud; for that length itself other strings are used: chance alone counts.
    const std::vector<double> asked = n ? points : answers(6, 3).first;
    CHECK(last.clouds[n].outside == share_outside(project(last.map, asked), last.clouds[0].at));
    CHECK(last.clouds[n].outside > 0);
  }
  for (const PcaLayer& layer : p.layers) {
    double sum = 0;
    for (const double share : layer.map.share) sum += share;
    CHECK(sum == doctest::Approx(1));
    CHECK(std::abs(dot(layer.map.axes.data(), layer.map.axes.data() + 16, 16)) < 1e-12);
  }
  const std::string csv = csv_files[3].lines("a", Inside{.pca = p});
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 4);
  CHECK(holds(csv, fmt::format("a,2,9,27,{:.6f},{:.6f},{:.6f},{:.6f}\n", p.accuracy[1], last.clouds[1].outside,
                               last.map.share[0], last.map.share[1])));
}

TEST_CASE("inspect: a large cloud is thinned out, and the page says so") {
  const State state(tiny_config({{"layers", "1"}}));
  const nlohmann::json figure = pca_figure(pca(state, {6, 9}, 200), "name *1*");
  CHECK(holds(figure["caption"], "1000 of the 1200 dots of length 6 are drawn. 1000 of the 1800 dots of length 9"));
  CHECK(holds(figure["caption"], "**name \\*1\\*.**"));
  for (const auto& cloud : figure["cards"][0]["clouds"]) CHECK(cloud["at"].size() == 2 * 1000);
}

TEST_CASE("inspect: attention maps equal those of lab/pictures") {
  const TemporaryFolder folder;
  const State state(tiny_config());
  const RunFolder run = RunFolder::create(folder / "run", state);
  write_pictures(run, state);
  const auto pictures = nlohmann::json::parse(read_file(run.file("pictures.json")));
  const std::vector<AttentionMaps> maps = attention_maps(state, {6, 9});
  REQUIRE(maps.size() == 2);
  CHECK(maps[1].slots == 18);
  CHECK(maps[1].outputs == 9);
  const nlohmann::json figure = attention_figure(maps, "name", "here");
  for (size_t layer = 0; layer < 2; ++layer)
    for (const size_t n : {0, 1}) {  // like pictures.json with the lengths 6 and 9, without blocks
      nlohmann::json expected = pictures["examples"][n]["layers"][layer]["max"];
      const nlohmann::json& drawn = figure["maps"][2 * layer + n]["max"]["matrix"];
      CHECK(drawn["cells"] == expected["cells"]);
      CHECK(drawn["high"].get<double>() == doctest::Approx(expected["high"].get<double>()));
      float most = 0;
      for (const float a : maps[n].layers[layer]) most = std::max(most, a);
      CHECK(double(most) == doctest::Approx(expected["high"].get<double>()));
      const nlohmann::json& heads = figure["maps"][2 * layer + n]["heads"];
      REQUIRE(heads.size() == 2);
      for (size_t h = 0; h < 2; ++h)
        CHECK(heads[h]["matrix"]["cells"] == pictures["examples"][n]["layers"][layer]["heads"][h]["cells"]);
    }
}

TEST_CASE("inspect: above 500 slots a cell of the picture is the maximum over a block") {
  AttentionMaps maps{300, 600, 300, {std::vector<float>(360000, .25f)}, {{}}};
  maps.layers[0][600 * 599 + 1] = 1;
  maps.heads[0] = maps.layers[0];
  const nlohmann::json map = attention_figure({maps}, "name", "x")["maps"][0];
  CHECK(map["max"]["block"] == 2);
  CHECK(map["part"] == 300);
  CHECK(map["max"]["matrix"]["rows"] == 300);
  CHECK(map["max"]["matrix"]["high"] == 1.);
  CHECK(map["heads"][0]["block"] == 6);  // fewer cells, because there are many heads
}

TEST_CASE("inspect: lengths that do not fit are refused before anything is computed") {
  const RunSpec c(tiny_config());
  CHECK(paper_lengths(tiny_config({{"train_length", "40"}, {"max_position", "1024"}})) == std::vector<int>{40, 150});
  CHECK(refusal([&] {
          check_lengths(c, {6, 33});
        }).find("2: inspect: length 33 of reverse_string takes 66 slots") == 0);
  CHECK(refusal([&] { check_lengths(c, {6, 32}); }) == "");
  CHECK(holds(refusal([&] {
                check_lengths(tiny_config({{"encoding", "learned"}, {"positions", "sequential"}}), {40});
              }),
              "positions for 64"));
  CHECK(refusal([&] { check_lengths(tiny_config({{"positions", "sequential"}}), {400}); }) == "");
  CHECK(holds(refusal([&] { check_lengths(c, {0}); }), "length 0"));
  CHECK(holds(refusal([&] { check_lengths(c, {6, 6}); }), "twice"));
  CHECK(holds(refusal([&] { check_lengths(c, {}); }), "which lengths"));
  const State one(tiny_config({{"task", "even_pairs"}}));
  CHECK(holds(refusal([&] { pca(one, {6}, 1); }), "give 1 points"));
  CHECK(refusal([&] { pca(one, {6}, 2); }) == "");
  CHECK(holds(refusal([&] { pca(one, {6}, 0); }), "0 strings of length 6 give 0 points"));
  CHECK(holds(refusal([&] { pca(one, {6}, 8001); }), "8001 strings at each length; ask for at most 8000"));
}

TEST_CASE("inspect: right answers of a language model equal those of one pass over the text, at its last tokens") {
  language::Source source;
  source.grammar = CopyGrammar{.symbols = 6, .clause = 4, .back = 2};
  const language::State s(RunSpec(language::configure({{"text", "copy_grammar"},
                                                       {"layers", "1"},
                                                       {"heads", "2"},
                                                       {"key_heads", "1"},
                                                       {"d_model", "32"},
                                                       {"d_ff", "48"}})),
                          source.tokens());
  const Pca made = language::pca(s, source, {6, 9}, 8);
  for (const int k : {0, 1}) {
    const int length = made.lengths[size_t(k)];
    double right = 0;
    for (int n = 0; n < 8; ++n) {
      const std::vector<int> text = language::test_window(s.config, source, length, n);
      const Ids read({1, length}, {text.begin(), text.end() - 1});
      const Tensor logits = s.net.logits(s.net.states(read, {language::test_positions(s.config, length), {}}));
      for (int t = length - 6; t < length; ++t) {
        const real* row = logits.data() + t * logits.dim(-1);
        right += std::max_element(row, row + logits.dim(-1)) - row == text[size_t(t) + 1];
      }
    }
    CHECK(right > 0);
    CHECK(made.accuracy[size_t(k)] == doctest::Approx(right / 48));
  }
}

TEST_CASE("inspect: bytes that are not ASCII letters are shown as a symbol or their number") {
  CHECK(language::symbols({}, {'\n', '\t', ' ', '!', 'a', '~', 127, 0, 255}) ==
        std::vector<std::string>{"⏎", "⇥", "␣", "!", "a", "~", "\\x7f", "\\x00", "\\xff"});
}
