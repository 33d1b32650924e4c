// The fibers behind cuda/emulate.h.
#include "cuda/emulate.h"

#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <numeric>
#include <random>
#include <vector>

#include "core/error.h"

constinit thread_local uint3 threadIdx, blockIdx;
constinit thread_local dim3 blockDim, gridDim;

namespace poslab::emulate {
namespace {

using boost::context::fiber;

// A barrier for `alive` threads: the last to come opens it, and so does the last to end.
struct Barrier {
  int alive = 0, waiting = 0;
  uint32_t opened = 0;
  Site at = {};                    // where the waiting threads are
  void open() { waiting = 0, ++opened; }
  void arrive() {
    if (++waiting == alive) open();
  }
  void leave() {
    --alive;
    if (alive == waiting && alive > 0) open();
  }
};

struct Warp {
  Barrier barrier;                 // for __syncwarp and shuffles; only __syncwarp orders memory
  Fragment fragment[2][32];
  uint64_t value[2][32];           // for this exchange and the one before, which some lanes may still have to read
};

// One fiber serves the thread with this number in all blocks: it ends only when the machine does.
struct Thread {
  fiber here;                      // where it goes on
  bool running = false;
  uint32_t warp_barriers = 0;      // each __syncwarp in this block
};

// 0 .. n-1, each time in another order; in numerical order without a seed.
class Turns {
 public:
  void seed(uint64_t seed) { shuffled_ = seed != 0, random_.seed(seed), order_.clear(); }
  const std::vector<int>& of(int n) {
    if (int(order_.size()) != n) order_.resize(size_t(n)), std::iota(order_.begin(), order_.end(), 0);
    if (shuffled_) std::shuffle(order_.begin(), order_.end(), random_);
    return order_;
  }

 private:
  bool shuffled_ = false;
  std::mt19937_64 random_;
  std::vector<int> order_;
};
thread_local Turns blocks_in_turn, threads_in_turn;
std::atomic<uint32_t> blocks_so_far = 0;

struct Machine {
  std::deque<Thread> threads;      // grows; a Thread never moves
  std::vector<Warp> warps;
  Barrier block;
  uint32_t number = 0;             // the block's, over all launches
  int now = 0;                     // thread that is running
  Thread* running = nullptr;       // the fiber of that thread; null: the loop over rounds
  const std::vector<int>* order = nullptr;           // the order of the threads in this round
  size_t turn = 0;                 // how many of them have had their turn
  Thread* from = nullptr;          // the thread that handed over; null: the loop over rounds
  int shared_bytes = 0;            // of this launch
  const Launch* launch = nullptr;  // that is running
  std::vector<std::pair<uint32_t, uint3>> ran;       // its blocks so far: number and place
  fiber back;                      // of the loop over rounds
  const std::function<void()>* body = nullptr;
  std::exception_ptr error;

  Warp& warp() { return warps[size_t(now / 32)]; }

  // Switches to the next thread in turn that has not ended, or after the last one to the loop over rounds. Inlined, as
  // no processor predicts a return that comes after a jump to another stack.
  [[gnu::always_inline]] void hand_over() {
    from = running;
    while (turn < order->size() && !threads[size_t((*order)[turn])].running) ++turn;
    if (error || turn == order->size()) {
      running = nullptr;
      keep(std::move(back).resume());
    } else {
      now = (*order)[turn++], running = &threads[size_t(now)], threadIdx.x = unsigned(now);
      keep(std::move(running->here).resume());
    }
  }
  void keep(fiber&& at) { (from ? from->here : back) = std::move(at); }  // at: the fiber that has handed over
  void wait(Barrier& b, Site at) {
    if (b.waiting > 0 && !(b.at == at))
      failure("emulation: thread {} of block ({}, {}, {}) waits at {}:{}, and others of its barrier at {}:{}; let all "
              "of them come to one place", now, blockIdx.x, blockIdx.y, blockIdx.z, at.file, at.line, b.at.file,
              b.at.line);
    b.at = at;
    const uint32_t before = b.opened;
    b.arrive();
    while (b.opened == before) hand_over();
  }

