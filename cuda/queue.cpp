// The queues of work of cuda/queue.h and the GPU's core/backend.h.
//
// A training step of a small model is about a hundred launches of a few microseconds each, which take the host longer
// than the GPU. So a step is recorded once and replayed by one call. Each time, the host still goes through the step in
// a dry run: its launches only add to the record key, and its uploads (tokens, positions, the numbers of Adam) are
// collected in one block of pinned memory, which is sent ahead. If the key, with every argument of every launch, equals
// the key of a recorded step, that step is replayed.
#include "cuda/queue.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/backend.h"
#include "core/debug.h"
#include "core/error.h"
#include "core/memory.h"
#include "cuda/backend.h"
#include "cuda/driver.h"

namespace poslab::cuda {

const Kernels& table();                                  // cuda/table.cpp
void fill(real* to, real value, int64_t n);              // cuda/fill.cu

namespace {

constexpr size_t alignment = 256;
size_t aligned(size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

void* check_allocated(void* at, size_t bytes) {
  if (!at) failure("cuda: the GPU has no {} MiB left; use a smaller batch or a shorter length", bytes >> 20);
  return at;
}

// A step's uploads: chunks on the device, always filled in the same order, so that a value lies where it lay when the
// step was recorded. On the host each has a few copies: the GPU may still be reading the copies of earlier steps.
class Uploads {
 public:
  void rewind() {
    for (Chunk& c : chunks_) c.used = 0;
    tables_.clear();
    now_ = 0, turn_ = (turn_ + 1) % copies;
    if (sent_[turn_]) driver::wait_for(sent_[turn_]);
  }
  void* add(const void* values, size_t bytes) {
    const bool is_table = bytes >= 1024;                     // such as pairs, which are the same for all layers
    for (const Table& t : tables_)
      if (is_table && t.bytes == bytes && std::memcmp(t.host, values, bytes) == 0) return t.device;
    while (now_ < chunks_.size() && chunks_[now_].used + bytes > chunks_[now_].size) ++now_;
    if (now_ == chunks_.size()) chunks_.push_back(Chunk(std::max(aligned(bytes), size_t(1) << 20)));
    Chunk& c = chunks_[now_];
    const size_t at = std::exchange(c.used, aligned(c.used + bytes));
    std::memcpy(c.host[turn_] + at, values, bytes);
    if (is_table) tables_.push_back({bytes, c.host[turn_] + at, c.device + at});
    return c.device + at;
  }
  void send() {
    for (const Chunk& c : chunks_)
      if (c.used) driver::to_device(c.device, c.host[turn_], std::min(c.used, c.size));
    sent_[turn_] = driver::mark();
  }

 private:
  static constexpr size_t copies = 4;
  struct Chunk {
    size_t size, used = 0;
    char* device;
    std::array<char*, copies> host{};
    explicit Chunk(size_t bytes)
        : size(bytes), device(static_cast<char*>(check_allocated(driver::device_memory(bytes), bytes))) {
      for (char*& h : host) h = static_cast<char*>(driver::pinned_memory(bytes));
    }
  };
  struct Table { size_t bytes; const char* host; char* device; };
  std::vector<Table> tables_;                                // this step's so far
  std::vector<Chunk> chunks_;
  size_t now_ = 0, turn_ = 0;
  std::array<driver::Mark, copies> sent_;
};

// Outside steps a launch's values are sent at once. Their memory is reused once all work that reads it is done.
class Arguments {
 public:
  const void* send(const void* values, size_t bytes) {
    if (!device_)
      device_ = static_cast<char*>(check_allocated(driver::device_memory(size), size)),
      host_ = static_cast<char*>(driver::pinned_memory(size));
    if (used_ + bytes > size) driver::wait(), used_ = 0;
    const size_t at = std::exchange(used_, aligned(used_ + bytes));
    std::memcpy(host_ + at, values, bytes);
    driver::to_device(device_ + at, host_ + at, bytes);
    return device_ + at;
  }

 private:
  static constexpr size_t size = 1 << 20;
  char *device_ = nullptr, *host_ = nullptr;
  size_t used_ = 0;
};

// Results that have been requested but not yet taken.
struct Read {
  char* pinned = nullptr;
  size_t room = 0, bytes = 0;
  driver::Mark done;
  bool taken = true;
};

struct Queue {
  std::string key;                         // the current step's
  bool in_step = false, dry_run = false;
  std::unordered_map<std::string, driver::Recorded> recorded;
  int recordings = 0;                      // so far
  Uploads uploads;                         // of a step
  Arguments arguments;                     // for launches outside steps
  std::array<std::pair<real*, int64_t>, 16> scratch{};
  std::vector<Read> reads;
  char* bounce = nullptr;                  // pinned memory, for writes outside steps
};
Queue& queue() { return of_this_queue<Queue>(); }

void not_in_step(const char* what) {
  if (queue().in_step)
    failure("cuda: {} within a recorded step, whose replays would not repeat it; do it before or after the step",
            what);
}

void go_through(const std::function<void()>& work, bool dry_run) {
  Queue& q = queue();
  struct Leave {
    Queue& q;
    ~Leave() {
      q.in_step = q.dry_run = false;
      drop_products(), drop_sums();          // if an error ended the step; else there are none
    }
  } leave{q};
  q.key.clear(), q.uploads.rewind();
  q.in_step = true, q.dry_run = dry_run;
  work();
  start_sums();
}

driver::Recorded record(const std::function<void()>& work) {
  driver::begin_recording();
  try {
    go_through(work, false);
  } catch (...) {
    driver::abandon_recording();
    throw;
  }
  return driver::end_recording();
}

// -- core/backend.h ---------------------------------------------------------------------------------------------------

std::string name() { return driver::name(); }

double peak_flops() {
  driver::start();
  return driver::peak_flops();
}

double free_bytes() {
  driver::start();
  return driver::free_bytes();
}

const Kernels& kernels() {
  driver::start();
  return table();
}

void* allocate(size_t bytes) {
  driver::start();
  return check_allocated(driver::device_memory(bytes), bytes);
}

void write(void* to, const void* from, size_t bytes) {
  constexpr size_t at_once = 4 << 20;
  if (!queue().dry_run) not_in_step("a write to the GPU");   // a constant may be made when a step first needs it
  start_sums();
  char*& bounce = queue().bounce;
  if (!bounce) bounce = static_cast<char*>(driver::pinned_memory(at_once));
  for (size_t done = 0; done < bytes; done += at_once) {
    const size_t now = std::min(at_once, bytes - done);
    std::memcpy(bounce, static_cast<const char*>(from) + done, now);
    driver::to_device(static_cast<char*>(to) + done, bounce, now);
    driver::wait();
  }
}

int start_read(const void* from, size_t bytes) {
  not_in_step("a read from the GPU");
  start_sums();
  std::vector<Read>& all = queue().reads;
  auto r = std::find_if(all.begin(), all.end(), [](const Read& x) { return x.taken; });
  if (r == all.end()) r = all.insert(all.end(), Read());
  if (r->room < bytes) r->room = 2 * bytes, r->pinned = static_cast<char*>(driver::pinned_memory(r->room));
  driver::to_host(r->pinned, from, bytes);
  r->bytes = bytes, r->done = driver::mark(), r->taken = false;
  return int(r - all.begin());
}

void read_result(int ticket, void* to) {
  Read& r = queue().reads[size_t(ticket)];
  driver::wait_for(r.done);
  std::memcpy(to, r.pinned, r.bytes);
  r.taken = true;
}

const void* upload_in_step(const void* values, size_t bytes) {
  return queue().in_step ? queue().uploads.add(values, bytes) : nullptr;
}

void wait() {
  start_sums();
  driver::wait();
}

void set_rounding(Rounding how, Engine by) {
  driver::start();
  if (how != Rounding::fp32 && (sizeof(real) != sizeof(float) || !driver::has_tensor_cores()))
    bad_input("matmul = {}: TF32 and bfloat16 need the tensor cores of a GPU of compute capability 8.0 or later, and a "
              "build with real = float; this is {}; use matmul = fp32", rounding_names[int(how)], driver::name());
  const bool by_library = by == Engine::cublas;
  if (by_library && how == Rounding::tf32x3)
    bad_input("matmul = tf32x3: products = cublas has fp32, tf32 and bf16; use one of these, or products = own");
  if (by_library) driver::cublas();          // throws if it is not installed
  use_matmul(how, by_library);
}

void step(const std::function<void()>& work) {
  if (debug_level() > 0) return work();    // so that every op is checked by itself
  driver::start();
  Queue& q = queue();
  start_sums();
  go_through(work, true);
  auto known = q.recorded.find(q.key);
  if (known == q.recorded.end()) {
    // Graphs hold memory; a run whose steps are all different should not fill it with them.
    if (q.recorded.size() >= 1024) driver::wait(), q.recorded.clear();
    ++q.recordings;
    driver::Recorded r = record(work);     // makes the key again: the pool may have grown in the dry run
    known = q.recorded.insert_or_assign(q.key, std::move(r)).first;
  }
  q.uploads.send();
  driver::replay(known->second);
}

// The next owner has other tensors and cannot use the recorded steps. Memory stays with the queue.
void leave_queue() {
  drop_products(), drop_sums();            // left over only after an error
  try {
    driver::wait();
  } catch (const std::exception&) {  // The next call reports an error of the GPU again.
  }
  queue().recorded.clear();
}

#ifdef POSLAB_EMULATE
void poison(real* at, size_t bytes) {
  if (memory_is_poisoned()) fill(at, std::numeric_limits<real>::quiet_NaN(), int64_t(bytes / sizeof(real)));
}
constexpr auto on_allocate = poison;
#else
constexpr std::nullptr_t on_allocate = nullptr;
#endif

}  // namespace

const Backend& as_backend() {
  static const Backend b{name,        peak_flops,     kernels, allocate, write,       fill,        start_read,
                         read_result, upload_in_step, wait,    step,     set_rounding, leave_queue, on_allocate,
                         free_bytes};
  return b;
}
int recordings() { return queue().recordings; }

// -- cuda/queue.h -----------------------------------------------------------------------------------------------------

std::string* step_key() { return queue().in_step ? &queue().key : nullptr; }
bool dry_run() { return queue().dry_run; }

const void* upload_bytes(const void* values, size_t bytes) {
  Queue& q = queue();
  return q.in_step ? q.uploads.add(values, bytes) : q.arguments.send(values, bytes);
}

real* memory_for_good(int64_t n) {
  const size_t bytes = size_t(n) * sizeof(real);
  return static_cast<real*>(check_allocated(driver::device_memory(bytes), bytes));
}

// Outgrown memory is kept: recorded steps still point there. Each piece is a quarter larger than the one before,
// so all of them together are less than five times the last one.
real* scratch(int buffer, int64_t n) {
  auto& [at, size] = queue().scratch[size_t(buffer)];
  if (size < n) {
    size = int64_t(aligned(size_t(n) * sizeof(real) * 5 / 4) / sizeof(real));
    at = memory_for_good(size);
  }
  return at;
}

}  // namespace poslab::cuda
