// A device's work waits in queues: on a GPU each is a CUDA stream with its own memory and recordings (cuda/queue.h).
// Work of one queue runs in the order in which it was started; queues do not wait for each other. Threads use queue 0,
// unless they have one of their own. So one process can train several models at once, each in its thread
// (lab/runs/sweep/population.h).
#pragma once
#include "core/backend.h"

namespace poslab {

constexpr int max_own_queues = 32;              // the most queues that a GPU serves at the same time
constexpr int max_queues = 1 + max_own_queues;   // and queue 0
inline thread_local int queue_of_thread = 0;
inline int queue_number() { return queue_of_thread; }

// While it lives, the calling thread has a queue of its own, with its own part of the device's memory, so that other
// threads do not change the addresses of its tensors. Only this thread may use the queue's tensors. The destructor
// waits for the queue's work; the next thread then gets the queue and its memory. Throws Failure if all are taken.
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
