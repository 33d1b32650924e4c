// The page of a tape shows a step as it ran, and leaves the run unchanged.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "autograd/observe.h"
#include "autograd/ops.h"
#include "autograd/tape.h"
#include "lab/pages/graph/graph.h"
#include "lab/runs/run_folder.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;

namespace {

struct Told : TapeWatch {
  std::vector<std::string> told;
  void after_forward(size_t before, const char* op, const std::vector<Tensor>& results,
                     const std::vector<Tensor>& inputs) override {
    told.push_back(fmt::format("{} {} {} {}", before, op, to_string(results[0].shape()), inputs.size()));
  }
  void before_backward(size_t at) override { told.push_back(fmt::format("before {}", at)); }
  void after_backward(size_t at) override { told.push_back(fmt::format("after {}", at)); }
};

}  // namespace

TEST_CASE("graph: a watch sees each op of the tape and each derivative, in order, while it lives") {
  clear_tape();                                    // entries from an earlier test
  Tensor x = Tensor::full({2, 3}, 1).require_grad();
  std::vector<std::string> told;
  {
    Told watch;
    const Tensor unread = exp(x), y = x * 2;
    {
      const NoGrad off;
      exp(y);
    }
    backward(sum_all(y));
    told = watch.told;
  }
  CHECK(told == std::vector<std::string>{"0 exp (2, 3) 1", "1 mul (2, 3) 2", "2 sum (1) 1", "before 2", "after 2",
                                         "before 1", "after 1"});
  sum_all(x);
  CHECK(told.size() == 7);
  clear_tape();
}

TEST_CASE("graph: rows are the ops of a step, modules are sums over their ops, and the run is unchanged") {
  const TemporaryFolder folder;
  RunFolder::create(folder / "a<b", State(tiny_config()));
  const std::string before = read_file(folder / "a<b/checkpoint.safetensors");
  const graph::Graph tape = graph::of_run(folder / "a<b"), modules = graph::by_module(tape);
  CHECK(read_file(folder / "a<b/checkpoint.safetensors") == before);
  for (const graph::Graph* g : {&tape, &modules}) {
    CHECK(g->nodes.front().module == "embedding");
    CHECK(g->nodes.back().name == "cross_entropy");
    CHECK(g->nodes.back().gradient == 1);
    CHECK(g->nodes.back().from == std::vector<size_t>{g->nodes.size() - 2});
    const graph::Node& head = g->nodes[g->nodes.size() - 2];
    CHECK(head.module == "head");
    CHECK(head.reads == std::vector<std::string>{"head.w", "head.b"});
    CHECK(head.shape == Shape{16, 6, 2});
    CHECK(head.bytes == 16 * 6 * 2 * sizeof(real));
    for (size_t n = 0; n < g->nodes.size(); ++n) {
      const graph::Node& node = g->nodes[n];
      CHECK(!(node.from.empty() && node.reads.empty()));
      CHECK(std::all_of(node.from.begin(), node.from.end(), [&](size_t source) { return source < n; }));
      CHECK((node.forward > 0 && node.backward > 0 && node.gradient > 0));
    }
  }
  const auto sum = [](const graph::Graph& g, auto of) {
    return std::accumulate(g.nodes.begin(), g.nodes.end(), 0.,
                           [&](double s, const graph::Node& n) { return s + double(of(n)); });
  };
  CHECK(sum(tape, [](auto& n) { return n.bytes; }) == sum(modules, [](auto& n) { return n.bytes; }));
  CHECK(sum(tape, [](auto& n) { return n.forward; }) ==
        doctest::Approx(sum(modules, [](auto& n) { return n.forward; })));
  std::vector<std::string> names;
  for (const graph::Node& n : modules.nodes) names.push_back(n.module);
  CHECK(names == std::vector<std::string>{"embedding", "block0.attention", "block0.norm1", "block0.ffn", "block0.norm2",
                                          "block1.attention", "block1.norm1", "block1.ffn", "block1.norm2", "head",
                                          "loss"});
  const auto document = document_in(graph::html(modules)), part = parts_in(document, "kind", "tape")[0];
  CHECK(holds(document["title"].get<std::string>(), "a<b: a training step of 16 strings"));
  CHECK(part["nodes"].size() == modules.nodes.size());
  CHECK(part["nodes"][9]["reads"] == "w, b");
  CHECK(part["nodes"][9]["shape"] == "(16, 6, 2)");
}
