#include "nn/key_value_cache.h"

#include "autograd/ops.h"
#include "autograd/strided_loop.h"
#include "core/backend.h"
#include "core/error.h"

namespace poslab {
namespace {

// buffer[:, at .. at + n - 1] = x                                              (B, capacity, ...), (B, n, ...)
void write(const Tensor& buffer, int at, const Tensor& x) {
  const Strides strides = dense(buffer.shape());
  kernels(x.device())
      .copy({buffer.data() + at * strides[1], true}, x.data(), strided_loop(x.shape(), strides, dense(x.shape())));
}

}  // namespace

KeyValueCache::KeyValueCache(int sequences, int capacity, Sizes n, const std::vector<bool>& with_states, Device device)
    : sequences_(sequences), capacity_(capacity) {
  if (sequences < 1 || capacity < 1)
    bad_input("cache: room for {} tokens of {} sequences; both must be at least 1", capacity, sequences);
  const auto room = [&](std::vector<int> each) {
    each.insert(each.begin(), {sequences, capacity});
    return Tensor(each, device);
  };
  for (const bool x : with_states)
    layers_.push_back(
        {room({n.key_heads, n.head_dim}), room({n.key_heads, n.value_dim}), x ? room({n.d_model}) : Tensor()});
}

int64_t KeyValueCache::numbers_per_token() const {
  int64_t all = 0;
  for (const Entries& e : layers_) all += e.k.size() + e.v.size() + (e.x ? e.x.size() : 0);
  return all / (int64_t(sequences_) * capacity_);
}

KeyValueCache::Entries KeyValueCache::append(int layer, const Entries& added) const {
  const Entries& all = layers_[size_t(layer)];
  const int more = added.k.dim(1), end = slots(more);
  if (const int given = added.k.dim(0); given != sequences_)
    bad_input("cache: {} sequences for a cache of {}; decode as many as it was made for", given, sequences_);
  if (end > capacity_)
    bad_input("cache: it has room for {} tokens; {} more do not fit after the {} in it; make a larger one", capacity_,
              more, length_);
  const auto kept = [&](const Tensor& buffer, const Tensor& x) {
    if (!buffer) return Tensor();
    if (multiple_ == 1) {
      write(buffer, length_, x);
    } else {                          // the slot number is data, not an address: x is added to zeros in the last slots
      const int first = end - multiple_, row = int(x.size());
      const Ids at({1}, {length_ - first});
      kernels(x.device())
          .gather_backward({buffer.data() + int64_t(first) * row, false}, x.data(), at.on(x.device()), 1, row,
                           multiple_);
    }
    if (sequences_ > 1) return slice(buffer, 1, 0, end);
    Shape all = buffer.shape(), held = all;
    all.erase(all.begin()), held[1] = end;
    return buffer.reshape(all).first(end).reshape(held);   // the slots of one sequence are contiguous
  };
  return {kept(all.k, added.k), kept(all.v, added.v), kept(all.x, added.x)};
}

void KeyValueCache::pad_to(int multiple) {
  if (sequences_ > 1 || capacity_ % multiple)
    failure("cache: {} sequences with room for {} tokens cannot be padded to multiples of {}", sequences_, capacity_,
            multiple);
  multiple_ = multiple;
  for (const Entries& e : layers_)
    for (const Tensor& buffer : {e.k, e.v, e.x}) {
      if (!buffer) continue;
      const int64_t row = buffer.size() / capacity_;
      backend(buffer.device()).fill(buffer.data() + length_ * row, 0, (capacity_ - length_) * row);
    }
}

int KeyValueCache::slots(int more) const { return (length_ + more + multiple_ - 1) / multiple_ * multiple_; }

Ids KeyValueCache::key_lengths(int more) const { return multiple_ == 1 ? Ids() : Ids({1}, {length_ + more}); }

void KeyValueCache::reorder(const std::vector<int>& from) {
  if (int(from.size()) != sequences_)
    bad_input("cache: an order of {} entries for {} sequences; give one for each", from.size(), sequences_);
  bool moves = false;
  for (int b = 0; b < sequences_; ++b) moves |= from[size_t(b)] != b;
  if (!moves) return;
  const Ids rows({sequences_}, from);
  const auto reordered = [&](const Tensor& buffer) { return buffer ? gather(buffer, rows) : buffer; };
  for (Entries& e : layers_) e = {reordered(e.k), reordered(e.v), reordered(e.x)};
}

Positions last_slots(const Positions& p, int n, const char* reader) {
  if (n == p.time()) return p;
  const std::vector<double>& all = p.ids(reader);  // (S, T, K)
  const size_t K = size_t(p.channels()), of_one = size_t(p.time()) * K, kept = size_t(n) * K;
  std::vector<double> last;
  for (size_t end = of_one; end <= all.size(); end += of_one)
    last.insert(last.end(), all.begin() + std::ptrdiff_t(end - kept), all.begin() + std::ptrdiff_t(end));
  return Positions::of_ids(p.sequences(), p.channels(), std::move(last));
}

}  // namespace poslab
