#include "core/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/backend.h"
#include "core/debug.h"
#include "core/platform/parallel.h"
#include "core/tensor.h"

namespace poslab {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// -- profile totals ---------------------------------------------------------------------------------------------------

enum Which {
#define KERNEL(name, ...) which_##name,
#include "core/kernels.def"
#undef KERNEL
  which_linear_stored,
  which_gather_stored,
  kernel_count
};
constexpr const char* names[] = {
#define KERNEL(name, ...) #name,
#include "core/kernels.def"
#undef KERNEL
    "linear_stored", "gather_stored"};

Mutex writing;
ProfileTotals totals[kernel_count];
std::string latest;

std::string rates(double seconds, const Cost& c) {
  return (c.flops > 0 ? fmt::format(" {:.0f} GFLOP/s", c.flops / seconds / 1e9) : "") +
         fmt::format(" {:.1f} GB/s", c.bytes / seconds / 1e9);
}

void enter(Which kernel, double seconds, const Cost& c) {
  const Peaks& p = peaks();
  const double compute = c.flops / p.flops, memory = c.bytes / p.rate(c.bytes);
  const std::lock_guard lock(writing);
  ProfileTotals& s = totals[kernel];
  s.calls += 1, s.seconds += seconds, s.cost.flops += c.flops, s.cost.bytes += c.bytes;
  (compute > memory ? s.compute_floor : s.memory_floor) += std::max(compute, memory);
  if (debug_level() >= 3)
    latest += fmt::format("{}{} {:.3f} ms{}", latest.empty() ? "" : ", ", names[kernel], seconds * 1e3,
                          rates(seconds, c));
}

// -- the twins --------------------------------------------------------------------------------------------------------

const Kernels* running = nullptr;
const Backend* device = nullptr;
Device place = Device::cpu;

struct Timer {
  Which kernel = kernel_count;
  Cost cost;
  Clock::time_point start = Clock::now();
  ~Timer() {
    device->wait();
    enter(kernel, seconds_since(start), cost);
  }
};

template <Which which, auto kernel, auto cost>
struct Twin;
template <Which which, class Result, class... Args, Result (*Kernels::*kernel)(Args...), Cost (*cost)(Args...)>
struct Twin<which, kernel, cost> {
  static Result run(Args... args) {
    const Timer timer{which, cost(args...)};
    return (running->*kernel)(args...);
  }
};

// -- the peaks --------------------------------------------------------------------------------------------------------

// The shortest time of many runs, because other load on the machine only adds time.
template <class F>
double shortest(double budget, const F& f) {
  double best = 1e9;
  const auto start = Clock::now();
  for (int i = 0; i < 3 || seconds_since(start) < budget; ++i) {
    const auto before = Clock::now();
    f();
    device->wait();
    best = std::min(best, seconds_since(before));
  }
  return best;
}

Peaks measure(const Kernels& run, Device where) {
  const int side = 256, batch = 2 * threads();             // two products for each thread, which fit its second cache
  const int64_t square = side * side;
  const Product p{
      .batch = batch, .m = side, .n = side, .k = side, .a_step = square, .b_step = square, .c_step = square};
  const Tensor a = Tensor::full({batch, side, side}, 1, where), c = Tensor::full({batch, side, side}, 1, where);
  const double product = shortest(0.1, [&] { run.matmul({c.data(), true}, a.data(), a.data(), p); });
  Peaks top{2. * batch * side * square / product, {}};
  const double largest = 1 << 27;                          // 128 MiB: more than most machines' caches hold
  const Shape half{int(largest / 2 / sizeof(real))};
  const Tensor from = Tensor::full(half, 1, where), to = Tensor::full(half, 1, where);
  for (const double size : {largest / 512, largest / 64, largest / 8, largest}) {
    const int64_t n = int64_t(size / 2 / sizeof(real));
    const StridedLoop loop{.dims = 1, .size = {n}, .y = {1}, .a = {1}, .b = {0}};
    const double copy = shortest(0.025, [&] { run.copy({to.data(), true}, from.data(), loop); });
    top.copies.push_back({size, size / copy});
  }
  return top;
}

// -- the table --------------------------------------------------------------------------------------------------------

std::string row(const std::string& name, double calls, double seconds, double whole, const Cost& c, double floor,
                const char* bound) {
  const auto rate = [&](double amount) { return amount > 0 ? fmt::format("{:.1f}", amount / seconds / 1e9) : "-"; };
  return fmt::format("{:<24}{:>7.1f}{:>10.3f}{:>6.1f} %{:>10}{:>8}{:>11.3f}{:>9.0f} %{}\n", name, calls, seconds * 1e3,
                     100 * seconds / whole, rate(c.flops), rate(c.bytes), floor * 1e3, 100 * floor / seconds, bound);
}

}  // namespace

