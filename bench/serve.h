// poslab's side of bench/compare.py: answers each line with a command by a line of JSON.
//
// The peers (bench/peers/) answer the same lines, except `size` and `lengths`. A size "20+20" is 20 input symbols and
// 20 output slots; for a causal decoder it is "0+256", because each of its slots is an output. A step's time includes
// drawing its inputs.
//
//   (at the start)                      {"program", "threads", "isa", "blas", "products", "symbols_in",
//                                       "symbols_out"}; a decoder adds "layers", "d_model" and "d_ff"
//   size N                              {"size": of a batch with inputs of length N}
//   lengths N                           {"sizes": of the first N steps of a run with the example preset's curriculum}
//   warm steps|eval SIZE...             compiles and warms up, so that later commands run at full speed
//   steps SIZE...                       {"ms": [a time for each], "loss": of the last}   draw, forward, backward, Adam
//   eval SIZE...                        {"ms": ..., "accuracy": of the last}          draw, forward without tape, score
//   check steps|eval SIZE FILE          {"tensors": [[name, size], ...]}: loss, logits and all gradients (steps), or
//                                       the logits (eval), in FILE as float32 in a row, at the weights, tokens and
//                                       positions of tests/support/formula.h, dropout off
#pragma once
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/params.h"
#include "experiment/config.h"

namespace poslab {

// A timed model.
class Served {
 public:
  using json = nlohmann::json;
  virtual ~Served() = default;
  virtual const Params& params() const = 0;
  virtual json sizes() const = 0;                       // the model's part of the line that is printed first
  virtual std::string size(int length) const = 0;
  virtual json lengths(int steps) const = 0;
  virtual json steps(std::istream& sizes) = 0;
  virtual double evaluate(const std::string& size) = 0;  // the accuracy
  struct Checked { Tensor logits, loss; };               // the loss is only computed along with gradients
  virtual Checked checked(bool training, const std::string& size) = 0;

  using Clock = std::chrono::steady_clock;
  static double ms_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }
};

void serve(Served&, std::istream& = std::cin, std::ostream& = std::cout);    // until the end of input
// The 5-layer model: options of a run (experiment/config.h).
void serve_encoder(const Settings&, std::istream& = std::cin, std::ostream& = std::cout);
// The causal decoder at its standard size: options of `poslab lm train`, windows of random tokens.
void serve_decoder(const Settings&);

}  // namespace poslab
