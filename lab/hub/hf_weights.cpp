#include "lab/hub/hf_weights.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "autograd/ops.h"
#include "core/backend.h"
#include "core/error.h"
#include "core/platform/parallel.h"
#include "core/stop.h"
#include "lab/files/memory.h"
#include "lab/files/safetensors.h"

namespace poslab {
namespace {

// The index of the first number in [0, count) with all exponent bits set, NaN or infinity; -1: none.
template <class Bits>
int64_t not_finite(const Bits* numbers, int64_t count, Bits exponent) {
  constexpr int64_t block = 1 << 15;
  std::atomic<int64_t> first = count;
  parallel_ranges((count + block - 1) / block, 8, [&](int64_t from, int64_t to) {
    for (int64_t b = from; b < to; ++b) {
      const Bits *begin = numbers + b * block, *end = numbers + std::min(count, (b + 1) * block);
      bool any = false;
      for (const Bits* at = begin; at < end; ++at) any |= (*at & exponent) == exponent;
      if (!any) continue;
      const int64_t here = std::find_if(begin, end, [&](Bits x) { return (x & exponent) == exponent; }) - numbers;
      for (int64_t known = first; here < known && !first.compare_exchange_weak(known, here);) {}
      return;
    }
  });
  return first < count ? int64_t(first) : -1;
}

int64_t not_finite(const StoredMatrix& m) {
  const int64_t count = int64_t(m.rows) * m.columns;
  if (m.as == StoredAs::float32) return not_finite(static_cast<const uint32_t*>(m.at), count, uint32_t(0x7f800000));
  return not_finite(static_cast<const uint16_t*>(m.at), count, uint16_t(m.as == StoredAs::float16 ? 0x7c00 : 0x7f80));
}

// No useful training leaves such weights, and some formulas would hide them in plausible figures.
void check_finite(const std::string& name, const StoredTensor& t, const StoredMatrix& m) {
  const int64_t at = not_finite(m);
  if (at < 0) return;
  const std::string place =
      t.shape.size() == 1 ? fmt::format("{}", at) : fmt::format("{}, {}", at / m.columns, at % m.columns);
  failure("{} is damaged: the tensor {} holds NaN or infinity, first at ({}); fetch it again", t.path, name, place);
}

// The rows at a place, in the mapped file; or a float32 copy, if the stored numbers must be changed.
StoredMatrix rows_of(StoredMatrix m, const HfPlace& place, int rows) {
  m.at = static_cast<const char*>(m.at) + int64_t(place.row) * m.columns * bytes_of(m.as), m.rows = rows;
  if (place.plus == 0 && place.times == 1) return m;
  const auto copy = std::make_shared<std::vector<float>>();
  for (int row = 0; row < rows; ++row)
    for (const real x : gather(m, Ids({1}, {row})).values())
      copy->push_back(float((x + real(place.plus)) * real(place.times)));
  return {StoredAs::float32, copy->data(), rows, m.columns, copy};
}

}  // namespace

HfWeights::HfWeights(const std::string& folder, const std::string& config, Places place_of, Device device)
    : folder_(folder),
      config_(config),
      place_of_(std::move(place_of)),
      device_(device),
      tensors_(map_weights(folder)) {}

Params::StoredWeights HfWeights::stored() {
  double bytes = 0;
  for (const auto& [name, t] : tensors_) bytes += double(size_of(t.shape)) * bytes_of_number(t.dtype);
  if (device_ != Device::cpu && bytes > backend(device_).free_bytes())
    bad_input("the weights of {} take {}, but this GPU has {} left; use --device cpu, or a smaller model", folder_,
              gigabytes(bytes), gigabytes(backend(device_).free_bytes()));
  return [this](const std::string& parameter, int rows, int columns) {
    stop_if_requested();
    const HfPlace place = place_of_(parameter);
    const std::string& name = place.tensor;
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) bad_input("{} has no tensor {}, which {} asks for", folder_, name, config_);
    const bool vector = rows == 1 && found->second.shape.size() == 1;
    const Shape wanted = vector ? Shape{columns} : Shape{place.all_rows ? place.all_rows : rows, columns};
    if (found->second.shape != wanted)
      bad_input("{}: the tensor {} is {}, but {} requires {}", found->second.path, name,
                to_string(found->second.shape), config_, to_string(wanted));
    const StoredMatrix matrix = matrix_of(name, found->second);
    if (read_.insert(name).second) check_finite(name, found->second, matrix);
    return rows_of(matrix, place, rows);
  };
}

std::string HfWeights::first_of(const std::vector<std::string>& tied) const {
  const auto found = std::find_if(tied.begin(), tied.end(), [&](const std::string& name) { return has(name); });
  return found == tied.end() ? tied.front() : *found;
}

void HfWeights::drop_copy(const std::string& tensor, const std::string& of) {
  const auto copy = tensors_.find(tensor), whole = tensors_.find(of);
  if (tensor == of || copy == tensors_.end() || whole == tensors_.end()) return;
  const StoredTensor &a = copy->second, &b = whole->second;
  const size_t bytes = size_t(size_of(a.shape)) * size_t(bytes_of_number(a.dtype));
  if (a.dtype != b.dtype || a.shape != b.shape || std::memcmp(a.at, b.at, bytes) != 0)
    bad_input(
        "{}: the tensor {} differs from {}, but {} gives the model one matrix for both; save it with equal ones, or "
        "without {}",
        a.path, tensor, of, config_, tensor);
  tensors_.erase(copy);
}

void HfWeights::require_all_read(const std::function<bool(const std::string&)>& is_spare) const {
  for (const auto& [name, tensor] : tensors_)
    if (!read_.count(name) && !is_spare(name))
      bad_input("{} has a tensor {} {}, which the model of {} does not use; is it of another architecture?",
                tensor.path, name, to_string(tensor.shape), config_);
}

}  // namespace poslab
