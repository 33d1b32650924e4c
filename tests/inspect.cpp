// Inspection of runs: principal components against known clouds, attention against lab/pictures, coverage against
// counts by hand, .npz read back.
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "autograd/tape.h"
#include "lab/evaluate.h"
#include "lab/inspect/attention.h"
#include "lab/inspect/coverage.h"
#include "lab/inspect/figures.h"
#include "lab/inspect/lengths.h"
#include "lab/inspect/pca.h"
#include "lab/pictures.h"
#include "lab/train.h"
#include "tests/lab_helpers.h"

using namespace poslab;
using namespace poslab::test;

namespace {

double dot(const double* a, const double* b, size_t n) {
  double sum = 0;
  for (size_t k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

int64_t total(const Histogram& counts) {
  int64_t sum = 0;
  for (const auto& [value, n] : counts) sum += n;
  return sum;
}

int64_t at(const Histogram& counts, int value) { return counts.count(value) ? counts.at(value) : 0; }

// Name and contents of each file of a zip, by its directory; checksums must be right.
std::map<std::string, std::string> unzip(const std::string& bytes) {
  const auto u16 = [&](size_t at) {
    uint16_t v;
    return std::memcpy(&v, bytes.data() + at, 2), size_t(v);
  };
  const auto u32 = [&](size_t at) {
    uint32_t v;
    return std::memcpy(&v, bytes.data() + at, 4), size_t(v);
  };
  std::map<std::string, std::string> files;
  const size_t end = bytes.size() - 22;
  REQUIRE(bytes.substr(end, 4) == "PK\5\6");
  size_t at = u32(end + 16);
  for (size_t n = u16(end + 10); n > 0; --n) {
    REQUIRE(bytes.substr(at, 4) == "PK\1\2");
    const std::string name = bytes.substr(at + 46, u16(at + 28));
    const size_t local = u32(at + 42), body = local + 30 + u16(local + 26) + u16(local + 28);
    REQUIRE(bytes.substr(local, 4) == "PK\3\4");
    CHECK(bytes.substr(local + 30, name.size()) == name);
    std::string whole(u32(at + 24), '\0');
    z_stream z{};
    REQUIRE(inflateInit2(&z, -15) == Z_OK);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + body)), z.avail_in = uInt(u32(at + 20));
    z.next_out = reinterpret_cast<Bytef*>(whole.data()), z.avail_out = uInt(whole.size());
    CHECK(inflate(&z, Z_FINISH) == Z_STREAM_END);
    inflateEnd(&z);
    CHECK(crc32_z(0, reinterpret_cast<const Bytef*>(whole.data()), whole.size()) == u32(at + 16));
    files[name] = whole;
    at += 46 + name.size();
  }
  CHECK(at == end);
  return files;
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
}

TEST_CASE("inspect: a line and a turned ellipse") {
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

TEST_CASE("inspect: outside of a cloud") {
  const std::vector<double> cloud = {0, 0, 10, 0, 20, 5, 0, 10};  // squares of side 1
  CHECK(share_outside(cloud, cloud) == 0);
  CHECK(share_outside({.5, .9, 10.2, .1, 20.5, 5.5, 11, 0}, cloud) == doctest::Approx(.25));
  CHECK(share_outside({-.1, 0, 100, 100}, cloud) == 1);
}

TEST_CASE("inspect: clouds are the answer slots' activations on the map of the first length") {
  const State state(tiny_config());
  const Pca p = pca(state, {6, 9}, 3);
  REQUIRE(p.layers.size() == 2);
  const NoGrad no_grad;
  for (const int n : {0, 1}) {
    const int length = p.lengths[size_t(n)];
    const Batch batch = test_batch(state.config, length, 0, 3);
    const Draw positions = test_draw(state.config, length, 0, 3, 2 * length);
    Trace trace({"block1.out"});
    const Tensor logits = state.net(batch.tokens, batch.outputs, {positions, {}, &trace});
    const Tensor x = trace.seen.at("block1.out");
    const std::vector<real> all = x.values();
    std::vector<double> points;
    for (int b = 0; b < 3; ++b)
      points.insert(points.end(), all.begin() + (2 * b + 1) * length * 16, all.begin() + (2 * b + 2) * length * 16);
    const Principal own = principal(points, 16);
    const PcaLayer& layer = p.layers[1];
    if (n == 0) CHECK(own.axes == layer.map.axes);
    CHECK(project(layer.map, points) == layer.clouds[size_t(n)].at);
    const Score s = score(logits.values().data(), 2, batch);
    CHECK(p.accuracy[size_t(n)] == doctest::Approx(double(s.right) / double(s.counted)));
  }
  for (const PcaLayer& layer : p.layers) {
    double sum = 0;
    for (const double share : layer.map.share) sum += share;
    CHECK(sum == doctest::Approx(1));
    CHECK(std::abs(dot(layer.map.axes.data(), layer.map.axes.data() + 16, 16)) < 1e-12);
    CHECK(layer.clouds[1].outside >= 0);
    CHECK(layer.clouds[1].outside <= 1);
  }
  const std::string csv = pca_csv("a", p);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 4);
  CHECK(holds(csv, "a,2,9,27,"));
}

TEST_CASE("inspect: a large cloud is thinned out, and the page says so") {
  const State state(tiny_config({{"layers", "1"}}));
  const std::string html = pca_figure(pca(state, {6, 9}, 200), "name <1>");
  CHECK(holds(html, "1000 of the 1200 dots of length 6 are drawn. 1000 of the 1800 dots of length 9"));
  CHECK(holds(html, "name &lt;1&gt;"));
  size_t dots = 0;
  for (size_t at = 0; (at = html.find("h0", at)) != html.npos; ++at) ++dots;
  CHECK(dots == 2000);
}

TEST_CASE("inspect: attention maps are those of lab/pictures") {
  const TemporaryFolder folder;
  const State state(tiny_config());
  const RunFolder run = RunFolder::create(folder / "run", state);
  write_pictures(run, state);
  const auto pictures = nlohmann::json::parse(read_file(run.file("pictures.json")));
  const std::vector<AttentionMaps> maps = attention_maps(state, {6, 9});
  REQUIRE(maps.size() == 2);
  CHECK(maps[1].slots == 18);
  CHECK(maps[1].outputs == 9);
  nlohmann::json data;
  CHECK(holds(attention_figure(maps, "name", "here", data), "data-maps=\"here\""));
  for (size_t layer = 0; layer < 2; ++layer)
    for (const size_t n : {0, 1}) {  // pictures.json: the lengths 6 and 9, too, and no blocks
      nlohmann::json expected = pictures["examples"][n]["layers"][layer]["max"];
      const nlohmann::json& drawn = data["maps"]["here"]["maps"][2 * layer + n]["matrix"];
      CHECK(drawn["cells"] == expected["cells"]);
      CHECK(drawn["high"].get<double>() == doctest::Approx(expected["high"].get<double>()));
      float most = 0;
      for (const float a : maps[n].layers[layer]) most = std::max(most, a);
      CHECK(double(most) == doctest::Approx(expected["high"].get<double>()));
    }
}

TEST_CASE("inspect: above 500 slots a cell of the picture is the maximum over a block") {
  AttentionMaps maps{300, 600, 300, {std::vector<float>(360000, .25f)}};
  maps.layers[0][600 * 599 + 1] = 1;
  nlohmann::json data;
  CHECK(holds(attention_figure({maps}, "name", "x", data), "maximum over 2 by 2 slots"));
  const nlohmann::json& map = data["maps"]["x"]["maps"][0];
  CHECK(map["block"] == 2);
  CHECK(map["part"] == 300);
  CHECK(map["matrix"]["rows"] == 300);
  CHECK(map["matrix"]["high"] == 1.);
}

TEST_CASE("inspect: coverage of sequential positions is counted by hand") {
  const Config fixed = tiny_config({{"positions", "sequential"}, {"curriculum", "fixed"}});
  const Coverage c = coverage(fixed, {6, 9});
  CHECK(c.told == Told::distances);
  CHECK(c.steps == 40);  // it has no more
  for (int d = 1; d < 14; ++d)
    for (const int sign : {-1, 1}) {
      CHECK(at(c.trained, sign * d) == 40 * std::max(0, 12 - d));  // T - d pairs are d apart
      CHECK(at(c.tests[1].met, sign * d) == 18 - d);
    }
  CHECK(at(c.trained, 0) == 0);
  CHECK(c.tests[0].seen == 1);
  double seen = 0;
  for (int d = 1; d < 12; ++d) seen += 2 * (18 - d);
  CHECK(c.tests[1].seen == doctest::Approx(seen / (18 * 17)));
  CHECK(c.trained.rbegin()->first == 11);

  const Config uniform = tiny_config({{"positions", "sequential"}});
  Histogram expected;
  for (int64_t step = 0; step < 40; ++step) {
    const int T = draw_step(uniform, step).batch.tokens.shape()[1];
    for (int d = 1; d < T; ++d) expected[d] += T - d, expected[-d] += T - d;
  }
  CHECK(coverage(uniform, {6}).trained == expected);
  const Config rising = tiny_config({{"positions", "sequential"}, {"curriculum", "increasing"}, {"steps", "6000"}});
  const Coverage spread = coverage(rising, {6});  // its first 2000 steps alone would end with length 2
  CHECK(spread.steps == 2000);
  CHECK(spread.trained.rbegin()->first == 11);
  CHECK(coverage(rising, {6}, 2000).trained.rbegin()->first == 3);
  const Coverage before = coverage(rising, {6}, 0);
  CHECK(before.tests[0].seen == 0);
  nlohmann::json data;
  CHECK(holds(coverage_figure(before, "fresh", "c", data), "fresh"));
  CHECK(coverage(tiny_config({{"positions", "sequential"}, {"causal", "on"}}), {6}).trained.rbegin()->first == -1);
}

TEST_CASE("inspect: coverage of randomized positions reaches nearly all distances of the pool") {
  const Coverage c = coverage(tiny_config({{"steps", "2000"}}), {6, 9, 20});
  CHECK(c.trained.size() >= 2 * 62);  // of 63 on each side
  CHECK(c.trained.rbegin()->first <= 63);
  for (const Coverage::Test& test : c.tests) CHECK(test.seen > .999);
  CHECK(total(c.tests[0].met) == 64 * 12 * 11);
  const std::string csv = coverage_csv("r", c);
  CHECK(holds(csv, fmt::format("r,distance,training,1,{},1\n", c.trained.at(1))));
  CHECK(holds(csv, "r,distance,length 20,"));
}

TEST_CASE("inspect: coverage follows the scheme and the way of drawing") {
  const auto of = [](const Settings& more) { return coverage(tiny_config(more), {9}, 5); };
  const Coverage absolute = of({{"encoding", "sincos"}, {"positions", "sequential"}, {"curriculum", "fixed"}});
  CHECK(absolute.told == Told::positions);
  CHECK(absolute.trained ==
        Histogram{{0, 5}, {1, 5}, {2, 5}, {3, 5}, {4, 5}, {5, 5}, {6, 5}, {7, 5}, {8, 5}, {9, 5}, {10, 5}, {11, 5}});
  CHECK(absolute.tests[0].seen == doctest::Approx(12. / 18));
  const Coverage nothing = of({{"encoding", "none"}});
  CHECK(nothing.trained.empty());
  CHECK(of({{"encoding", "geometric"}}).trained.empty());
  CHECK(std::isnan(nothing.tests[0].seen));
  CHECK(of({{"encoding", "rope"}}).told == Told::distances);
  const int64_t once = total(of({{"curriculum", "fixed"}}).trained);
  CHECK(once == 5 * 12 * 11);
  CHECK(total(of({{"curriculum", "fixed"}, {"resample", "per_layer"}}).trained) == 2 * once);
  CHECK(total(of({{"curriculum", "fixed"}, {"resample", "per_sequence"}}).trained) == 16 * once);
  const Coverage table = of({{"encoding", "alibi"}});  // a table of offsets, the same on both sides
  for (const auto& [value, n] : table.trained) CHECK(at(table.trained, -value) == n);
  nlohmann::json data;
  for (const Coverage& c : {absolute, nothing, table})
    CHECK(holds(coverage_figure(c, "the run", "c", data), "the run"));
  REQUIRE(data["charts"].size() == 2);
  CHECK(data["charts"][0]["unit"] == "position");
  CHECK(data["charts"][1]["unit"] == "distance");
}

TEST_CASE("inspect: npz holds every array as NumPy writes it") {
  const std::vector<Array> arrays = {{"a/b", {2, 3}, {1, 2, 3, 4, 5, 6.5}}, {"one", {4}, std::vector<float>(4, 0)}};
  const std::string bytes = npz(arrays);
  CHECK(bytes == npz(arrays));  // no clock in it
  const auto files = unzip(bytes);
  REQUIRE(files.size() == 2);
  const std::string& a = files.at("a/b.npy");
  CHECK(a.substr(0, 8) == std::string("\x93NUMPY\1\0", 8));
  const size_t header = size_t(uint8_t(a[8])) + 256 * size_t(uint8_t(a[9]));
  CHECK((10 + header) % 64 == 0);
  CHECK(a[9 + header] == '\n');
  CHECK(a.substr(10, header).find("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3,), }") == 0);
  CHECK(holds(files.at("one.npy"), "'shape': (4,), }"));
  REQUIRE(a.size() == 10 + header + 24);
  float last = 0;
  std::memcpy(&last, a.data() + a.size() - 4, 4);
  CHECK(last == 6.5f);
}

TEST_CASE("inspect: lengths that do not fit are refused before anything is computed") {
  const Config c = tiny_config();
  CHECK(paper_lengths(tiny_config({{"train_length", "40"}, {"max_position", "1024"}})) == std::vector<int>{40, 150});
  CHECK(refusal([&] {
          check_lengths(c, {6, 33});
        }).find("2: inspect: length 33 of reverse_string takes 66 slots") == 0);
  CHECK(refusal([&] { check_lengths(c, {6, 32}); }) == "");
  CHECK(holds(refusal([&] {
                check_lengths(tiny_config({{"encoding", "learned"}, {"positions", "sequential"}}), {40});
              }),
              "max_position = 64"));
  CHECK(refusal([&] { check_lengths(tiny_config({{"positions", "sequential"}}), {400}); }) == "");
  CHECK(holds(refusal([&] { check_lengths(c, {0}); }), "length 0"));
  CHECK(holds(refusal([&] { check_lengths(c, {6, 6}); }), "twice"));
  CHECK(holds(refusal([&] { check_lengths(c, {}); }), "which lengths"));
  const State one(tiny_config({{"task", "even_pairs"}}));
  CHECK(holds(refusal([&] { pca(one, {6}, 1); }), "give 1 points"));
  CHECK(refusal([&] { pca(one, {6}, 2); }) == "");
}
