// Step 14: the product and softmax as CUDA kernels, and with the CPU's vectors. cuda/launch.h, cuda/naive/linear.cu,
// cuda/rows.cuh, cuda/softmax.cuh, core/cpu/rows.h, core/cpu/gemm.h
#include "core/cpu/gemm.h"
#include "core/cpu/rows.h"
#include "cuda/naive/linear.cu"
#include "cuda/softmax.cu"
#include "emulated.h"

using namespace poslab;
using namespace course;

namespace {

constexpr double untouched = 77;  // the value in places that must not be written

}  // namespace

CASE("the items of a grid") {
  constexpr int blocks = 3, per_block = 64, all_threads = blocks * per_block, n = 500;
  Values owner(n, -1), times(n, 0.);
  emulated("each item has one thread", [&] {
    emulate::run(dim3(blocks), per_block, [&] {
      for (const int64_t e : cuda::all(n))
        if (e >= 0 && e < n) owner[size_t(e)] = blockIdx.x * per_block + threadIdx.x, ++times[size_t(e)];
    });
  });
  const auto each = [](const auto& f) {
    Values all;
    for (int e = 0; e < n; ++e) all.push_back(f(e));
    return all;
  };
  check("each of n = 500 items belongs to one thread, in a grid of 3 blocks of 64 threads: how often", times,
        Values(n, 1.),
        {{"threadIdx.x alone: all blocks do the same; add blockIdx.x blockDim.x",
          each([](int e) { return e % all_threads < per_block ? +blocks : 0; })},
         {"that is one item a thread, but 192 threads have 500 items: go on in steps of the grid's number of threads",
          each([](int e) { return e < all_threads ? 1 : 0; })},
         {"the step is blockDim.x; it should be that times gridDim.x",
          each([](int e) { return std::min(e / per_block + 1, +blocks); })},
         {"the first item is blockIdx.x + threadIdx.x; each earlier block has blockDim.x items", each([](int e) {
            double count = 0;
            for (int b = 0; b < blocks; ++b)
              for (int t = 0; t < per_block; ++t) count += e >= b + t && (e - b - t) % all_threads == 0;
            return count;
          })}});
  check(
      "item i belongs to thread i mod 192 of the grid: neighbours take neighbours, so that a warp loads 128 bytes at "
      "once",
      owner, each([](int e) { return e % all_threads; }),
      {{"each thread has items side by side; then the lanes of a warp load from places that are far apart",
        each([](int e) { return e / ((n + all_threads - 1) / all_threads); })}});
}

CASE("a product on the GPU: a thread for each result") {
  const int rows = 7, in = 5, out = 3;
  const Values x = whole(rows * in, 1), w = whole(in * out, 2), b = {100, 200, 300};
  const auto product = [&](double bias, int from, int to, bool w_turned = false) {
    Values y;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < out; ++j) {
        double sum = bias * b[size_t(j)];
        for (int k = from; k < to; ++k) sum += x[size_t(i * in + k)] * w[size_t(w_turned ? j * in + k : k * out + j)];
        y.push_back(sum);
      }
    return y;
  };
  const auto launched = [&](bool with_bias) {
    std::vector<real> y(size_t(rows * out + 4), real(untouched));
    const std::vector<real> rx = reals(x), rw = reals(w), rb = reals(b);
    emulated("y_ij = b_j + sum_k x_ik w_kj", [&] {
      cuda::naive::linear(y.data(), rx.data(), rw.data(), with_bias ? rb.data() : nullptr, rows, in, out);
    });
    check("nothing after the last result is written", of_reals({y.end() - 4, y.end()}), Values(4, untouched));
    return of_reals({y.begin(), y.end() - 4});
  };
  Values last_alone = product(0, in - 1, in);
  check("y_ij = b_j + sum_k x_ik w_kj;  x: (7, 5)  w: (5, 3)", {rows, out}, launched(true), product(1, 0, in),
        {{"the bias is missing", product(0, 0, in)},
         {"the last k alone is left: = for +=", last_alone},
         {"the sum runs over k < in - 1; the last one is missing", product(1, 0, in - 1)},
         {"w is read transposed: w_kj lies at k out + j", product(1, 0, in, true)},
         {"nothing was written: does the loop go over all(rows * out)?", Values(size_t(rows * out), untouched)}});
  check("the same without a bias: b is null then", {rows, out}, launched(false), product(0, 0, in));
}

