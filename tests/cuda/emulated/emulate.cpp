// The emulation itself (cuda/emulate.h): the semantics of a block of threads, and the detection of mistakes that a GPU
// may hide.
#ifdef POSLAB_EMULATE
#include "cuda/emulate.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/lab/helpers.h"

namespace poslab::test {
namespace {

// y_i = the sum of the block's 64 values, in shared memory. barriers: whether threads wait before each next addition.
void block_sum(int* y, bool barriers) {
  SHARED(int, part, 64);
  const int t = int(threadIdx.x);
  part[t] = t;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    if (barriers) __syncthreads();
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = part[0];
}

std::string error_of(int threads, const std::function<void()>& body) {
  try {
    emulate::run(dim3(2), threads, body);
  } catch (const Failure& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("emulation: threads of all blocks run, and wait for each other at barriers") {
  std::vector<int> y(3 * 64, -1);
  emulate::run(dim3(3), 64, [&] { block_sum(y.data(), true); });
  for (const int v : y) CHECK(v == 63 * 64 / 2);
}

TEST_CASE("emulation: shuffles, warp by warp") {
  std::vector<int> y(96);
  emulate::run(dim3(1), 96, [&] {
    int x = int(threadIdx.x);
    for (int away = 16; away > 0; away /= 2) x += __shfl_xor_sync(0xFFFFFFFFu, x, away);
    y[threadIdx.x] = x + __shfl_sync(0xFFFFFFFFu, int(threadIdx.x), 3);
  });
  for (int t = 0; t < 96; ++t) {
    const int first = t / 32 * 32;
    CHECK(y[size_t(t)] == 32 * first + 31 * 16 + first + 3);
  }
}

TEST_CASE("emulation: three dimensions of blocks, threads that leave early") {
  int count = 0;
  emulate::run(dim3(2, 3, 4), 64, [&] {
    if (threadIdx.x >= 40) return;
    __syncthreads();
    count += int(blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z + gridDim.y);
  });
  CHECK(count == 40 * (12 * 1 + 8 * 10 * 3 + 6 * 100 * 6 + 24 * 3));
}

#ifndef __SANITIZE_ADDRESS__   // ASan does not know the stacks of fibers, and fails on an exception there
TEST_CASE("emulation: a missing __syncthreads is found") {
  std::vector<int> y(2 * 64);
  CHECK(holds(error_of(64, [&] { block_sum(y.data(), false); }), "no barrier in between"));
  CHECK(error_of(64, [&] { block_sum(y.data(), true); }) == "");   // the next launch is not affected
}

TEST_CASE("emulation: a write that overtakes another thread's read is found") {
  const auto late = [](bool barrier) {
    return error_of(64, [=] {
      SHARED(int, x, 64);
      x[threadIdx.x] = 1;
      __syncthreads();
      const int other = x[63 - threadIdx.x];
      if (barrier) __syncthreads();
      x[threadIdx.x] = other + 1;
    });
  };
  CHECK(holds(late(false), "no barrier in between"));
  CHECK(late(true) == "");
}

TEST_CASE("emulation: __syncwarp orders a warp, not a block") {
  const auto exchanged = [](int away) {
    return error_of(64, [=] {
      SHARED(int, x, 64);
      x[threadIdx.x] = 1;
      __syncwarp();
      const int other = x[(int(threadIdx.x) + away) % 64];
      if (other != 1) failure("lost");
    });
  };
  CHECK(exchanged(0) == "");
  CHECK(holds(exchanged(32), "no thread of this block wrote"));
  CHECK(error_of(64, [] {
          SHARED(int, x, 64);
          x[threadIdx.x] = 1;
          __syncwarp();
          if (x[threadIdx.x ^ 1] != 1) failure("lost");
        }) == "");
}

TEST_CASE("emulation: a shuffle orders no memory") {
  const auto neighbours = [](bool barrier) {
    return error_of(32, [=] {
      SHARED(int, x, 32);
      x[threadIdx.x] = 1;
      (void)__shfl_xor_sync(0xFFFFFFFFu, 1, 1);
      if (barrier) __syncwarp();
      if (x[threadIdx.x ^ 1] != 1) failure("lost");
    });
  };
  CHECK(holds(neighbours(false), "no barrier in between"));
  CHECK(neighbours(true) == "");
}

TEST_CASE("emulation: a write that overtakes another warp's read is found, even if its own warp has read since") {
  const auto late = [](bool barrier) {
    return error_of(64, [=] {
      SHARED(int, x, 1);
      if (threadIdx.x == 0) x[0] = 1;
      __syncthreads();
      int seen = 0;
      if (threadIdx.x % 32 == 0) seen = x[0];
      __syncwarp();
      if (threadIdx.x == 33) seen = x[0];
      if (barrier) __syncthreads();
      if (threadIdx.x == 33) x[0] = seen + 1;
    });
  };
  CHECK(holds(late(false), "which thread 0 read with no barrier in between"));
  CHECK(late(true) == "");
}

TEST_CASE("emulation: a shuffle needs all lanes of a warp, none of which may have ended") {
  CHECK(holds(error_of(32, [] {
                const unsigned mine = threadIdx.x < 16 ? 0x0000FFFFu : 0xFFFF0000u;
                (void)__shfl_xor_sync(mine, 1, 1);
              }),
              "names lanes 0x0000ffff; name all 32"));
  CHECK(holds(error_of(32, [] {
                if (threadIdx.x == 5) return;
                (void)__shfl_sync(0xFFFFFFFFu, 1, 5);
              }),
              "a lane of its warp that has ended"));
}

// The last write remains, which shows the order.
TEST_CASE("emulation: a seed shuffles the order of blocks and threads, in the same way each time") {
  const auto order_of = [](uint64_t seed) {
    std::vector<int> order;
    emulate::shuffle_turns(seed);
    emulate::run(dim3(3), 64, [&] { order.push_back(int(blockIdx.x * 64 + threadIdx.x)); });
    emulate::shuffle_turns(0);
    return order;
  };
  const std::vector<int> plain = order_of(0), one = order_of(1), two = order_of(2);
  CHECK(std::is_sorted(plain.begin(), plain.end()));
  CHECK((one != plain && two != plain && one != two && one == order_of(1)));
  CHECK(std::is_permutation(one.begin(), one.end(), plain.begin(), plain.end()));
}

TEST_CASE("emulation: a thread sees the data of its asynchronous copy once it has waited for it") {
  for (const bool waits : {false, true}) {
    std::vector<int> y(64, -1);
    emulate::run(dim3(1), 64, [&] {
      SHARED(int, x, 64);
      x[threadIdx.x] = 1;
      x.begin(threadIdx.x, 2);
      if (waits) x.arrive();
      __syncthreads();
      y[threadIdx.x] = x[63 - threadIdx.x];
      __syncthreads();
      x.arrive();
    });
    for (const int v : y) CHECK(v == (waits ? 2 : 1));
  }
}

TEST_CASE("emulation: it finds reads beyond the end or of unwritten memory, and barriers that not all threads reach") {
  CHECK(holds(error_of(32, [] {
                SHARED(int, x, 31);
                x[threadIdx.x] = 1;
              }),
              "reaches for x[31], which has 31 elements"));
  CHECK(holds(error_of(32, [] {
                SHARED(int, x, 32);
                if (blockIdx.x == 0) x[threadIdx.x] = 1;
                if (x[threadIdx.x] != 1) failure("lost");
              }),
              "block (1, 0, 0) reads x[0], which no thread of this block wrote"));
  CHECK(holds(error_of(64, [] {
                if (threadIdx.x == 0) __syncwarp();
                else __syncthreads();
              }),
              "64 of the 64 threads of block (0, 0, 0) wait at a barrier that the others never reach"));
  const auto at_two_places = [] {             // not in a macro, whose arguments all have one line number
    if (threadIdx.x % 2) return __syncthreads();
    __syncthreads();
  };
  CHECK(holds(error_of(64, at_two_places), "let all of them reach one place"));
  CHECK(holds(error_of(33, [] {}), "multiple of 32"));
  CHECK_THROWS_WITH_AS(emulate::run(dim3(4, 0), 32, [] {}), doctest::Contains("a grid of (4, 0, 1) blocks"), Failure);
}
#endif

}  // namespace poslab::test
#endif