  void serve(Thread& thread) {     // the life of a fiber
    for (;;) {
      try {
        (*body)();
      } catch (const boost::context::detail::forced_unwind&) {
        throw;  // the machine ends, and its fibers with it
      } catch (...) {
        if (!error) error = std::current_exception();
      }
      thread.running = false;
      block.leave(), warp().barrier.leave();
      hand_over();
    }
  }

  void run_block(int count) {
    number = ++blocks_so_far;
    ran.push_back({number, blockIdx});
    block = {.alive = count};
    warps.assign(size_t(count / 32), {.barrier = {.alive = 32}});
    for (int t = 0; t < count; ++t) threads[size_t(t)].running = true, threads[size_t(t)].warp_barriers = 0;
    while (block.alive > 0) {  // a round: each thread goes on until it waits or ends
      const uint32_t before = total_opened();
      const int had = block.alive;
      order = &threads_in_turn.of(count), turn = 0;
      hand_over();
      if (error) return;
      if (block.alive == had && total_opened() == before)
        failure("emulation: {} of the {} threads of block ({}, {}, {}) wait at a barrier that the others never reach",
                had, count, blockIdx.x, blockIdx.y, blockIdx.z);
    }
  }
  uint32_t total_opened() const {
    uint32_t sum = block.opened;
    for (const Warp& w : warps) sum += w.barrier.opened;
    return sum;
  }
};

constinit thread_local Machine* machine = nullptr;  // the one of this host thread, found without a call
struct Ends {
  void operator()(Machine* m) const { machine = nullptr, delete m; }
};
thread_local std::unique_ptr<Machine, Ends> own_machine;

bool same_warp(const Touch& before, const Machine& m) { return before.thread / 32 == m.now / 32; }
bool between(const Touch& before, const Machine& m) {        // is a barrier between this touch and now
  if (before.barriers != m.block.opened) return true;
  return same_warp(before, m) && before.warp_barriers != m.running->warp_barriers;
}

Met met(const Touch& before, bool wrote, const Machine& m) {
  const auto block = std::find_if(m.ran.begin(), m.ran.end(), [&](const auto& b) { return b.first == before.block; });
  return {before.thread, block->second, wrote, before.code};
}

// Notes a touch, unless it meets one of the same block without a barrier in between.
std::optional<Met> note(Element& e, bool write, uint32_t code, const Machine& m) {
  const Touch now{m.number, m.now, m.block.opened, m.running->warp_barriers, code};
  if (now.at_once(write ? e.written : e.read[0].last)) return {};          // nothing new
  if (e.written.block == m.number && e.written.thread != m.now && !between(e.written, m))
    return met(e.written, true, m);
  const auto open = [&](const Element::Read& r) { return r.last.block == m.number && !between(r.last, m); };
  if (write) {
    for (const Element::Read& r : e.read)
      if (open(r) && (r.by_several || r.last.thread != m.now)) return met(r.last, false, m);
    e.written = now;
    return {};
  }
  // The place of this warp's readers; else one that is free; else another warp's, as two are there already.
  Element::Read& r = open(e.read[0]) && !same_warp(e.read[0].last, m) ? e.read[1] : e.read[0];
  r.by_several = open(r) && (r.by_several || r.last.thread != m.now);
  r.last = now;
  return {};
}

}  // namespace

void run(dim3 blocks, int count, const std::function<void()>& body, int shared_bytes, const Launch& launch) {
  if (count < 32 || count > 1024 || count % 32)
    failure("emulation: {} threads in a block; it must be a multiple of 32, at most 1024", count);
  if (!blocks.x || !blocks.y || !blocks.z || blocks.y > 65535 || blocks.z > 65535)
    failure("emulation: a grid of ({}, {}, {}) blocks; there must be one at least, and along y and z at most 65535",
            blocks.x, blocks.y, blocks.z);
  if (shared_bytes > most_shared_bytes)
    failure("emulation: {} bytes of shared memory; a block has at most {}", shared_bytes, most_shared_bytes);
  if (!machine) own_machine.reset(machine = new Machine);
  Machine& m = *machine;
  m.shared_bytes = shared_bytes;
  while (m.threads.size() < size_t(count)) {
    Thread& thread = m.threads.emplace_back();
    thread.here = fiber(std::allocator_arg, boost::context::fixedsize_stack(256 * 1024), [&m, &thread](fiber&& before) {
      m.keep(std::move(before));
      m.serve(thread);
      return std::move(m.back);
    });
  }
  m.body = &body, m.launch = &launch, m.ran.clear(), blockDim = dim3(unsigned(count)), gridDim = blocks;
  try {
    for (const int n : blocks_in_turn.of(int(blocks.x * blocks.y * blocks.z))) {
      const unsigned row = unsigned(n) / blocks.x;
      blockIdx.x = unsigned(n) % blocks.x, blockIdx.y = row % blocks.y, blockIdx.z = row / blocks.y;
      m.run_block(count);
      if (m.error) std::rethrow_exception(m.error);
    }
    m.launch = nullptr;
  } catch (...) {
    own_machine.reset();  // gives up threads in the middle of a kernel
    throw;
  }
}

void shuffle_turns(uint64_t seed) { blocks_in_turn.seed(seed), threads_in_turn.seed(seed); }

void sync_block(Site at) { machine->wait(machine->block, at); }
void sync_warp(Site at) {
  machine->wait(machine->warp().barrier, at);
  ++machine->running->warp_barriers;
}
void whole_warp(unsigned mask, Site at) {
  const auto where = [&] {
    return fmt::format("emulation: thread {} of block ({}, {}, {}) at {}:{}", machine->now, blockIdx.x, blockIdx.y,
                       blockIdx.z, at.file, at.line);
  };
  if (mask != 0xFFFFFFFFu) failure("{} names lanes {:#010x}; name all 32, {:#010x}", where(), mask, 0xFFFFFFFFu);
  if (machine->warp().barrier.alive != 32)
    failure("{} waits for a lane of its warp that has ended; let all 32 come here", where());
}
int shared_bytes() { return machine->shared_bytes; }
unsigned lane() { return unsigned(machine->now) % 32; }

uint64_t exchange(uint64_t mine, unsigned from, Site at) {
  Warp& w = machine->warp();
  uint64_t* values = w.value[w.barrier.opened % 2];
  values[lane()] = mine;
  machine->wait(w.barrier, at);
  return values[from];
}

const Fragment* exchange_all(const Fragment& mine, Site at) {
  whole_warp(0xFFFFFFFFu, at);
  Warp& w = machine->warp();
  Fragment* all = w.fragment[w.barrier.opened % 2];
  all[lane()] = mine;
  machine->wait(w.barrier, at);
  return all;
}

void beyond_end(const char* name, int64_t index, int64_t n) {
  failure("emulation: thread {} of block ({}, {}, {}) reaches for {}[{}], which has {} elements", threadIdx.x,
          blockIdx.x, blockIdx.y, blockIdx.z, name, index, n);
}

void touch(Element& e, bool write, const char* name, int64_t index) {
  const Machine& m = *machine;
  const auto where = [&] {
    return fmt::format("emulation: thread {} of block ({}, {}, {}) {} {}[{}]", m.now, blockIdx.x, blockIdx.y,
                       blockIdx.z, write ? "writes" : "reads", name, index);
  };
  if (!write && e.written.block != m.number) failure("{}, which nobody in this block has written", where());
  if (const auto other = note(e, write, 0, m))
    failure("{}, which thread {} {} with no barrier in between", where(), other->thread,
            other->wrote ? "wrote" : "read");
}

std::optional<Met> touch(Word& w, bool write, uint32_t code) {
  if (!machine || !machine->launch) return {};
  const Machine& m = *machine;
  const auto by_other_block = [&](const Touch& t) { return t.block >= m.ran[0].first && t.block != m.number; };
  if (by_other_block(w.written)) return met(w.written, true, m);
  if (write)
    for (const Touch& t : {w.elsewhere, w.read[0].last, w.read[1].last})
      if (by_other_block(t)) return met(t, false, m);
  if (!write && by_other_block(w.read[0].last)) w.elsewhere = w.read[0].last;
  return note(w, write, code, m);
}
const Launch& launch() { return *machine->launch; }
void fail_soon(const std::string& what) {
  if (!machine->error) machine->error = std::make_exception_ptr(Failure(what));
}

}  // namespace poslab::emulate
