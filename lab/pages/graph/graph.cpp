#include "lab/pages/graph/graph.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "autograd/observe.h"
#include "autograd/tape.h"
#include "lab/pages/page/document.h"
#include "lab/runs/room.h"
#include "lab/runs/run.h"

namespace poslab::graph {
namespace {

double norm(const Tensor& x) {
  double squares = 0;
  for (const real v : x.values()) squares += double(v) * double(v);
  return std::sqrt(squares);
}

// Records a node for each op. Holds an op's results only as long as the tape does, so that memory use does not change.
class Recorder : public TapeWatch {
 public:
  explicit Recorder(const Params& params) {
    for (const Params::Entry& e : params.entries()) parameters_[e.tensor.data()] = e.name;
    last_ = Clock::now();
  }
  std::vector<Node> nodes;

  void after_forward(size_t, const char* op, const std::vector<Tensor>& results,
                     const std::vector<Tensor>& inputs) override {
    Node n{.name = op, .shape = results[0].shape(), .forward = since_last(), .gradient = std::nan("")};
    for (const Tensor& x : inputs) {
      if (!x) continue;
      if (const auto p = parameters_.find(x.data()); p != parameters_.end()) n.reads.push_back(p->second);
      if (const auto made = made_by_.find(x.data()); made != made_by_.end()) n.from.push_back(made->second);
    }
    std::sort(n.from.begin(), n.from.end());
    n.from.erase(std::unique(n.from.begin(), n.from.end()), n.from.end());
    for (const Tensor& y : results) made_by_[y.data()] = nodes.size(), n.bytes += y.size() * int64_t(sizeof(real));
    nodes.push_back(std::move(n));
    results_.push_back(results);
    last_ = Clock::now();
  }
  void before_backward(size_t at) override {
    double squares = 0;
    for (const Tensor& y : results_[at])
      if (y.has_grad()) squares += std::pow(norm(y.grad()), 2);
    nodes[at].gradient = std::sqrt(squares);
    last_ = Clock::now();
  }
  void after_backward(size_t at) override {
    nodes[at].backward = since_last();
    results_[at].clear();
  }

 private:
  using Clock = std::chrono::steady_clock;
  double since_last() const { return std::chrono::duration<double>(Clock::now() - last_).count(); }
  std::map<const real*, std::string> parameters_;
  std::map<const real*, size_t> made_by_;  // every result lives until its backward function has run
  std::vector<std::vector<Tensor>> results_;
  Clock::time_point last_;
};

// An op belongs to the layer of its parameters or, without any, to that of the previous op. Parameters of encodings and
// temperatures are read inside attention.
void name_modules(std::vector<Node>& nodes) {
  std::string module = "embedding";
  for (Node& n : nodes) {
    if (n.name == "cross_entropy") module = "loss";
    for (const std::string& name : n.reads) {
      const bool inside = ("." + name).find(".encoding.") != std::string::npos ||
                          ("." + name).find(".temperature.") != std::string::npos;
      if (!inside) module = name.find('.') == std::string::npos ? name : name.substr(0, name.rfind('.'));
    }
    n.module = module;
  }
}

constexpr int repeats = 5;

// Repeats a step, on the input of the run's next step. Gradients come from the first repeat, at the run's weights. Each
// time is the shortest of all repeats, because cold caches and other work only add to it.
std::vector<Node> watched(Learner& learner) {
  const std::any input = learner.draw_longest(learner.adam().step);
  std::vector<Node> all;
  for (int n = 0; n < repeats; ++n) {
    Recorder recorder(learner.params());
    learner.start(input), learner.finish();
    if (n == 0) all = recorder.nodes;
    for (size_t i = 0; i < all.size(); ++i) {
      all[i].forward = std::min(all[i].forward, recorder.nodes[i].forward);
      all[i].backward = std::min(all[i].backward, recorder.nodes[i].backward);
    }
  }
  name_modules(all);
  return all;
}

// The names of the parameters without the module's name, which has its own column.
std::string own_parameters(const Node& n) {
  std::vector<std::string> names;
  for (const std::string& name : n.reads)
    names.push_back(name.starts_with(n.module + ".") ? name.substr(n.module.size() + 1) : name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Graph of_run(const std::string& path, bool force) {
  const Run run = open_run(path, "cpu", nullptr, [force](const RunSpec& c) {
    if (!force) check_memory(c);
  });
  return {fmt::format("{}: a training step of {}", path, run.learner->batch_words()), watched(*run.learner)};
}

Graph by_module(const Graph& tape) {
  Graph made{tape.title, {}};
  std::vector<size_t> row;                                    // of each op
  std::vector<std::vector<std::pair<std::string, int>>> ops;  // ops of each row, with counts
  for (const Node& n : tape.nodes) {
    if (made.nodes.empty() || made.nodes.back().module != n.module)
      made.nodes.push_back({.module = n.module}), ops.emplace_back();
    const size_t at = made.nodes.size() - 1;
    Node& m = made.nodes[at];
    row.push_back(at);
    for (const size_t source : n.from)
      if (row[source] != at && !std::ranges::count(m.from, row[source])) m.from.push_back(row[source]);
    m.reads.insert(m.reads.end(), n.reads.begin(), n.reads.end());
    m.shape = n.shape, m.gradient = n.gradient;
    m.bytes += n.bytes, m.forward += n.forward, m.backward += n.backward;
    const auto same = std::ranges::find(ops[at], n.name, &std::pair<std::string, int>::first);
    if (same == ops[at].end())
      ops[at].emplace_back(n.name, 1);
    else
      ++same->second;
  }
  for (size_t n = 0; n < ops.size(); ++n)
    for (const auto& [op, times] : ops[n])
      made.nodes[n].name +=
          fmt::format("{}{}{}", made.nodes[n].name.empty() ? "" : ", ", times > 1 ? fmt::format("{} ", times) : "", op);
  return made;
}

nlohmann::json tape(const Graph& g) {
  nlohmann::json nodes = nlohmann::json::array();
  for (const Node& n : g.nodes)
    nodes.push_back({{"module", n.module},
                     {"name", n.name},
                     {"reads", own_parameters(n)},
                     {"from", n.from},
                     {"shape", to_string(n.shape)},
                     {"bytes", n.bytes},
                     {"forward", n.forward * 1e6},
                     {"backward", n.backward * 1e6},
                     {"gradient", n.gradient}});  // NaN becomes null
  return {{"kind", "tape"}, {"id", "tape"}, {"title", g.title}, {"nodes", nodes}};
}

std::string html(const Graph& g) {
  using page::json;
  const std::string reading =
      "Rows are in the order of the tape. An arc on the left joins a row to an input further above. A row shows the "
      "parameters that it reads, the shape of its result, microseconds forward and backward (the least of five steps), "
      "the bytes of its results, and the norm of their gradient.";
  return page::file_of({{"command", "graph"},
                        {"title", g.title},
                        {"lead", json::array({reading})},
                        {"sections", json::array({page::section("", "", json::array({tape(g)}))})}},
                       {"tape"});
}

}  // namespace poslab::graph