const Kernels& timing_twins(const Kernels& plain, Device where) {
  running = &plain, device = &backend(where), place = where;
  static Kernels twins = [] {
    Kernels t;
#define KERNEL(name, ...) t.name = Twin<which_##name, &Kernels::name, &cost::name>::run;
#include "core/kernels.def"
#undef KERNEL
    t.linear_stored = Twin<which_linear_stored, &Kernels::linear_stored, &cost::linear_stored>::run;
    t.gather_stored = Twin<which_gather_stored, &Kernels::gather_stored, &cost::gather_stored>::run;
    return t;
  }();
  twins.name = plain.name;
  return twins;
}

double Peaks::rate(double bytes) const {
  const auto place = std::find_if(copies.begin(), copies.end(), [&](const CopySpeed& r) { return bytes <= r.size; });
  return (place == copies.end() ? copies.back() : *place).rate;
}

const Peaks& peaks() {
  static const Peaks p = measure(*running, place);
  return p;
}

std::vector<ProfileTotals> profile_totals() {
  const std::lock_guard lock(writing);
  std::vector<ProfileTotals> all;
  for (int k = 0; k < kernel_count; ++k)
    if (totals[k].calls) all.push_back(totals[k]), all.back().kernel = names[k];
  return all;
}
void clear_profile_totals() {
  const std::lock_guard lock(writing);
  std::fill(std::begin(totals), std::end(totals), ProfileTotals());
}
std::string latest_calls() {
  const std::lock_guard lock(writing);
  return std::exchange(latest, {});
}

std::string roofline(const std::string& what, const std::string& unit, int64_t units, double seconds,
                     const std::vector<ProfileTotals>& all, const Peaks& top) {
  const double n = double(units), whole = seconds / n;
  std::vector<ProfileTotals> sorted = all;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const ProfileTotals& a, const ProfileTotals& b) { return a.seconds > b.seconds; });
  std::string text =
      fmt::format("{}: {} {}s, averaged. Ceilings: {:.0f} GFLOP/s", what, units, unit, top.flops / 1e9);
  for (const Peaks::CopySpeed& r : top.copies)
    text += fmt::format(", {:.0f} GB/s in {:.4g} MiB", r.rate / 1e9, r.size / (1 << 20));
  text += fmt::format("\n{:<24}{:>7}{:>10}{:>8}{:>10}{:>8}{:>11}{:>11}  {}\n", "kernel", "calls", "ms", "time",
                      "GFLOP/s", "GB/s", "floor ms", "floor / ms", "bound by");
  ProfileTotals sum;
  for (const ProfileTotals& s : sorted) {
    text += row(s.kernel, double(s.calls) / n, s.seconds / n, whole, {s.cost.flops / n, s.cost.bytes / n},
                s.floor() / n, s.compute_floor > s.memory_floor ? "  compute" : "  memory");
    sum.calls += s.calls, sum.seconds += s.seconds, sum.cost.flops += s.cost.flops, sum.cost.bytes += s.cost.bytes;
    sum.compute_floor += s.compute_floor, sum.memory_floor += s.memory_floor;
  }
  const Cost cost{sum.cost.flops / n, sum.cost.bytes / n};
  const double outside = whole - sum.seconds / n;
  text += fmt::format("{:<24}{:>17.3f}{:>6.1f} %{:>42}sampling, memory, tape, files\n", "outside kernels",
                      outside * 1e3, 100 * outside / whole, "");
  text += row("a " + unit, double(sum.calls) / n, whole, whole, cost, sum.floor() / n, "");
  text += fmt::format("{:.3f} GFLOP a {}, {:.1f} GFLOP/s sustained: {:.0f} % of the ceiling\n", cost.flops / 1e9, unit,
                      cost.flops / whole / 1e9, 100 * cost.flops / whole / top.flops);
  return text;
}

Profile::Profile(std::string what, std::string unit, Device where) : what_(std::move(what)), unit_(std::move(unit)) {
  if (debug_level() < 2) return;
  kernels(where), peaks();   // both are ready before the clock starts
  clear_profile_totals();
  start_ = Clock::now();
}

Profile::~Profile() {
  if (debug_level() >= 2 && units_ > 0)
    std::fputs(('\n' + roofline(what_, unit_, units_, seconds_since(start_), profile_totals(), peaks())).c_str(),
               stderr);
}

}  // namespace poslab
