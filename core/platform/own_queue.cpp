#include "core/platform/own_queue.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"
#include "core/platform/parallel.h"

namespace poslab {
namespace {

Mutex taking;
std::array<bool, max_queues> taken = {true};      // queue 0 has no owner

}  // namespace

OwnQueue::OwnQueue(Device device) : backend_(backend(device)) {
  if (queue_of_thread) failure("this thread already has a queue of its own, {}", queue_of_thread);
  const std::lock_guard lock(taking);
  const auto free = std::find(taken.begin(), taken.end(), false);
  if (free == taken.end())
    failure("all {} queues of the device are taken; train fewer models at once", max_own_queues);
  *free = true;
  queue_of_thread = int(free - taken.begin());
}

OwnQueue::~OwnQueue() {
  backend_.leave_queue();
  const std::lock_guard lock(taking);
  taken[size_t(std::exchange(queue_of_thread, 0))] = false;
}

}  // namespace poslab
