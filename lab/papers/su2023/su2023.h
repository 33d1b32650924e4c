// The third source (Su 2023, kexue.fm/archives/9708; spec C.3): ways of stretching RoPE to unseen lengths, on language
// models. A few models are trained, and each is tested with many schemes in place of its own, without training.
#pragma once
#include "lab/papers/models.h"

namespace poslab::reproduce::su2023 {

// The trained lengths of the tests, and those of su2023:far, `far`; also k of PI and NTK.
constexpr int stretch = 8, far = 32;

// The setup that a size and --set give.
struct Setup {
  Settings all, llama;
  int seeds;
  std::string note;
  int length() const;  // trained, in tokens
  int window(int eighths) const { return length() * eighths / 8; }
};
// sets: KEY=VALUE, options of `poslab lm train`, or seeds=N. Throws BadInput.
Setup setup(const std::string& size, const std::vector<std::string>& sets);

std::vector<Model> models(const Setup&);  // in the order of their training

// A trained model with another scheme or temperature in its place.
struct Method {
  std::string name;  // "ReRoPE-w32-logn": its name in the source's tables, and in files
  std::string model;
  std::string encoding = {}, temperature = {};  // "": as trained
  std::string source = {};                      // its row in the source's table, whose windows are for length 512
  std::string times = {};                       // lengths of its test, in trained lengths; "": those of the training
  ModelTest test() const;
};
enum class LogN { off, at_test, trained };
// A scheme in place of RoPE: "NTK-RoPE" and "-fixed" make "NTK-RoPE-logn-fixed". source: the first half in the source.
Method stretched(const Setup&, LogN, const std::string& name, const std::string& encoding, const std::string& end = {},
                 const std::string& source = {});
Method rerope(const Setup&, LogN, int eighths, int leaky = 0);  // window: in eighths of the trained length
Method as_it_is(LogN);                                          // RoPE itself, "Baseline"

// The rows of the tables, and other tests.
std::vector<Method> main_methods(const Setup&), window_methods(const Setup&), leaky_methods(const Setup&),
    llama_methods(const Setup&), untrained_methods(const Setup&), trained_methods(const Setup&),
    length_methods(const Setup&), far_methods(const Setup&), claim_methods(const Setup&);
Method no_distances();  // ReRoPE with w = 0: the model with RoPE, tested without positions

ModelSource source(const ModelRequest&);  // throws as setup()

}  // namespace poslab::reproduce::su2023
