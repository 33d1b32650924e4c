#include "encodings/own.h"

#include "core/add_own.h"

namespace poslab {

void add_encoding(Scheme scheme) {
  static const size_t ours = all_encodings().size();
  add_own(list_of_encodings(), ours, "an encoding", std::move(scheme));
}

void add_sampler(Sampler sampler) {
  static const size_t ours = all_samplers().size();
  add_own(list_of_samplers(), ours, "a sampler", std::move(sampler));
}

}  // namespace poslab
