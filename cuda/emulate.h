// CUDA C++ for a reader without a GPU, and for tests: .cu files compiled as plain C++ against this header run on the
// CPU. A grid is a loop over blocks; the threads of a block are fibers that take turns at barriers, so __syncthreads,
// shuffles within a warp, shared memory and atomics keep their meaning, and a debugger can stop in any thread.
// Everything runs in one order, or in one that a seed shuffles, so results are the same in every run.
//
// Mistakes that real hardware leaves to chance are errors here: reading unwritten shared memory, an index beyond its
// end, two threads that access one place without a barrier between them (a shuffle does not count), a barrier that not
// all threads reach or that they reach at different places, a shuffle of fewer than 32 lanes.
// Leaves out: features that no kernel here uses (textures, streams, cooperative groups).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct uint3 { unsigned x = 0, y = 0, z = 0; };
struct alignas(16) float4 { float x, y, z, w; };

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)

// The indices of the running thread. Blocks have one dimension, as all of ours do.
extern constinit thread_local uint3 threadIdx, blockIdx;
extern constinit thread_local dim3 blockDim, gridDim;

namespace poslab::emulate {

// The kernel of a launch and the pointers among its arguments, for errors that name them.
struct Launch {
  const void* kernel = nullptr;
  std::vector<const void*> pointers;
};

// Runs body once for each thread of each block, with `shared` bytes of SHARED_OF_LAUNCH. Throws Failure for the errors
// above.
void run(dim3 blocks, int threads, const std::function<void()>& body, int shared = 0, const Launch& = {});
constexpr int most_shared_bytes = 227 << 10;       // an H100's limit for a block
extern constinit thread_local int shared_bytes;    // the bytes that the running launch asked for

// From now on, on this host thread, blocks take turns, and so do the threads of a block between two barriers, in an
// order that the seed shuffles each time. 0: in numerical order, where each warp runs until it waits for others.
void shuffle_turns(uint64_t seed);

// The source line of a barrier or a shuffle in a kernel: a default argument makes it the line of the call.
struct Site {
  const char* file = nullptr;
  int line = 0;
  static Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
  bool operator==(const Site&) const = default;
};
void sync_block(Site);
void sync_warp(unsigned mask, Site);    // Failure unless the mask names all 32 lanes and none of them has ended

// Each lane gives 8 bytes and gets the bytes of all 32 lanes. Failure unless all lanes of the warp take part.
const uint64_t* exchange(unsigned mask, uint64_t mine, Site);
inline unsigned lane() { return threadIdx.x % 32; }
// Takes six floats from each lane and gives each lane all 32 lanes' floats. For the joint operations of a tensor core.
struct Fragment { float at[6]; };
const Fragment* exchange_all(const Fragment& mine, Site = Site::here());

// A thread's access to an element of shared memory. Time is counted in the intervals between two barriers of a block,
// numbered over all launches, and in barriers of the thread's warp.
struct Touch {
  uint32_t interval = 0;              // 0: never
  uint16_t warp_barriers = 0, thread = 0;
  uint32_t code = 0;                  // address in the program, if recorded (cuda/races.cpp)
  bool same_warp(const Touch& other) const { return thread / 32 == other.thread / 32; }
  // Whether both are by one warp, with no barrier of any kind between them.
  bool at_once(const Touch& other) const {
    return interval == other.interval && warp_barriers == other.warp_barriers && same_warp(other);
  }
};
extern constinit thread_local Touch present;     // a touch by the running thread, now

// Keeps two readers since the block's last barrier, from different warps: any writer is outside one of these warps.
struct Element {
  Touch written;
  struct Read {
    Touch last;                       // by a thread of this warp
    bool by_several = false;          // by several threads of the warp, since they last waited for each other
  } read[2];
  // Whether recording a touch by the running thread would add nothing.
  bool knows(bool write) const {
    const Touch& last = write ? written : read[0].last;
    return last.at_once(present) && (last.thread == present.thread || (!write && read[0].by_several));
  }
};
void touch(Element&, bool write, const char* name, int64_t index);
[[noreturn]] void beyond_end(const char* name, int64_t index, int64_t n);

// Four bytes of the device's memory, for cuda/races.cpp. Blocks never wait for each other, so accesses by two blocks of
// a launch have no order.
struct Word : Element {
  Touch elsewhere;                    // a read by a block of the launch other than the last reader's
};
struct Met {                          // a touch without a fixed order relative to the present one
  int thread = 0;
  uint3 block;
  bool wrote = false;
  uint32_t code = 0;
};
std::optional<Met> touch(Word&, bool write, uint32_t code);       // returns nothing if no kernel runs
const Launch& launch();               // the running one
void fail_soon(const std::string&);   // the launch ends in this Failure, once its running thread waits or ends

template <class T>
class Shared {
 public:
  // of_launch: it has only as many values as the launch asks for
  Shared(const char* name, int64_t n, bool of_launch = false)
      : name_(name), n_(n), of_launch_(of_launch), value_(new T[size_t(n)]), element_(new Element[size_t(n)]) {}
  class Place {
   public:
    Place(Shared& s, int64_t i) : s_(s), i_(i) {}
    operator T() const { return touched(false), s_.value_[i_]; }
    Place& operator=(T v) { return written() = v, *this; }
    Place& operator=(const Place& p) { return *this = T(p); }
    Place& operator+=(T v) { return *this = T(*this) + v; }
    Place& operator*=(T v) { return *this = T(*this) * v; }
    T& written() { return touched(true), s_.value_[i_]; }

