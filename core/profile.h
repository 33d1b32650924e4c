// The time of a run, kernel by kernel, next to a floor: the least time in which this machine could do the same work,
//   floor = max(FLOPs / peak FLOP/s, bytes / peak bandwidth)                                for each call; core/cost.h
// At POSLAB_DEBUG=2 and above kernels() hands out a table of timed twins (timing_twins); below that, they never run.
// They time one backend at a time. On an asynchronous device a twin waits for its kernel.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "core/cost.h"

namespace poslab {

// A table whose kernels call the kernels of `plain`, the table of the device, and record cost and time of each call.
const Kernels& timing_twins(const Kernels& plain, Device);

// The speed of this machine on all threads, measured with its own kernels on first use, in about 0.2 s. Small arrays
// are read faster, from a cache, so the floor of a call assumes the nearest cache that could hold its bytes.
struct Peaks {
  struct CopySpeed { double size, rate; };   // size: bytes read and written; rate: bytes per second
  double flops;                              // FLOP/s of square products that stay in the second cache
  std::vector<CopySpeed> copies;             // smallest size first
  double rate(double bytes) const;           // the rate of the smallest copy of at least this size
};
const Peaks& peaks();

// The totals of one kernel.
struct ProfileTotals {
  std::string kernel;
  int64_t calls = 0;
  double seconds = 0;
  Cost cost;
  double compute_floor = 0, memory_floor = 0;   // seconds of the calls bound by FLOPs, and of those bound by bytes
  double floor() const { return compute_floor + memory_floor; }
};
// The totals of all kernels run since the last clear_profile_totals(), in the order of core/kernels.def.
std::vector<ProfileTotals> profile_totals();
void clear_profile_totals();

// The calls since the latest call of this function, "linear 0.213 ms 197 GFLOP/s, ..."; empty below POSLAB_DEBUG=3.
std::string latest_calls();

// The table at the end of a run, per unit.   what: "training"   unit: "step"   units: steps   seconds: of the whole run
std::string roofline(const std::string& what, const std::string& unit, int64_t units, double seconds,
                     const std::vector<ProfileTotals>&, const Peaks&);

// Construct one before a loop whose rounds call next(). The destructor prints their roofline to stderr, also after an
// exception; at POSLAB_DEBUG below 2, or without a round, it prints nothing.
class Profile {
 public:
  Profile(std::string what, std::string unit, Device = Device::cpu);   // "training", "step"
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;
  void next() { ++units_; }                                            // one more round is done

 private:
  std::string what_, unit_;
  int64_t units_ = 0;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace poslab
