// The third source (Su 2023, kexue.fm/archives/9708; spec C.3): ways of stretching RoPE to unseen lengths, on language
// models. A few models are trained, and each is tested with many schemes in place of its own, without training.
// lab/papers/artifacts.toml lists models, methods, and the methods of each table.
#pragma once
#include "lab/papers/models.h"

namespace poslab::reproduce::su2023 {

// The setup that a size and --set give.
struct Setup {
  Settings all, llama;
  int seeds;
  std::string note;
};
// sets: KEY=VALUE, options of `poslab lm train`, or seeds=N. Throws BadInput.
Setup setup(const std::string& size, const std::vector<std::string>& sets);

std::vector<Model> models(const Setup&);  // in the order of their training
ModelSource source(const ModelRequest&);  // throws as setup()

}  // namespace poslab::reproduce::su2023
