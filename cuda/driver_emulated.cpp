// A GPU for cuda/driver.h that is the CPU: kernels run when they are started, or are kept while a step is recorded. Its
// memory can be touched only by kernels and copies: host code that reads a device pointer is stopped at once, as
// on a real GPU. Several threads may use it, one at a time.
#include "cuda/backend.h"
#include "cuda/driver.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "core/error.h"
#include "cuda/product_tile.cuh"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace poslab::cuda {
namespace {

using Launches = std::vector<std::function<void()>>;
struct Recording { std::shared_ptr<Launches> launches; };
std::shared_ptr<Launches>& recording() { return of_this_queue<Recording>().launches; }

std::recursive_mutex gpu;                  // guards the variables below
struct Region { void* at; size_t bytes; };
std::vector<Region> regions;
int open = 0;
size_t bytes_given = 0;                    // from device_begin() on
bool runs = true, poisoned = false, host_memory_too = false;
Given so_far;

}  // namespace

char* device_begin() {
  static char* const begin = [] {
    void* at = mmap(nullptr, device_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
      failure("emulation: no room for {} GiB of addresses; raise the limit (ulimit -v unlimited)", device_bytes >> 30);
    madvise(at, device_bytes, MADV_HUGEPAGE);              // fewer pages to open and close around each launch
    return static_cast<char*>(at);
  }();
  return begin;
}

DeviceMemoryOpen::DeviceMemoryOpen() {
  const std::lock_guard lock(gpu);
  if (open++ == 0) mprotect(device_begin(), bytes_given, PROT_READ | PROT_WRITE);
}
DeviceMemoryOpen::~DeviceMemoryOpen() {
  const std::lock_guard lock(gpu);
  if (--open == 0) mprotect(device_begin(), bytes_given, PROT_NONE);
}

static void set(bool& flag, bool to) {
  const std::lock_guard lock(gpu);
  flag = to;
}
NothingRuns::NothingRuns() { set(runs, false); }
NothingRuns::~NothingRuns() { set(runs, true); }
PoisonedMemory::PoisonedMemory() { set(poisoned, true); }
PoisonedMemory::~PoisonedMemory() { set(poisoned, false); }
HostMemoryToo::HostMemoryToo() { set(host_memory_too, true); }
HostMemoryToo::~HostMemoryToo() { set(host_memory_too, false); }
bool memory_is_poisoned() {
  const std::lock_guard lock(gpu);
  return poisoned;
}

void check_device_memory(const void* at) {
  const std::lock_guard lock(gpu);
  const auto holds = [at](const Region& r) {          // also at its end, where a kernel has nothing to read
    return r.at <= at && at <= static_cast<const char*>(r.at) + r.bytes;
  };
  if (at && !host_memory_too && std::none_of(regions.begin(), regions.end(), holds))
    failure("emulation: a kernel is given {}, which is not memory of the device; give it an address from the device's "
            "allocate() or upload()", at);
}

Given given() {
  const std::lock_guard lock(gpu);
  return so_far;
}

void run_or_record(std::function<void()> launch) {
  if (recording()) return recording()->push_back(std::move(launch));
  const std::lock_guard lock(gpu);
  ++so_far.launches;
  if (!runs) return;
  const DeviceMemoryOpen memory;
  launch();
}

namespace {

void copy(void* to, const void* from, size_t bytes) {
  const std::lock_guard lock(gpu);
  ++so_far.copies, so_far.bytes += int64_t(bytes);
  if (!runs) {
    const char* const at = static_cast<char*>(to);
    if (at < device_begin() || at >= device_begin() + device_bytes) std::memset(to, 0, bytes);  // the host reads zeros
    return;
  }
  const DeviceMemoryOpen memory;
  std::memcpy(to, from, bytes);
}

}  // namespace

namespace driver {

void start() {}
double free_bytes() {
  const std::lock_guard lock(gpu);
  return double(device_bytes - bytes_given);
}
double peak_flops() { return 0; }
bool has_tensor_cores() { return true; }
int shared_memory() { return emulate::most_shared_bytes; }
std::string name() { return "emulated on the CPU"; }

void* device_memory(size_t bytes) {
  const std::lock_guard lock(gpu);
  if (bytes >= device_bytes - bytes_given) return nullptr;
  const size_t pages = bytes / 4096 * 4096 + 4096;
  char* at = device_begin() + bytes_given;
  bytes_given += pages, so_far.held += int64_t(bytes);
  if (open) mprotect(at, pages, PROT_READ | PROT_WRITE);
#ifdef __SANITIZE_ADDRESS__
  ASAN_POISON_MEMORY_REGION(at + bytes, pages - bytes);
#endif
  regions.push_back({at, bytes});
  return at;
}
void* pinned_memory(size_t bytes) {
  const std::lock_guard lock(gpu);
  so_far.held += int64_t(bytes);
  static auto* const all = new std::vector<std::vector<char>>;        // outlives every queue
  return all->emplace_back(bytes).data();                             // stays zero where nothing is copied
}

void to_device(void* to, const void* pinned, size_t bytes) { copy(to, pinned, bytes); }
void to_host(void* pinned, const void* from, size_t bytes) { copy(pinned, from, bytes); }
void wait() {}
Mark mark() { return {}; }
void wait_for(const Mark&) {}

void begin_recording() { recording() = std::make_shared<Launches>(); }
Recorded end_recording() { return std::exchange(recording(), nullptr); }
void abandon_recording() { recording() = nullptr; }
void replay(const Recorded& r) {
  const Launches& all = *static_cast<const Launches*>(r.get());
  const std::lock_guard lock(gpu);
  so_far.launches += int64_t(all.size());
  if (!runs) return;
  const DeviceMemoryOpen memory;
  for (const auto& launch : all) launch();
}

std::string cublas() { return "three loops, because the GPU is emulated"; }
void multiply(const Gemm& g) {
  for (const void* at : {(const void*)g.a, (const void*)g.b, (const void*)g.c}) check_device_memory(at);
  run_or_record([g] {
    const auto rounded = [&](real x) {
      return g.form == Rounding::fp32 ? x : real(g.form == Rounding::tf32 ? to_tf32(float(x)) : to_bf16(float(x)));
    };
    for (int64_t part = 0; part < g.batch; ++part)
      for (int64_t i = 0; i < g.m; ++i)
        for (int64_t j = 0; j < g.n; ++j) {
          double sum = 0;
          for (int64_t p = 0; p < g.k; ++p)
            sum += double(rounded(g.a[part * g.a_step + (g.a_along ? i * g.a_line + p : p * g.a_line + i)])) *
                   double(rounded(g.b[part * g.b_step + (g.b_along ? j * g.b_line + p : p * g.b_line + j)]));
          real& to = g.c[part * g.c_step + i * g.n + j];
          to = g.add ? to + real(sum) : real(sum);
        }
  });
}

}  // namespace driver
}  // namespace poslab::cuda
