// A device's work waits in queues: on a GPU each is a CUDA stream, with what belongs to it (cuda/queue.h). What one
// queue is given runs in the order in which it was started; queues do not wait for each other. Threads use queue 0,
// unless they have one of their own. So several models are trained at once by one process, each by a thread of its own
// (lab/runs/sweep/population.h).
#pragma once
#include "core/backend.h"

namespace poslab {

constexpr int most_own_queues = 32;        // as many as a GPU takes work from at once
constexpr int most_queues = 1 + most_own_queues;                // and queue 0
inline thread_local int queue_of_thread = 0;
inline int queue_number() { return queue_of_thread; }

// Gives the calling thread a queue of its own for as long as it lives: with its own share of the device's memory, so
// that other threads change no address. What is made meanwhile on the device is this thread's alone. At the end waits
// for what was started; the next thread then gets the queue and its memory. Throws Failure if all are taken.
class OwnQueue {
 public:
  explicit OwnQueue(Device);
  ~OwnQueue();
  OwnQueue(const OwnQueue&) = delete;
  OwnQueue& operator=(const OwnQueue&) = delete;

 private:
  const Backend& backend_;
};

}  // namespace poslab
