// The plan of the gap shift (lab/papers/gap_shift/gap_shift.h). tests/python/test_gap_shift.py tests the tables.
#include <set>

#include "lab/papers/gap_shift/gap_shift.h"
#include "lab/papers/reproduce.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::reproduce;
using namespace poslab::test;

namespace {

Plan trials_of(const char* name, const char* size) { return all_trials(plan({{name}, size, {}, {}, {}})); }

}  // namespace

TEST_CASE("gap shift: uniform trials are those of the first source") {
  std::set<std::string> known;
  for (const Trial& t : trials_of("ruoss2023:table1", "tiny")) known.insert(t.id);
  const Plan uniform = trials_of("gap_shift:grid", "tiny");
  CHECK(uniform.size() == 3 * 3 * 3);
  for (const Trial& t : uniform) CHECK(known.count(t.id));
  CHECK(plan_lines(uniform) == plan_lines(trials_of("gap_shift:first", "tiny")));
  CHECK(trials_of("gap_shift", "tiny").size() == 3 * 3 * 3 * 4);
  CHECK(trials_of("gap_shift", "example").size() == 3 * 3 * 4 * 2);
  CHECK(trials_of("gap_shift", "paper").size() == 3 * 3 * 4 * 10 * 3);
}

TEST_CASE("gap shift: lengths, gaps and the scale of accuracies") {
  Choices c = tiny_config({{"preset", "tiny"},
                          {"task", "reverse_string"},
                          {"train_length", "20"},
                          {"eval_lengths", "1:100"},
                          {"max_position", "400"}});
  CHECK(gap_shift::lengths(c) == std::vector<int>{10, 20, 40, 80});
  CHECK(gap_shift::own_gap(c, 20) == doctest::Approx(401. / 41));
  CHECK(gap_shift::majority(c, 20) == doctest::Approx(0.5).epsilon(0.05));
}
