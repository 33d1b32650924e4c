// Runs under valgrind (tests/tools/memcheck/run.sh): all cases of all ops with each instruction set that valgrind
// knows, and planted errors, without which a clean run would prove nothing. It is linked with a core/memory.cpp whose
// buffers begin without values.
#include <doctest/doctest.h>
#include <valgrind/memcheck.h>

#include <string>

#include "core/memory.h"
#include "tests/support/op_run.h"

namespace poslab::test {
namespace {

// How many of these values were never computed, or come from unwritten memory.
size_t without_values(const std::vector<real>& some) {
  size_t count = 0;
  for (const real& x : some) count += VALGRIND_CHECK_MEM_IS_DEFINED(&x, sizeof x) != 0;
  return count;
}

// A branch on a number; valgrind reports it if the number has no value.
void look_at(const real& x) {
  static volatile int seen = 0;
  if (x > 0) seen = seen + 1;
}

}  // namespace

TEST_CASE("memcheck: results and gradients of all ops have values, with each instruction set") {
  REQUIRE(RUNNING_ON_VALGRIND);
  const OneThread one;
  const std::string before = isa();
  for (const std::string& name : available_isas()) {
    use_isa(name);
    for (const OpCase& c : op_cases()) {
      if (c.of_gpu) continue;
      INFO(title(c) << " on " << name);
      const Result r = run(c, inputs(c));
      CHECK(without_values(r.value) == 0);
      for (const std::vector<real>& g : r.grads) CHECK(without_values(g) == 0);
    }
  }
  use_isa(before);
}

// Each of these must end valgrind with an error.
TEST_CASE("planted: a new buffer is read" * doctest::skip()) { look_at(Block(1000).get()[0]); }
TEST_CASE("planted: a buffer that another tensor had is read" * doctest::skip()) {
  {
    const Block first(1000);
    for (int i = 0; i < 1000; ++i) first.get()[i] = 1;
  }
  look_at(Block(1000).get()[999]);
}
TEST_CASE("planted: scratch memory of the kernel before is read" * doctest::skip()) {
  real* at = scratch(3, 100);
  for (int i = 0; i < 100; ++i) at[i] = 1;
  look_at(scratch(3, 100)[99]);
}
TEST_CASE("planted: scratch memory that was not requested is read" * doctest::skip()) {
  real* at = scratch(3, 100);
  for (int i = 0; i < 100; ++i) at[i] = 1;
  look_at(scratch(3, 10)[10]);
}
TEST_CASE("planted: the place past a buffer is written" * doctest::skip()) {
  const Block block(33);
  const_cast<volatile real*>(block.get())[33] = 1;
}

}  // namespace poslab::test
