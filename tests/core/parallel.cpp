// Every piece runs exactly once for any number of threads, even if jobs are nested, tiny, or started by several threads
// at once.
#include "core/platform/parallel.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/error.h"

using namespace poslab;

TEST_CASE("each piece runs exactly once") {
  const int were = threads();
  for (const int n : {1, 2, 4, 7}) {
    set_threads(n);
    for (int round = 0; round < 300; ++round) {
      const int pieces = 1 + round * 7 % 50;
      std::vector<std::atomic<int>> runs(static_cast<size_t>(pieces));
      parallel_for(pieces, [&](int64_t i) {
        ++runs[size_t(i)];
        if (round % 10 == 0) parallel_for(3, [&](int64_t) { ++runs[size_t(i)]; });
      });
      for (const auto& r : runs) CHECK(r == (round % 10 == 0 ? 4 : 1));
    }
  }
  set_threads(were);
}

TEST_CASE("jobs of several callers do not mix") {
  const int were = threads();
  set_threads(3);
  std::vector<std::thread> callers;
  std::vector<int64_t> sums(4);
  for (size_t c = 0; c < sums.size(); ++c)
    callers.emplace_back([&sums, c] {
      for (int round = 0; round < 200; ++round) {
        std::atomic<int64_t> sum = 0;
        parallel_ranges(1000, 64, [&](int64_t from, int64_t to) {
          for (int64_t i = from; i < to; ++i) sum += i;
        });
        sums[c] += sum;
      }
    });
  for (std::thread& t : callers) t.join();
  for (const int64_t s : sums) CHECK(s == 200 * 499500);
  set_threads(were);
}

TEST_CASE("an exception in a piece reaches the caller after all pieces have ended, and the next job runs as usual") {
  const int were = threads();
  for (const int n : {1, 2, 4}) {
    set_threads(n);
    for (int round = 0; round < 50; ++round) {
      std::atomic<int> inside = 0;
      CHECK_THROWS_WITH_AS(parallel_for(20,
                                        [&](int64_t i) {
                                          ++inside;
                                          const auto leave = [&] { --inside; };
                                          if (i % 3 == round % 3) {
                                            leave();
                                            failure("no memory for piece {}", i % 3);
                                          }
                                          leave();
                                        }),
                           doctest::Contains("no memory for piece"), Failure);
      CHECK(inside == 0);
      std::atomic<int> runs = 0;
      parallel_for(20, [&](int64_t) { ++runs; });
      CHECK(runs == 20);
    }
  }
  set_threads(were);
}

TEST_CASE("an impossible number of threads is refused") {
  CHECK_THROWS_AS(set_threads(0), BadInput);
  CHECK_THROWS_AS(set_threads(257), BadInput);
}

#ifdef __SANITIZE_THREAD__  // `./dev test tsan` runs this by name, to prove that TSan reports races
TEST_CASE("planted: two pieces of a job write one number" * doctest::skip()) {
  const int were = threads();
  set_threads(2);
  int64_t both = 0;
  std::atomic<int> begun = 0;
  parallel_for(2, [&](int64_t i) {  // neither piece ends before the other begins: two threads
    begun.fetch_add(1, std::memory_order_relaxed);
    while (begun.load(std::memory_order_relaxed) < 2) std::this_thread::yield();
    both += i;
  });
  set_threads(were);
}
#endif

#ifndef __SANITIZE_THREAD__  // TSan lets a forked child start no threads
TEST_CASE("a forked child starts its own workers; the parent keeps its workers") {
  const int were = threads();
  set_threads(2);
  const auto sums = [] {
    std::atomic<int64_t> sum = 0;
    parallel_for(100, [&](int64_t i) { sum += i; });
    return sum == 4950;
  };
  CHECK(sums());
  before_fork();
  const pid_t child = fork();
  after_fork(child == 0);
  if (child == 0) alarm(30), _exit(sums() && sums() ? 0 : 1);
  int raw = -1;
  CHECK(waitpid(child, &raw, 0) == child);
  CHECK(raw == 0);
  CHECK(sums());
  set_threads(were);
}
#endif
