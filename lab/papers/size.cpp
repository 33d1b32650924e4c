#include "lab/papers/size.h"

#include "core/choices.h"
#include "core/error.h"

namespace poslab::reproduce {

const std::vector<std::string>& fifteen() {
  static const std::vector<std::string> all = {
      "even_pairs", "modular_arithmetic", "parity_check", "cycle_navigation", "stack_manipulation", "reverse_string",
      "modular_arithmetic_brackets", "solve_equation", "duplicate_string", "missing_duplicate_string", "odds_first",
      "binary_addition", "binary_multiplication", "compute_sqrt", "bucket_sort"};
  return all;
}

const std::vector<Size>& all_sizes() {
  static const std::vector<Size> sizes = {
      {"tiny",
       "preset tiny: tables 1, 2 and 4, figure 4, signs, chosen and the claims of ruoss2023 with 15 tasks, all else "
       "with up to four that a small model learns in seconds, three seeds",
       {{"preset", {"tiny"}},
        {"task", {"even_pairs", "missing_duplicate_string", "reverse_string", "bucket_sort"}},
        {"seed", seeds(3)}}},
      // Two rates, as many of these models never begin to learn at 1e-3.
      {"example",
       "preset example, the released code's setting, at its learning rate 1e-3 and at the paper's 3e-4: 15 tasks, one "
       "seed; about three days on 2 cores",
       {{"preset", {"example"}}, {"task", fifteen()}, {"lr", {"3e-4", "1e-3"}}}},
      {"paper",
       "preset paper: 15 tasks, 10 seeds, 3 learning rates, 2,000,000 steps each; for a cluster (--plan, poslab sweep "
       "submit)",
       {{"preset", {"paper"}}, {"task", fifteen()}, {"seed", seeds(10)}, {"lr", {"3e-4", "1e-4", "5e-4"}}}},
  };
  return sizes;
}

const Size& size(const std::string& name) { return find("size", all_sizes(), name); }

Plan trials_at(const Size& size, const ValueLists& settings, const ValueLists& lists,
               const std::vector<ValueLists>& also) {
  return make_plan(overlaid(overlaid(size.head, settings), lists), also, "--size " + size.name);
}

void check_scored(const Size& size, const ValueLists& settings) {
  for (const Trial& t : trials_at(size, settings, {{"encoding", {"none"}}}, {})) {
    const int first = t.config().whole("train_length") + 1;
    const Lengths test = t.config().lengths("eval_lengths");
    if (test.from > first || test.to < first)
      bad_input(
          "eval_lengths = {}:{} with train_length = {}: the tables compare the mean accuracy from length {} on, the "
          "first beyond the trained ones, which this does not test; take eval_lengths = 1:{}",
          test.from, test.to, first - 1, first, test.to < first ? 2 * (first - 1) : test.to);
  }
}

Choices defaults(const Size& size, const ValueLists& settings) {
  return trials_at(size, settings, {{"encoding", {"none"}}}, {}).front().config();
}

}  // namespace poslab::reproduce
