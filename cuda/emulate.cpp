// The fibers behind cuda/emulate.h.
#include "cuda/emulate.h"

#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <algorithm>
#include <atomic>
#include <exception>
#include <numeric>
#include <random>
#include <vector>

#include "core/error.h"

constinit thread_local uint3 threadIdx, blockIdx;
constinit thread_local dim3 blockDim, gridDim;

namespace poslab::emulate {

constinit thread_local Touch present;
constinit thread_local int shared_bytes = 0;

namespace {

using boost::context::fiber;

std::atomic<uint32_t> intervals_so_far = 0;

std::string here() {
  return fmt::format("emulation: thread {} of block ({}, {}, {})", threadIdx.x, blockIdx.x, blockIdx.y, blockIdx.z);
}

// A barrier for `alive` threads: it opens once each of them has either arrived or ended.
struct Barrier {
  int alive = 0;
  bool of_block = false;           // else of a warp
  int waiting = 0;
  uint32_t opened = 0;
  Site at = {};                    // where the waiting threads are
  void open() {
    waiting = 0, ++opened;
    if (of_block) present.interval = ++intervals_so_far;
  }
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
  Fragment fragment[2][32] = {};
  uint64_t value[2][32] = {};
};

struct Thread {
  enum { to_begin, begun, ended } state = ended;
  fiber here;                      // where it resumes
  const Barrier* barrier = nullptr;                  // the last barrier that it reached
  uint32_t opened = 0;             // how often that barrier had opened when it arrived
  uint16_t warp_barriers = 0;      // its calls of __syncwarp in this block
  bool can_go_on() const { return state != ended && (!barrier || barrier->opened != opened); }
};

// The numbers 0 .. n-1, in a different order each time; without a seed, in numerical order.
struct Turns {
  bool shuffled = false;
  std::mt19937_64 random;
  std::vector<int> order;
  void seed(uint64_t seed) { shuffled = seed != 0, random.seed(seed), order.clear(); }
  const std::vector<int>& of(int n) {
    if (int(order.size()) != n) order.resize(size_t(n)), std::iota(order.begin(), order.end(), 0);
    if (shuffled) std::shuffle(order.begin(), order.end(), random);
    return order;
  }
};
thread_local Turns blocks_in_turn, threads_in_turn;

// A fiber runs one thread after another, each to its end. A thread that waits keeps its fiber, and the next thread
// takes an idle fiber.
struct Machine {
  std::vector<Thread> threads{1024};
  std::vector<fiber> idle;
  int fibers = 0;
  std::vector<Warp> warps;
  Barrier block;
  uint32_t first_interval = 0;     // of the block
  Thread* running = nullptr;       // null: the loop over rounds
  const int *turn = nullptr, *last_turn = nullptr;   // in this round: the next thread, and the end
  fiber* left = nullptr;           // where to keep the stack that has just switched away
  fiber back;                      // of the loop over rounds
  const Launch* launch = nullptr;  // the running one
  std::vector<std::pair<uint32_t, uint3>> ran;       // the launch's blocks so far: first interval and index
  const std::function<void()>* body = nullptr;
  std::exception_ptr error;

  Machine() { idle.reserve(threads.size()); }        // so that no fiber moves while it is suspended
  Warp& warp() { return warps[threadIdx.x / 32]; }