   private:
    void touched(bool write) const {
      if (Element& e = s_.element_[i_]; !e.knows(write)) touch(e, write, s_.name_, i_);
    }
    Shared& s_;
    int64_t i_;
  };
  Place operator[](int64_t i) {
    const int64_t n = of_launch_ ? shared_bytes / int64_t(sizeof(T)) : n_;
    if (i < 0 || i >= n) beyond_end(name_, i, n);
    return {*this, i};
  }
  // Begins a copy by this thread; until it arrives, the old value remains.
  void begin(int64_t i, T v) {
    T& at = (*this)[i].written();
    under_way_.resize(std::max<size_t>(under_way_.size(), threadIdx.x + 1));
    under_way_[threadIdx.x].push_back({&at, v});
  }
  void arrive() {
    if (threadIdx.x >= under_way_.size()) return;
    for (const auto& [at, v] : under_way_[threadIdx.x]) *at = v;
    under_way_[threadIdx.x].clear();
  }

 private:
  const char* name_;
  int64_t n_;
  bool of_launch_;
  std::unique_ptr<T[]> value_;
  std::unique_ptr<Element[]> element_;
  std::vector<std::vector<std::pair<T*, T>>> under_way_;  // by thread
};

}  // namespace poslab::emulate

// n values that the threads of a block share
#define SHARED(type, name, n) static thread_local poslab::emulate::Shared<type> name(#name, (n))
// As many values as the launch asks for.
#define SHARED_OF_LAUNCH(type, name) \
  static thread_local poslab::emulate::Shared<type> name(#name, poslab::emulate::most_shared_bytes / sizeof(type), true)

using poslab::emulate::Site;
inline void __syncthreads(Site at = Site::here()) { poslab::emulate::sync_block(at); }
inline void __syncwarp(unsigned mask = 0xFFFFFFFFu, Site at = Site::here()) { poslab::emulate::sync_warp(mask, at); }

// Shuffles: all 32 lanes take part, as in all of our kernels.
template <class T>
T __shfl_sync(unsigned mask, T value, int from, Site at = Site::here()) {
  static_assert(sizeof(T) <= 8);
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  __builtin_memcpy(&value, poslab::emulate::exchange(mask, bits, at) + unsigned(from) % 32, sizeof value);
  return value;
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, Site at = Site::here()) {
  return __shfl_sync(mask, value, int(poslab::emulate::lane() ^ unsigned(bits)), at);
}

// Bit i of the result is set if lane i passes a true condition.
inline unsigned __ballot_sync(unsigned mask, bool yes, Site at = Site::here()) {
  const uint64_t* all = poslab::emulate::exchange(mask, yes, at);
  unsigned bits = 0;
  for (unsigned i = 0; i < 32; ++i) bits |= unsigned(all[i]) << i;
  return bits;
}
inline int __ffs(int bits) { return __builtin_ffs(bits); }   // index of the lowest 1 bit, from 1; 0 without any
