// Bucket sort: the symbols 0-4 in ascending order.   3 0 4 0 -> 0 0 3 4
//   y = count_0 zeros, count_1 ones, ...                                                 (spec B.2)
#include <algorithm>

#include "tasks/all.h"

namespace poslab {

Task bucket_sort() {
  return {.name = "bucket_sort",
          .level = "context_sensitive",
          .summary = "the input in ascending order  3 0 4 0 -> 0 0 3 4",
          .about = R"(The model reads digits from 0 to 4 and writes them in ascending order.
The order of the input does not matter: a model that counts the digits, and tells the answer slots
apart, has the answer.)",
          .symbols_in = 5,
          .symbols_out = 5,
          .output_length = as_long_as_input,
          .answer = [](Tokens x) {
            std::sort(x.begin(), x.end());
            return x;
          }};
}

}  // namespace poslab