  // Sets `running` to the next thread in turn that can go on; to null if all wait.
  void choose() {
    running = nullptr;
    while (turn != last_turn && !error && !running) {
      const unsigned t = unsigned(*turn++);
      if (!threads[t].can_go_on()) continue;
      running = &threads[t], threadIdx.x = t;
      present.thread = uint16_t(t), present.warp_barriers = running->warp_barriers;
    }
  }
  // Switches to the chosen thread; `own` is where this stack resumes. Inlined, because no processor predicts a
  // return that comes after a jump to another stack.
  [[gnu::always_inline]] void hand_over(fiber& own) {
    left = &own;
    if (running && running->state == Thread::to_begin) running->here = idle_fiber();
    fiber before = std::move(running ? running->here : back).resume();
    *left = std::move(before);
  }
  fiber idle_fiber() {
    if (idle.empty()) {
      const size_t size = 256 * 1024 + size_t(fibers++ % 32 * 128);      // so that stacks end in different cache sets
      return {std::allocator_arg, boost::context::fixedsize_stack(size), [this](fiber&& before) {
                *left = std::move(before);
                serve();
                return std::move(back);
              }};
    }
    fiber last = std::move(idle.back());
    idle.pop_back();
    return last;
  }
  [[gnu::always_inline]] void wait(Barrier& b, Site at) {
    if (b.waiting > 0 && !(b.at == at))
      failure("{} waits at {}:{}, but others at its barrier wait at {}:{}; let all of them reach one place",
              here(), at.file, at.line, b.at.file, b.at.line);
    Thread& mine = *running;
    b.at = at, mine.barrier = &b, mine.opened = b.opened;
    b.arrive();
    if (b.of_block && mine.can_go_on()) turn = last_turn;      // so that the first thread goes on before this one
    if (b.of_block || !mine.can_go_on()) choose(), hand_over(mine.here);
  }

  void serve() {                   // the life of a fiber
    for (;;) {
      Thread& mine = *running;
      mine.state = Thread::begun;
      try {
        (*body)();
      } catch (const boost::context::detail::forced_unwind&) {
        throw;  // the machine ends, and its fibers with it
      } catch (...) {
        if (!error) error = std::current_exception();
      }
      mine.state = Thread::ended;
      block.leave(), warp().barrier.leave();
      choose();
      if (!running || running->state != Thread::to_begin) hand_over(idle.emplace_back());
    }
  }

  void run_block(int count) {
    first_interval = present.interval = ++intervals_so_far;
    ran.push_back({first_interval, blockIdx});
    block = {.alive = count, .of_block = true};
    for (Warp& w : warps) w.barrier = {.alive = 32};
    for (int t = 0; t < count; ++t) {
      Thread& thread = threads[size_t(t)];
      thread.state = Thread::to_begin, thread.barrier = nullptr, thread.warp_barriers = 0;
    }
    // Rounds of the threads that take turns together: in a round, each runs until it waits or ends.
    const int sharing = threads_in_turn.shuffled ? count : 32;
    for (int first = 0; first < count && !error;) {
      const uint32_t opened = block.opened;
      turn = threads_in_turn.of(count).data() + first, last_turn = turn + sharing;
      choose();
      if (running) hand_over(back);
      else first += sharing;
      if (block.opened != opened) first = 0;
    }
    if (block.alive > 0 && !error)
      failure("emulation: {} of the {} threads of block ({}, {}, {}) wait at a barrier that the others never reach",
              block.alive, count, blockIdx.x, blockIdx.y, blockIdx.z);
  }
};

constinit thread_local Machine* machine = nullptr;  // this host thread's machine, found without a call
thread_local std::unique_ptr<Machine> own_machine;

Met met(const Touch& before, bool wrote, const Machine& m) {
  const auto after = std::find_if(m.ran.begin(), m.ran.end(), [&](const auto& b) { return b.first > before.interval; });
  return {before.thread, std::prev(after)->second, wrote, before.code};
}

// Records a touch, or returns an earlier one by the same block that no barrier separates from it.
std::optional<Met> note(Element& e, bool write, uint32_t code, const Machine& m) {
  Touch now = present;
  now.code = code;
  const auto open = [&](const Touch& before) {       // no barrier is between it and now
    return before.interval == now.interval && (!before.same_warp(now) || before.warp_barriers == now.warp_barriers);
  };
  if (open(e.written) && e.written.thread != now.thread) return met(e.written, true, m);
  if (write) {
    for (const Element::Read& r : e.read)
      if (open(r.last) && (r.by_several || r.last.thread != now.thread)) return met(r.last, false, m);
    e.written = now;
    return {};
  }
  Element::Read& r = e.read[0];
  if (open(r.last) && !r.last.same_warp(now)) std::swap(r, e.read[1]);               // the two warps swap their places
  r.by_several = r.last.at_once(now) && (r.by_several || r.last.thread != now.thread);
  r.last = now;
  return {};
}

}  // namespace

void run(dim3 blocks, int count, const std::function<void()>& body, int shared, const Launch& launch) {
  if (count < 32 || count > 1024 || count % 32)
    failure("emulation: {} threads in a block; it must be a multiple of 32, at most 1024", count);
  if (!blocks.x || !blocks.y || !blocks.z || blocks.y > 65535 || blocks.z > 65535)
    failure("emulation: a grid of ({}, {}, {}) blocks; there must be at least one, and at most 65535 along y and z",
            blocks.x, blocks.y, blocks.z);
  if (shared > most_shared_bytes)
    failure("emulation: {} bytes of shared memory; a block has at most {}", shared, most_shared_bytes);
  if (!machine) own_machine.reset(machine = new Machine);
  Machine& m = *machine;
  shared_bytes = shared;
  m.warps.resize(size_t(count / 32));
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
    machine = nullptr, own_machine.reset();  // drops threads that are in the middle of a kernel
    throw;
  }
}