namespace {

// The sum that each of 256 threads gets in two calls, one after the other.
template <int team>
Values sums(const Values& x) {
  Values got(256);
  const std::vector<real> rx = reals(x);
  emulated("every thread of a team gets sum_t x_t", [&] {
    emulate::run(dim3(1), 256, [&] {
      const size_t t = threadIdx.x;
      const real once = cuda::team_sum<team>(rx[t]);
      got[t] = double(once) + double(cuda::team_sum<team>(rx[t] + real(1))) * 1000;
    });
  });
  return got;
}
// of(t, t'): whether thread t has added the number of t'.
template <class Of>
Values sums_by_hand(const Values& x, const Of& of) {
  Values all;
  for (int t = 0; t < 256; ++t) {
    double one = 0, two = 0;
    for (int other = 0; other < 256; ++other)
      if (of(t, other)) one += x[size_t(other)], two += x[size_t(other)] + 1;
    all.push_back(one + 1000 * two);
  }
  return all;
}
template <int team>
void compare_sums() {
  const Values x = whole(256, 3);
  const auto among = [&](int n) { return sums_by_hand(x, [n](int t, int other) { return t / n == other / n; }); };
  Values doubled = among(team < 32 ? team : 32),
         leaders =
             sums_by_hand(x, [](int t, int other) { return t % team == 0 ? t / team == other / team : t == other; });
  for (double& v : doubled) v *= 2;
  std::vector<Mistake> mistakes = {
      {"each thread has its own number: nothing is added", among(1)},
      {"the first thread of a team alone has the sum; every thread has to get it", leaders},
      {"everything is counted twice: the distances are lanes / 2, lanes / 4, .., 1", doubled},
      {"the distances end too early: the last is 1",
       sums_by_hand(x, [](int t, int other) { return t / team == other / team && t % 2 == other % 2; })}};
  if (team < 32) mistakes.push_back({"all 32 lanes are added; a team has 8", among(32)});
  if (team > 32) {
    mistakes.push_back({"each warp has its own sum: those of the 8 warps have to be added", among(32)});
    Values twice = among(team), own = among(32);
    for (size_t t = 0; t < own.size(); ++t) twice[t] += own[t];
    mistakes.push_back({"each warp counts its own sum twice: set x = 0 before the sums of the warps are added", twice});
  }
  check(fmt::format("every thread of a team of {} gets sum_t x_t of its team", team), sums<team>(x), among(team),
        mistakes);
}

}  // namespace

CASE("a sum over 8 lanes") { compare_sums<8>(); }
CASE("a sum over a warp") { compare_sums<32>(); }
CASE("a sum over a block, through shared memory") { compare_sums<256>(); }

namespace {

// A softmax of rows of n, of a team of `lanes` threads, or of vectors of `lanes` numbers, right or with one mistake.
struct Form {
  bool own_top = false, own_sum = false, divided = true, max = true;
};
Values softmax_by_hand(const Values& x, int n, int lanes, const Form& f = {}) {
  Values y;
  for (size_t row = 0; row < x.size() / size_t(n); ++row) {
    const double* xi = x.data() + row * size_t(n);
    std::vector<double> top(size_t(lanes), -INFINITY), sum(size_t(lanes), 0.);
    for (int j = 0; j < n; ++j) top[size_t(j % lanes)] = std::max(top[size_t(j % lanes)], xi[j]);
    const double largest = *std::max_element(top.begin(), top.end());
    const auto e = [&](int j) { return std::exp(xi[j] - (!f.max ? 0 : f.own_top ? top[size_t(j % lanes)] : largest)); };
    double all = 0;
    for (int j = 0; j < n; ++j) sum[size_t(j % lanes)] += e(j), all += e(j);
    for (int j = 0; j < n; ++j) y.push_back(e(j) / (!f.divided ? 1 : f.own_sum ? sum[size_t(j % lanes)] : all));
  }
  return y;
}
Values softmax_of_kernel(const Values& x, int rows, int n) {
  std::vector<real> y(size_t(rows * n + 8), real(untouched));
  const std::vector<real> rx = reals(x);
  emulated("y_j = exp(x_j - m) / sum_k exp(x_k - m)", [&] { cuda::softmax(y.data(), rx.data(), rows, n); });
  check("nothing after the last row is written", of_reals({y.end() - 8, y.end()}), Values(8, untouched));
  return of_reals({y.begin(), y.end() - 8});
}
void compare_softmax(int rows, int n, int team, const std::string& what) {
  const Values x = some(rows * n, 1);
  const auto by = [&](const Form& f) { return softmax_by_hand(x, n, team, f); };
  check("y_j = exp(x_j - m) / sum_k exp(x_k - m), " + what, {rows, n}, softmax_of_kernel(x, rows, n), by({}),
        {{"each thread has subtracted the largest of its own numbers: team_max", by({.own_top = true})},
         {"each thread has divided by the sum of its own numbers: team_sum", by({.own_sum = true})},
         {"it is not divided by the sum", by({.divided = false})},
         {"nothing was written: row.write", Values(size_t(rows * n), untouched)}});
}

}  // namespace

