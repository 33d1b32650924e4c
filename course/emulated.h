// The GPU of step 14: kernels run on the CPU (cuda/emulate.h), as soon as they are launched. So nothing is recorded or
// held back, and a launch needs no more of cuda/queue.h than these functions.
#pragma once
#include "check.h"
#include "cuda/launch.h"

namespace poslab::cuda {

std::string* step_key() { return nullptr; }
bool dry_run() { return false; }
void start_products() {}
void start_sums_in(const void*, const void*) {}
Extent where_sums_go() { return {}; }
void check_device_memory(const void*) {}
// NOLINTNEXTLINE(performance-unnecessary-value-param): as cuda/queue.h declares it: the real one keeps it
void run_or_record(std::function<void()> launch) { launch(); }

}  // namespace poslab::cuda

namespace course {

// work() launches kernels. An error of the emulation is reported with its usual cause.
template <class Work>
void emulated(const std::string& formula, const Work& work) {
  const std::pair<const char*, const char*> reasons[] = {
      {"no thread of this block wrote",
       "a place is read before it is written: call __syncthreads() between the writes and the reads"},
      {"reads", "a thread reads what another one writes: call __syncthreads() between the two"},
      {"wrote with no barrier", "several threads write the same place: let the first lane of each warp write"},
      {"read with no barrier",
       "the next call writes while some threads still read: call a second __syncthreads() before the function returns"},
      {"never reach", "not all threads come to a barrier: call none in a branch or loop that some threads skip"},
      {"wait", "threads wait at different barriers or shuffles: all have to take the same branches"},
      {"lane of its warp that has ended", "all 32 lanes take part in a shuffle: none may skip it"},
      {"which has", "an index of shared memory is beyond its end"}};
  try {
    work();
  } catch (const poslab::Failure& failure) {
    const std::string said = failure.what();
    for (const auto& [words, reason] : reasons)
      if (said.find(words) != said.npos) wrong(formula, "", "", said, reason);
    throw;
  }
}

}  // namespace course
