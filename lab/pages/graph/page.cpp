#include <fmt/ranges.h>

#include "lab/pages/graph/graph.h"
#include "lab/pages/page/document.h"

namespace poslab::graph {
namespace {

// The names of the parameters without the module's name, which has its own column.
std::string own_parameters(const Node& n) {
  std::vector<std::string> names;
  for (const std::string& name : n.reads)
    names.push_back(name.starts_with(n.module + ".") ? name.substr(n.module.size() + 1) : name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

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
      "Rows are in the order of the tape. An arc on the left joins a row to what it reads further above. A row has the "
      "parameters that it reads, the shape of its result, microseconds forward and backward (the least of five steps), "
      "the bytes of its results, and the norm of the gradient that came back to it.";
  return page::file_of({{"command", "graph"},
                        {"title", g.title},
                        {"lead", json::array({reading})},
                        {"sections", json::array({page::section("", "", json::array({tape(g)}))})}},
                       {"tape"});
}

}  // namespace poslab::graph