CASE("softmax on the GPU: rows of 64, 8 lanes each") { compare_softmax(5, 64, 8, "8 lanes with 8 numbers each"); }
CASE("softmax on the GPU: rows of 100, a warp each") { compare_softmax(3, 100, 32, "a warp"); }
CASE("softmax on the GPU: rows of 3, where most lanes have no number") {
  const Values x = some(2 * 3, 2);
  check("y_j = exp(x_j - m) / sum_k exp(x_k - m) of 3 numbers, in a team of 8 lanes", {2, 3},
        softmax_of_kernel(x, 2, 3), softmax_by_hand(x, 3, 8),
        {{"a lane without a number has to read -INFINITY, whose exponential is 0", [&] {
            Values y;
            for (int i = 0; i < 2; ++i) {
              const double top = std::max({x[size_t(3 * i)], x[size_t(3 * i + 1)], x[size_t(3 * i + 2)], 0.});
              double sum = 61 * std::exp(-top);
              for (int j = 0; j < 3; ++j) sum += std::exp(x[size_t(3 * i + j)] - top);
              for (int j = 0; j < 3; ++j) y.push_back(std::exp(x[size_t(3 * i + j)] - top) / sum);
            }
            return y;
          }()}});
}
CASE("softmax on the GPU: large numbers") {
  check("exp(x - m) / sum exp(x - m), which never overflows", {1, 3}, softmax_of_kernel({1000, 1001, 999}, 1, 3),
        softmax_by_hand({1000, 1001, 999}, 3, 8),
        {{"exp(1000) is infinite: subtract the row's largest number first", not_finite}});
}
CASE("softmax on the GPU: a row of several panels") {
  const int n = 2048 + 300;
  const Values x = some(n, 3), e = softmax_by_hand(x, n, 256, {.divided = false});
  double sum = 0, top = *std::max_element(x.begin(), x.end());
  for (double v : e) sum += v;
  Values not_again = x, of_last(size_t(n), 0.);  // of_last: v of the second panel, taken for both
  for (double& v : not_again) v /= sum;
  sum = 0;
  for (int c = 0; c < 2048; ++c) {
    const double one = c < 300 ? e[size_t(2048 + c)] : 0, two = std::exp(one - top);
    sum += one + two, of_last[size_t(c)] = two;
  }
  for (int j = 0; j < n; ++j)  // v of the second panel is scaled twice
    of_last[size_t(j)] = j < 2048 ? of_last[size_t(j)] / sum : of_last[size_t(j - 2048)] / sum;
  check("y_j = exp(x_j - m) / sum_k exp(x_k - m) of 2348 numbers: two panels of 2048", softmax_of_kernel(x, 1, n),
        softmax_by_hand(x, n, 256),
        {{"v still holds the last panel: with row.again() read x once more in each pass", of_last},
         {"x is read again, and written as it is: it has to go through exp(v - top) once more", not_again}},
        1e-6);
}

CASE("softmax with vectors") {
  constexpr int lanes = baseline::lanes;
  for (const int n : {2 * lanes, 2 * lanes + 3, 3, 1}) {
    const Values x = some(n, 4);
    const double top = *std::max_element(x.begin(), x.end());
    double z = 0, of_last = 0;
    for (int j = 0; j < n; ++j) z += std::exp(x[size_t(j)] - top);
    for (int j = n - n % lanes; j < n; ++j) of_last += std::exp(x[size_t(j)] - top);
    const auto divided_by = [&](double sum) {
      Values y;
      for (double v : x) y.push_back(std::exp(v - top) / sum);
      return y;
    };
    std::vector<real> rx = reals(x), y(size_t(n + lanes), real(untouched));
    const real returned = baseline::softmax_row(y.data(), rx.data(), real(top), n);
    const std::string formula = fmt::format("y_j = exp(x_j - top) / z, a row of {} in vectors of {}", n, lanes);
    const double beyond = n % lanes == 0 ? 0 : (lanes - n % lanes) * std::exp(-top);
    check(formula, of_reals({y.begin(), y.begin() + n}), divided_by(z),
          {{"the lanes after the row's end count as numbers: give load_or -infinity for them", divided_by(z + beyond)},
           {"the last vector, which is not full, is missing in the sum", divided_by(z - of_last)},
           {"it is not divided by the sum", divided_by(1)}});
    Values zeros(size_t(lanes), untouched);
    std::fill_n(zeros.begin(), n % lanes == 0 ? 0 : lanes - n % lanes, 0.);
    check("nothing after the row is written", of_reals({y.begin() + n, y.end()}), Values(size_t(lanes), untouched),
          {{"the last vector is stored whole: store_some(.., count)", zeros}});
    check("z = sum_j exp(x_j - top) is returned", double(returned), z,
          {{"that is 1 / z", {1 / z}}, {"that is the sum of the y, which is 1", {1}}});
  }
}

