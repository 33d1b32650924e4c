// A pool of workers for many short jobs on a machine with other load. The calling thread runs pieces too, and waits
// only for pieces that a worker has begun: a worker that the system suspends before it begins a piece delays no job.
#include "core/platform/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/stop.h"

namespace poslab {
namespace {

thread_local bool inside = false;   // whether this thread runs a piece; it then runs its own jobs alone

void pause() {
#if defined __x86_64__
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

class Pool {
 public:
  explicit Pool(int threads) : spins_(threads <= int(std::thread::hardware_concurrency()) ? 2000 : 0) {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
  }
  ~Pool() {
    stop_ = true;
    published_ += 1;
    published_.notify_all();
    for (std::thread& w : workers_) w.join();
  }
  void run(int64_t pieces, void (*piece)(const void*, int64_t), const void* context) {
    cursor_ = closed;                            // a worker that is late for the last job finds no piece to claim
    piece_ = piece, context_ = context, pieces_ = uint32_t(pieces), finished_ = 0;
    cursor_.store(uint64_t(++generation_) << 32, std::memory_order_release);
    published_.store(generation_, std::memory_order_release);
    published_.notify_all();
    while (take_one()) {}
    for (int i = 0; finished_.load(std::memory_order_acquire) != uint32_t(pieces); ++i)
      i < 1000 ? pause() : std::this_thread::yield();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  // Claims the next piece of the current job and runs it. The cursor holds the index and the job's generation, so a
  // claim fails if the job read here has ended meanwhile, and a job cannot end while a claimed piece is unfinished.
  bool take_one() {
    uint64_t at = cursor_.load(std::memory_order_acquire);
    const auto piece = piece_.load();
    const void* context = context_.load();
    if (uint32_t(at) >= pieces_.load()) return false;
    if (!cursor_.compare_exchange_weak(at, at + 1, std::memory_order_acq_rel)) return true;
    inside = true;
    try {
      if (!cancelled()) piece(context, uint32_t(at));
    } catch (...) {  // usually a Failure: no memory is left
      const std::lock_guard alone(failing_);
      if (!failure_) failure_ = std::current_exception();
    }
    inside = false;
    finished_.fetch_add(1, std::memory_order_release);
    return true;
  }
  void work() {
    uint32_t seen = 0;
    while (!stop_) {
      for (int i = 0; i < spins_ && published_.load(std::memory_order_acquire) == seen; ++i) pause();
      published_.wait(seen, std::memory_order_acquire);
      seen = published_.load(std::memory_order_acquire);
      while (!stop_ && take_one()) {}
    }
  }

  const int spins_;                              // how long an idle worker stays awake: about 40 microseconds
  std::atomic<void (*)(const void*, int64_t)> piece_{nullptr};
  std::atomic<const void*> context_{nullptr};
  std::atomic<uint32_t> pieces_{0}, finished_{0}, published_{0};
  static constexpr uint64_t closed = UINT32_MAX;
  std::atomic<uint64_t> cursor_{closed};         // generation << 32 | next piece
  std::atomic<bool> stop_{false};
  std::mutex failing_;
  std::exception_ptr failure_;  // the first exception of this job
  uint32_t generation_ = 0;
  std::vector<std::thread> workers_;
};

int threads_from_environment() {
  const char* text = std::getenv("POSLAB_THREADS");
  if (!text) return std::max(1, int(std::thread::hardware_concurrency()));
  char* end;
  const long n = std::strtol(text, &end, 10);
  if (*end || n < 1 || n > 256) bad_input("POSLAB_THREADS is \"{}\"; give a number from 1 to 256", text);
  return int(n);
}
std::atomic<int>& count() {
  static std::atomic<int> n = threads_from_environment();
  return n;
}
std::mutex busy;                                 // one job at a time; another caller works alone
std::unique_ptr<Pool>& pool() {
  static std::unique_ptr<Pool> p;
  return p;
}

}  // namespace

int threads() { return count(); }

void set_threads(int n) {
  if (n < 1 || n > 256) bad_input("threads is {}; give a number from 1 to 256", n);
  const std::lock_guard lock(busy);
  if (n != count()) pool().reset();
  count() = n;
}

void before_fork() { busy.lock(); }
void after_fork(bool in_child) {
  if (in_child) (void)pool().release();            // not destroyed: a lock in it may be held
  busy.unlock();
}

void parallel_pieces(int64_t pieces, void (*piece)(const void*, int64_t), const void* context) {
  if (pieces > 1 && threads() > 1 && !inside && busy.try_lock()) {
    const std::lock_guard held(busy, std::adopt_lock);
    if (!pool()) pool() = std::make_unique<Pool>(threads());
    pool()->run(pieces, piece, context);
  } else {
    for (int64_t i = 0; i < pieces && !cancelled(); ++i) piece(context, i);
  }
}

}  // namespace poslab
