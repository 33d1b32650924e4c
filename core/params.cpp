#include "core/params.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/backend.h"
#include "core/error.h"
#include "core/kernels.h"
#include "core/parameter_limit.h"
#include "core/names.h"
#include "core/stop.h"
#include "core/tensor_storage.h"

namespace poslab {

namespace {
constexpr int64_t most = INT32_MAX;  // most parameters: the optimizer's tensors have all on one axis
}

struct Params::Store {
  uint64_t seed = 0;
  StoredWeights given{};
  std::vector<Entry> entries;
  int64_t count = 0;
  Device device = Device::cpu;
  std::shared_ptr<Block> values, grads;   // empty before pack()
};

Params::Params(uint64_t seed) : store_(std::make_shared<Store>()) { store_->seed = seed; }

Params::Params(StoredWeights given, Device device) : Params(uint64_t(0)) {
  store_->given = std::move(given), store_->device = device;
}

StoredMatrix Params::stored(const std::string& name, int rows, int columns) const {
  return store_->given ? store_->given((*this / name).path_, rows, columns).to(store_->device) : StoredMatrix();
}

Params Params::operator/(const std::string& scope) const {
  Params p = *this;
  p.path_ = path_.empty() ? scope : path_ + "." + scope;
  return p;
}

Params Params::shared() const {
  Params p = *this;
  p.shared_ = true;
  return p;
}

Tensor Params::make(const std::string& name, Shape shape) const {
  if (store_->values) bad_input("params: {} comes after pack(); make all parameters first", name);
  const std::string whole = (*this / name).path_;
  ParameterLimit::check(store_->count + size_of(shape), whole, shape);
  for (const Entry& e : store_->entries)
    if (e.name == whole) bad_input("params: there is a parameter {} already; give each a name of its own", whole);
  Tensor x(std::move(shape));
  if (store_->count + x.size() > most)
    bad_input("params: with {} of shape {} there are more than {} numbers; build a smaller model", whole,
              to_string(x.shape()), most);
  x.require_grad();
  store_->entries.push_back({whole, x, store_->count});
  store_->count += x.size();
  return x;
}

template <class Draw>
Tensor Params::request(const std::string& name, Shape shape, const Draw& draw) const {
  if (store_->given) {
    if (shape.size() > 2) bad_input("params: {} is {}; external weights have 1 or 2 axes", name, to_string(shape));
    Tensor x(shape);
    std::vector<int> rows(shape.size() == 1 ? 1 : size_t(shape[0]));
    std::iota(rows.begin(), rows.end(), 0);
    const StoredMatrix m = store_->given((*this / name).path_, int(rows.size()), shape.back());
    kernels(Device::cpu).gather_stored(x.data(), m.as, m.at, rows.data(), int64_t(rows.size()), m.columns);
    return x.to(store_->device);
  }
  if (shared_)
    for (const Entry& e : store_->entries)
      if (e.name == (*this / name).path_) return e.tensor;
  Rng rng(stream(store_->seed, Purpose::init, 0, uint32_t(store_->entries.size())));
  Tensor x = make(name, std::move(shape));
  for (int64_t done = 0, n; done < x.size(); done += n) {
    stop_if_requested();
    n = std::min<int64_t>(x.size() - done, 1 << 20);
    std::generate_n(x.data() + done, n, [&] { return real(draw(rng)); });
  }
  return x;
}

Tensor Params::truncated_normal(const std::string& name, Shape shape, double std) const {
  return request(name, std::move(shape), [=](Rng& rng) { return std * rng.truncated_normal(); });
}

Tensor Params::normal(const std::string& name, Shape shape, double std) const {
  return request(name, std::move(shape), [=](Rng& rng) { return std * rng.normal(); });
}

Tensor Params::uniform(const std::string& name, Shape shape, double low, double high) const {
  const double most = double(std::nextafter(real(high), real(low)));  // else a rounded value could equal `high`
  return request(name, std::move(shape), [=](Rng& rng) { return std::min(low + (high - low) * rng.uniform(), most); });
}

Tensor Params::full(const std::string& name, Shape shape, double value) const {
  return request(name, std::move(shape), [=](Rng&) { return value; });
}

const std::vector<Params::Entry>& Params::entries() const { return store_->entries; }

const Tensor& Params::at(const std::string& name) const {
  std::vector<std::string> names;
  for (const Entry& e : entries()) {
    if (e.name == name) return e.tensor;
    names.push_back(e.name);
  }
  raise<BadInput>(unknown("parameter", name, names));
}

void Params::pack(Device device) const {
  Store& s = *store_;
  const Backend& there = backend(device);
  s.device = device;
  s.values = std::make_shared<Block>(s.count, device), s.grads = std::make_shared<Block>(s.count, device);
  there.fill(s.grads->get(), 0, s.count);
  for (const Entry& e : s.entries) {
    Tensor::Storage& t = *e.tensor.storage_;
    there.write(s.values->get() + e.offset, t.value, size_t(e.tensor.size()) * sizeof(real));
    t.device = device;
    if (!t.viewed) t.own_value = {};  // unless a view still reads the old memory
    t.own_grad = {};
    t.value = s.values->get() + e.offset, t.grad = s.grads->get() + e.offset;
    t.keep = std::make_shared<std::pair<std::shared_ptr<Block>, std::shared_ptr<Block>>>(s.values, s.grads);
  }
}

Device Params::device() const {
  if (!store_->values && count()) bad_input("params: parameters are not packed; call pack() once all are made");
  return store_->device;
}
int64_t Params::count() const { return store_->count; }

real* Params::values() const { return store_->values ? store_->values->get() : nullptr; }
real* Params::grads() const { return store_->grads ? store_->grads->get() : nullptr; }

void Params::clear_grads() const {
  backend(device()).fill(grads(), 0, count());   // a parameter that a step does not touch has gradient zero
  for (const Entry& e : entries()) e.tensor.storage_->grad_empty = false;
}

}  // namespace poslab
