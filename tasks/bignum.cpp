// Schoolbook arithmetic in base 2^32, and the square root digit by digit, as on paper.
#include "tasks/bignum.h"

#include <algorithm>

#include "core/stop.h"

namespace poslab {
namespace {

Natural trimmed(std::vector<uint32_t> limbs) {
  while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
  return {std::move(limbs)};
}

// x <- x 2^n + low,  n < 32, low < 2^n
void append(Natural& x, int n, uint32_t low) {
  for (uint32_t& limb : x.limbs) {
    const uint64_t shifted = uint64_t(limb) << n | low;
    limb = uint32_t(shifted), low = uint32_t(shifted >> 32);
  }
  if (low) x.limbs.push_back(low);
}

}  // namespace

Natural from_bits(const Tokens& bits) {
  std::vector<uint32_t> limbs((bits.size() + 31) / 32, 0);
  for (size_t i = 0; i < bits.size(); ++i) limbs[i / 32] |= uint32_t(bits[i]) << i % 32;
  return trimmed(std::move(limbs));
}

Tokens to_bits(const Natural& x) {
  Tokens bits;
  for (uint32_t limb : x.limbs)
    for (int i = 0; i < 32; ++i) bits.push_back(int(limb >> i & 1));
  while (bits.size() > 1 && bits.back() == 0) bits.pop_back();
  return bits.empty() ? Tokens{0} : bits;
}

Natural operator+(const Natural& a, const Natural& b) {
  const auto& [shorter, longer] = std::minmax(a, b, [](auto& x, auto& y) { return x.limbs.size() < y.limbs.size(); });
  std::vector<uint32_t> sum = longer.limbs;
  uint64_t carry = 0;
  for (size_t i = 0; i < sum.size(); ++i) {
    carry += uint64_t(sum[i]) + (i < shorter.limbs.size() ? shorter.limbs[i] : 0);
    sum[i] = uint32_t(carry), carry >>= 32;
  }
  if (carry) sum.push_back(uint32_t(carry));
  return {std::move(sum)};
}

Natural operator-(const Natural& a, const Natural& b) {
  std::vector<uint32_t> rest = a.limbs;
  int64_t borrow = 0;  // 0 or -1
  for (size_t i = 0; i < rest.size(); ++i) {
    borrow += int64_t(rest[i]) - (i < b.limbs.size() ? b.limbs[i] : 0);
    rest[i] = uint32_t(borrow), borrow >>= 32;
  }
  return trimmed(std::move(rest));
}

Natural operator*(const Natural& a, const Natural& b) {
  std::vector<uint32_t> product(a.limbs.size() + b.limbs.size(), 0);
  for (size_t i = 0; i < a.limbs.size(); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < b.limbs.size(); ++j) {
      carry += uint64_t(a.limbs[i]) * b.limbs[j] + product[i + j];
      product[i + j] = uint32_t(carry), carry >>= 32;
    }
    product[i + b.limbs.size()] = uint32_t(carry);
  }
  return trimmed(std::move(product));
}

bool operator<=(const Natural& a, const Natural& b) {
  if (a.limbs.size() != b.limbs.size()) return a.limbs.size() < b.limbs.size();
  return !std::lexicographical_compare(b.limbs.rbegin(), b.limbs.rend(), a.limbs.rbegin(), a.limbs.rend());
}

// Two bits of x come down at a time. Let y be the number from the bits so far, s its root and r = y - s^2 the rest: the
// next bit of the root is one if (2s + 1)^2 - (2s)^2 = 4s + 1 still fits into the rest with the next two bits.
Natural isqrt(const Natural& x) {
  Natural root, rest;
  for (size_t pair = 16 * x.limbs.size(); pair-- > 0;) {
    stop_if_requested();  // a million bits take half a minute
    append(rest, 2, x.limbs[pair / 16] >> 2 * (pair % 16) & 3);
    Natural step = root;
    append(step, 2, 1);
    const bool fits = step <= rest;
    if (fits) rest = rest - step;
    append(root, 1, fits);
  }
  return root;
}

}  // namespace poslab
