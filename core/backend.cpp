#include "core/backend.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/platform/isa.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace poslab {
namespace {

std::string name() { return isa(); }
double peak_flops() { return 0; }
const Kernels& cpu_kernels() { return kernels(Device::cpu); }

// Blocks of 2 MiB or more lie in huge pages. A step reads and writes 100 MB; with pages of 4 KiB it would have to look
// up an address every 64 cache lines, which takes 1 to 4 % of a step.
void* allocate(size_t bytes) {
  constexpr size_t line = 256, huge_page = 2 << 20;
  const size_t alignment = bytes < huge_page ? line : huge_page;
  void* at = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (!at) failure("memory: the system has no {} MiB left; use a smaller batch or a shorter length", bytes >> 20);
#ifdef MADV_HUGEPAGE
  if (alignment == huge_page) madvise(at, bytes, MADV_HUGEPAGE);   // a hint: without it the pages are small
#endif
  return at;
}

void write(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }
void fill(real* to, real value, int64_t n) { std::fill_n(to, n, value); }

// On the CPU all earlier work is done already, so start_read() copies at once; read_result() hands out the copy.
std::map<int, std::vector<char>>& reads() {
  thread_local std::map<int, std::vector<char>> all;
  return all;
}
int start_read(const void* from, size_t bytes) {
  const int ticket = reads().empty() ? 0 : reads().rbegin()->first + 1;
  const char* at = static_cast<const char*>(from);
  reads()[ticket].assign(at, at + bytes);
  return ticket;
}
void read_result(int ticket, void* to) {
  const auto read = reads().find(ticket);
  std::memcpy(to, read->second.data(), read->second.size());
  reads().erase(read);
}

const void* upload(const void*, size_t) { return nullptr; }
void wait() {}
void step(const std::function<void()>& work) { work(); }
thread_local Rounding of_cpu = Rounding::fp32;                   // cpu_rounding()
// The precision and the engine of each device, as MatmulPrecision has set them.
thread_local std::pair<Rounding, Engine> current[2] = {{Rounding::fp32, Engine::own}, {Rounding::fp32, Engine::own}};
void set_rounding(Rounding how, Engine) {
  if (how != Rounding::fp32 && sizeof(real) != sizeof(float))
    bad_input("matmul = {}: only 32-bit numbers are rounded, and this build of poslab computes with real = double; use "
              "matmul = fp32", rounding_names[int(how)]);
  of_cpu = how;
}

void leave_queue() {}

const Backend cpu{name,        peak_flops, cpu_kernels, allocate, write,        fill,       start_read,
                  read_result, upload,     wait,        step,     set_rounding, leave_queue};
const Backend* cuda = nullptr;

}  // namespace

Rounding cpu_rounding() { return of_cpu; }

MatmulPrecision::MatmulPrecision(Device device, Rounding how, Engine by)
    : by_(device == Device::cpu ? by : engine()), device_(device), before_(current[int(device)]) {
  if (device == Device::cpu && how != Rounding::fp32 && by != Engine::own)
    bad_input("matmul = {}: products = {} does not round; use products = own, or matmul = fp32",
              rounding_names[int(how)], engine_names[int(by)]);
  backend(device).set_rounding(how, by);
  current[int(device)] = {how, by};
}
MatmulPrecision::~MatmulPrecision() {
  const auto [how, by] = current[int(device_)] = before_;
  try {
    backend(device_).set_rounding(how, by);
  } catch (const std::exception&) {}  // NOLINT(bugprone-empty-catch): the next call to the device reports its error
}

const Backend& backend(Device device) {
  if (device == Device::cpu) return cpu;
  if (!cuda)
    bad_input(
        "device cuda: this build of poslab has no CUDA; "
        "build it where nvcc is (./dev build cuda), or use --device cpu");
  return *cuda;
}

void add_backend(Device device, const Backend& b) {
  if (device == Device::cuda) cuda = &b;
}

}  // namespace poslab
