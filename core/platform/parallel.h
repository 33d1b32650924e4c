// The only place that knows about threads. Work is cut into pieces by the caller, never by the number of threads, so
// results are bit-identical whatever that number is.
#pragma once
#include <cstdint>
#include <mutex>

namespace poslab {

// std::mutex, or a lock that does nothing in WebAssembly, which has one thread and a C++ library without std::mutex.
#ifdef __wasm__
struct Mutex {
  void lock() {}
  void unlock() {}
};
#else
using Mutex = std::mutex;
#endif

int threads();             // how many threads run the pieces of a job
void set_threads(int n);   // 1 .. 256; the default is the number of cores, or POSLAB_THREADS

// For a program whose forked children compute, as Python's may (python/long_call.h). The thread that forks calls these
// while no job runs. A child has none of the workers, and starts its own when it needs them.
void before_fork();
void after_fork(bool in_child);

// Runs piece(0) .. piece(pieces - 1), each exactly once, in any order, possibly at the same time.
void parallel_pieces(int64_t pieces, void (*piece)(const void* context, int64_t index), const void* context);

template <class Piece>
void parallel_for(int64_t pieces, const Piece& piece) {
  parallel_pieces(
      pieces, [](const void* context, int64_t index) { (*static_cast<const Piece*>(context))(index); }, &piece);
}

// Cuts 0 .. n-1 into ranges of `grain` and runs range(from, to) for each, `to` not included.
template <class Range>
void parallel_ranges(int64_t n, int64_t grain, const Range& range) {
  parallel_for((n + grain - 1) / grain, [&](int64_t i) {
    const int64_t from = i * grain, to = from + grain < n ? from + grain : n;
    range(from, to);
  });
}

}  // namespace poslab
