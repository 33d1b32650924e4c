// The tape of one training step of a run, as a page: `poslab graph`. It shows the ops in order, their inputs, times
// forward and backward, sizes of results, and norms of gradients.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace poslab::graph {

// A row of the page: an op of the tape, or all neighbouring ops of a module.
struct Node {
  std::string module, name;          // "block0.attention"; "linear", or "4 linear, 2 rotate, attention"
  std::vector<std::string> reads;    // parameters, by their dotted names
  std::vector<size_t> from;          // the nodes whose results it reads, without repeats, in order
  Shape shape;                       // shape of the (last) result
  int64_t bytes = 0;                 // of all results
  double forward = 0, backward = 0;  // seconds
  double gradient = 0;               // norm of d loss / d result; NaN without a gradient
};
struct Graph {
  std::string title;        // "runs/rope: a training step of 256 strings"
  std::vector<Node> nodes;  // in the order of the tape
};

// A step on the batch of the run's next one, on the CPU; the run is not changed. Times are the shortest of five steps.
// Throws BadInput as open_run() does and, unless `force`, if the memory seems too small; Failure if the step fails.
Graph of_run(const std::string& path, bool force = false);
Graph by_module(const Graph&);
// The graph as a part of a page's document, and as a figure: {"kind": "tape", "id", "title", "nodes"}; a node has its
// fields, with times in microseconds.
nlohmann::json tape(const Graph&);
std::string html(const Graph&);

}  // namespace poslab::graph