namespace {

// The factors of gemm.h, counted.
struct Counted {
  struct Sums {};
  static constexpr int rows = 1;
  static inline int of_a = 0, of_b = 0, products = 0;
  template <int W>
  static baseline::VecOf<W> left(const real* a) {
    return ++of_a, baseline::splat<W>(*a);
  }
  template <int W>
  static baseline::VecOf<W> right(const real* b, ptrdiff_t) {
    return ++of_b, baseline::load<W>(b);
  }
  template <int W>
  static baseline::VecOf<W> add_product(baseline::VecOf<W> sum, baseline::VecOf<W> a, baseline::VecOf<W> b) {
    return ++products, baseline::multiply_add(a, b, sum);
  }
};

// A tile of M rows and N vectors in the middle of c: (6, c_row), with 9 around it.
constexpr int M = 4, N = 2, k = 5, lanes = baseline::lanes, c_row = N * lanes + 6, b_row = N * lanes + 3;
struct Tile {
  Values a = whole(2 * M * k, 1), b = whole(k * b_row, 2);
  Values expected(bool add, bool a_turned = false, int from = 0, int to = k) const {
    Values c(size_t((M + 2) * c_row), 9.);
    for (int i = 0; i < M; ++i)
      for (int j = 0; j < N * lanes; ++j) {
        double sum = add ? 9 : 0;
        for (int p = from; p < to; ++p) sum += a[size_t(a_turned ? p * k + i : i * k + p)] * b[size_t(p * b_row + j)];
        c[size_t((i + 1) * c_row + 2 + j)] = sum;
      }
    return c;
  }
  template <class Of>
  Values got(const baseline::Finish& finish, bool a_transposed = false) const {
    std::vector<real> ra = reals(a), rb = reals(b), c(size_t((M + 2) * c_row), real(9));
    if (a_transposed)
      for (int i = 0; i < M; ++i)
        for (int p = 0; p < k; ++p) ra[size_t(p * M + i)] = real(a[size_t(i * k + p)]);
    const baseline::Left left = a_transposed ? baseline::Left{ra.data(), 1, M} : baseline::Left{ra.data(), k, 1};
    baseline::tile<Of, lanes, M, N>(k, left, rb.data(), b_row, c.data() + c_row + 2, c_row, finish, 0, 0);
    return of_reals(c);
  }
};

}  // namespace

CASE("a tile of a product") {
  const Tile t;
  const Shape shape = {M + 2, c_row};
  Values nothing(size_t((M + 2) * c_row), 9.);
  check("c_ij = sum_p a_ip b_pj, a tile of 4 rows and 2 vectors", shape, t.got<baseline::Reals>({}),
        t.expected(false),
        {{"the old c is added; store_tile decides whether it is", t.expected(true)},
         {"the last p alone is left: = for +=", t.expected(false, false, k - 1, k)},
         {"the sum runs over p < k - 1; the last one is missing", t.expected(false, false, 0, k - 1)},
         {"a is read transposed: a_ip lies at i a.row + p a.column", t.expected(false, true)},
         {"nothing is stored", nothing}});
  check("with add: c_ij += sum_p a_ip b_pj", shape, t.got<baseline::Reals>({.add = true}), t.expected(true),
        {{"the old c is lost: store_tile<W>(sum, c, c_row, finish, i0, j0)", t.expected(false)}});
  check("the same, for an a that is stored transposed", shape, t.got<baseline::Reals>({}, true),
        t.expected(false));
}

CASE("the loads of a tile") {
  const Tile t;
  Counted::of_a = Counted::of_b = Counted::products = 0;
  t.got<Counted>({});
  check("M N k products of vectors: 4 * 2 * 5", double(Counted::products), M * N * k,
        {{"none went through Factors::add_product", {0}}});
  check("b is loaded once for all rows: N k vectors, 2 * 5", double(Counted::of_b), N * k,
        {{"b is loaded again for each row: N vectors of it before the loop over rows", {double(M * N * k)}},
         {"b is loaded again for each row, besides the one in bj: multiply with bj[j]", {double((M + 1) * N * k)}}});
  check("a is broadcast once for all columns: M k numbers, 4 * 5", double(Counted::of_a), M * k,
        {{"a is broadcast again for each vector: once before the loop over columns", {double(M * N * k)}},
         {"a is broadcast again for each vector, besides the one in ai", {double(M * (N + 1) * k)}}});
}