void shuffle_turns(uint64_t seed) { blocks_in_turn.seed(seed), threads_in_turn.seed(seed); }

// Returns the running thread's warp. Fails unless the mask names all of its lanes and none has ended.
static Warp& whole_warp(unsigned mask, Site at) {
  const auto where = [at] { return fmt::format("{} at {}:{}", here(), at.file, at.line); };
  if (mask != 0xFFFFFFFFu) failure("{} names lanes {:#010x}; name all 32, {:#010x}", where(), mask, 0xFFFFFFFFu);
  Warp& w = machine->warp();
  if (w.barrier.alive != 32) failure("{} waits for a lane of its warp that has ended; let all 32 come here", where());
  return w;
}
void sync_block(Site at) { machine->wait(machine->block, at); }
void sync_warp(unsigned mask, Site at) {
  machine->wait(whole_warp(mask, at).barrier, at);
  present.warp_barriers = ++machine->running->warp_barriers;
}

// The values of this exchange. The previous exchange's values stay: some lanes may still have to read them.
template <class T>
static const T* exchanged(T (Warp::*both)[2][32], unsigned mask, const T& mine, Site at) {
  Warp& w = whole_warp(mask, at);
  T* all = (w.*both)[w.barrier.opened % 2];
  all[lane()] = mine;
  machine->wait(w.barrier, at);
  return all;
}
const uint64_t* exchange(unsigned mask, uint64_t mine, Site at) { return exchanged(&Warp::value, mask, mine, at); }
const Fragment* exchange_all(const Fragment& mine, Site at) {
  return exchanged(&Warp::fragment, 0xFFFFFFFFu, mine, at);
}

void beyond_end(const char* name, int64_t index, int64_t n) {
  failure("{} reaches for {}[{}], which has {} elements", here(), name, index, n);
}

void touch(Element& e, bool write, const char* name, int64_t index) {
  const Machine& m = *machine;
  const auto where = [&] { return fmt::format("{} {} {}[{}]", here(), write ? "writes" : "reads", name, index); };
  if (!write && e.written.interval < m.first_interval) failure("{}, which no thread of this block wrote", where());
  if (const auto other = note(e, write, 0, m))
    failure("{}, which thread {} {} with no barrier in between", where(), other->thread,
            other->wrote ? "wrote" : "read");
}

std::optional<Met> touch(Word& w, bool write, uint32_t code) {
  if (!machine || !machine->launch || w.knows(write)) return {};
  const Machine& m = *machine;
  const auto by_other_block = [&](const Touch& t) {
    return t.interval >= m.ran[0].first && t.interval < m.first_interval;
  };
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
