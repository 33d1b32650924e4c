// Races in the emulated GPU's global memory. The kernels are compiled with -fsanitize=thread, so that the compiler
// calls one of the functions at the end of this file at each load and store. They replace the sanitizer's functions,
// which know threads of the CPU but not a block's. Every four bytes of the device's memory have a Word (cuda/emulate.h)
// that notes who touched them last. In one launch, two touches of one Word, at least one of them a write, are a race if
// they are by
//   threads of two blocks,
//   threads of two warps, and no __syncthreads lies between, or
//   threads of one warp, and neither a __syncthreads nor a __syncwarp lies between.
// Leaves out: registers and the host's memory; shared memory, which cuda/emulate.h looks at itself; launches of several
// queues at the same time; atomics, which no kernel has and which would count as a read and a write.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

#include "core/error.h"
#include "cuda/emulate.h"
#include "cuda/queue.h"

namespace poslab::cuda {
namespace {

// All words begin as zeros; the system provides a page at its first touch.
emulate::Word* make_words() {
  const size_t bytes = device_bytes / 4 * sizeof(emulate::Word);
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    failure("race check: no room for {} GiB of addresses; raise the limit (ulimit -v unlimited)", bytes >> 30);
  return static_cast<emulate::Word*>(at);
}
const char* const begin = device_begin();
emulate::Word* const words = make_words();

// Code lies within 4 GiB, so 32 bits hold its distance from the program's beginning.
const char* program() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&make_words), &info);
  return static_cast<const char*>(info.dli_fbase);
}
const char* const first_code = program();
uint32_t code_at(const void* at) { return uint32_t(static_cast<const char*>(at) - first_code); }

// Asks binutils for the names of code: "norm_rows<8>" and "norm.cu:31".
std::string ask_addr2line(const char* options, uint32_t code) {
  const std::string command = fmt::format("addr2line {} -e /proc/{}/exe {:#x}", options, getpid(), code);
  std::string said;
  if (FILE* pipe = popen(command.c_str(), "r")) {
    for (int c; (c = std::fgetc(pipe)) != EOF && c != '\n';) said += char(c);
    pclose(pipe);
  }
  return said;
}
std::string name_of(uint32_t code) {
  const std::string all = ask_addr2line("-Cf", code), nameless = "(anonymous namespace)::";
  const size_t at = all.find(nameless), from = at == std::string::npos ? 0 : at + nameless.size();
  return all.substr(from, all.find('(', from) - from);
}
std::string line_of(uint32_t code) {
  const std::string all = ask_addr2line("-s", code - 1);  // - 1: within the call, not after it
  return all.substr(0, all.find(' '));
}

// "byte 48 after pointer 2 of the 5 that it is given"
std::string place_of(const char* at) {
  const std::vector<const void*>& given = emulate::launch().pointers;
  size_t nearest = given.size();
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i] <= at && (nearest == given.size() || given[i] > given[nearest])) nearest = i;
  if (nearest == given.size()) return fmt::format("byte {} of the device's memory", at - begin);
  return fmt::format("byte {} after pointer {} of the {} that it is given",
                     at - static_cast<const char*>(given[nearest]), nearest + 1, given.size());
}

void touched(const void* place, size_t bytes, bool write, const void* code) {
  const char* at = static_cast<const char*>(place);
  const size_t offset = size_t(at - begin);
  if (offset >= device_bytes) return;
  for (size_t w = offset / 4; w <= (offset + bytes - 1) / 4; ++w) {
    const auto other = emulate::touch(words[w], write, code_at(code));
    if (!other) continue;
    return emulate::fail_soon(fmt::format(
        "race in global memory: {}, thread {} of block ({}, {}, {}) {} at {} {}, which thread {} of block ({}, {}, {}) "
        "{} at {} with no barrier in between",
        name_of(code_at(emulate::launch().kernel)), threadIdx.x, blockIdx.x, blockIdx.y, blockIdx.z,
        write ? "writes" : "reads", line_of(code_at(code)), place_of(begin + 4 * w), other->thread,
        other->block.x, other->block.y, other->block.z, other->wrote ? "wrote" : "read", line_of(other->code)));
  }
}

}  // namespace
}  // namespace poslab::cuda

// The functions that compilers call: GCC's names and clang's.
#define TOUCH(name, bytes, write) \
  extern "C" void name(void* at) { poslab::cuda::touched(at, bytes, write, __builtin_return_address(0)); }
#define TOUCHES(bytes) \
  TOUCH(__tsan_read##bytes, bytes, false) \
  TOUCH(__tsan_write##bytes, bytes, true) \
  TOUCH(__tsan_unaligned_read##bytes, bytes, false) \
  TOUCH(__tsan_unaligned_write##bytes, bytes, true)
TOUCHES(1)
TOUCHES(2)
TOUCHES(4)
TOUCHES(8)
TOUCHES(16)
#define TOUCH_RANGE(name, write) \
  extern "C" void name(void* at, size_t bytes) { \
    if (bytes) poslab::cuda::touched(at, bytes, write, __builtin_return_address(0)); \
  }
TOUCH_RANGE(__tsan_read_range, false)
TOUCH_RANGE(__tsan_write_range, true)

// Memory that kernels share is left out.
extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}
extern "C" void __tsan_vptr_update(void**, void*) {}
extern "C" void __tsan_vptr_read(void**) {}
extern "C" char __tsan_atomic8_load(const volatile char* at, int) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
