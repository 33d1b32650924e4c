// A checkpoint is one safetensors file: 8 bytes with the header's length (little-endian), a JSON header, then the
// numbers. Any reader of the format opens it; the weights have their dotted names, Adam's moments are "adam.m" and
// "adam.v", laid out like all weights one after the other. Equal states give equal bytes: no clock, path, thread count.
//
//   __metadata__: {"crc32", "format", "step", "seed", "config"}; crc32 is that of the whole file with eight zeros in
//   its place
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "experiment/state.h"
#include "lab/files/safetensors.h"
#include "lab/runs/values.h"

namespace poslab {

// The parts of a model in training, of any kind, that go into a checkpoint.
struct Saved {
  const Params& params;
  const Adam& adam;
  int64_t seed;
  std::string config;                            // as TOML
  std::string format = strings_kind().format;
};
std::string checkpoint_bytes(const Saved&);
class Checkpoint {
 public:
  // Throws BadInput for another kind, version or scalar type, and Failure if a byte is missing or wrong. `path` is for
  // messages.
  Checkpoint(std::string bytes, std::string path, const Kind& = strings_kind());
  ~Checkpoint();
  std::string config() const;                    // as TOML
  int64_t step() const;
  std::vector<NamedTensor> tensors() const;       // as in the file: parameters, adam.m, adam.v
  // While this object lives, a model made on this thread may have no more weights than the file; a larger one throws
  // Failure before it takes memory (core/params.h).
  void read_into(const Params&, Adam&) const;    // weights, moments, step; throws BadInput for other shapes

 private:
  struct Parsed;
  std::unique_ptr<const Parsed> parsed_;
};
std::string checkpoint_bytes(const State&);
// Throws BadInput for another version or scalar type, and Failure if a byte is missing or wrong. `path` is for
// messages. device: where training continues; "": the run's.
State checkpoint_state(const std::string& bytes, const std::string& path, const std::string& device = "");

}  // namespace poslab
