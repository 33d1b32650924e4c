// Argument checks that several ops share. Row and class indices are all checked, in every step.
#pragma once
#include <algorithm>

#include "core/error.h"
#include "core/kernels.h"
#include "core/tensor.h"

namespace poslab {

// The index of the first number outside 0 .. end - 1, or -1 if all are inside. Nearly always all are inside, so a first
// pass tests for that without branches, several numbers at a time.
inline int64_t first_outside(const Ids& numbers, int end) {
  const int* at = numbers.data();
  const int64_t n = numbers.size();
  const auto outside = [end](int number) { return unsigned(number) >= unsigned(end); };    // negative ones are large
  unsigned any = 0;
  for (int64_t i = 0; i < n; ++i) any |= unsigned(outside(at[i]));
  return any ? std::find_if(at, at + n, outside) - at : -1;
}

// Returns its argument, which must not be a temporary. Throws BadInput if it is absent.
const Ids& present(Ids&&) = delete;
inline const Ids& present(const Ids& numbers) {
  if (!numbers) bad_input("ids: absent ids have no values; pass some that were given a shape");
  return numbers;
}

// Throws BadInput for an invalid dropout rate.
inline void check_rate(const Dropout& drop) {
  if (!(drop.rate >= 0 && drop.rate <= real(0.999)))
    bad_input("dropout: rate {}; give a number from 0 to 0.999", drop.rate);
}

// Throws BadInput unless n, the Span's key_lengths, is absent, or of shape (batch) with numbers 0 .. keys.
inline void check_key_lengths(const Ids& n, int batch, int keys) {
  if (!n) return;
  if (n.shape() != Shape{batch})
    bad_input("attention: key_lengths is {}; it must be ({}), the number of keys of each sequence",
              to_string(n.shape()), batch);
  if (const int64_t b = first_outside(n, keys + 1); b >= 0)
    bad_input("attention: key_lengths[{}] is {}; give 0 to {}, the number of keys", b, n[b], keys);
}

}  // namespace poslab
