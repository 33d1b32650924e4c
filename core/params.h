// Params: a path into one flat buffer of named parameters. A module takes a Params, asks for its tensors, and is an
// ordinary struct afterwards: no base class, no registration. Optimizer, clipping and checkpoints see only the buffer.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/stored_matrix.h"
#include "core/tensor.h"

namespace poslab {

class Params {
 public:
  explicit Params(uint64_t seed);
  // For the weights of an external checkpoint: modules look up its matrices by the full names of parameters, and make
  // no parameters. A vector is a matrix with one row. entries() is then empty, and nothing has a gradient.
  using StoredWeights = std::function<StoredMatrix(const std::string& name, int rows, int columns)>;
  explicit Params(StoredWeights, Device of_model = Device::cpu);   // StoredWeights returns matrices on the CPU
  // The stored matrix of that name under this path; empty unless constructed with StoredWeights.
  StoredMatrix stored(const std::string& name, int rows, int columns) const;
  Params operator/(const std::string& scope) const;                      // p / "block0" / "attention"
  // The same path for parameters that several modules share: the first request makes the tensor, later ones return it.
  Params shared() const;

  // A new parameter, drawn from a stream of its own, (seed, init, its index in entries()). Throws BadInput for a name
  // that is taken, and after pack().
  Tensor truncated_normal(const std::string& name, Shape, double std) const;   // std times N(0, 1) that is cut off at 2
  Tensor normal(const std::string& name, Shape, double std) const;
  Tensor uniform(const std::string& name, Shape, double low, double high) const;   // low <= value < high
  Tensor full(const std::string& name, Shape, double value) const;

  // The whole model, from any path. pack() is called once, after the model is built: it moves all tensors, in the order
  // in which they were made, into one buffer of values and one of gradients on the device. Earlier views of a tensor
  // (detach, first) keep the old values.
  struct Entry { std::string name; Tensor tensor; int64_t offset; };
  const std::vector<Entry>& entries() const;
  const Tensor& at(const std::string& name) const;                       // full dotted name; throws with did-you-mean
  void pack(Device = Device::cpu) const;
  Device device() const;                                                 // throws BadInput before pack()
  int64_t count() const;                                                 // number of scalars
  real* values() const;                                                  // (count); null before pack()
  real* grads() const;                                                   // (count)
  void clear_grads() const;                                              // sets all to 0

 private:
  struct Store;
  Tensor make(const std::string& name, Shape) const;
  template <class Draw>
  Tensor request(const std::string& name, Shape, const Draw&) const;     // a new one has values draw(rng)
  std::shared_ptr<Store> store_;
  std::string path_;
  bool shared_ = false;
};

}  // namespace poslab
