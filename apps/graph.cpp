#include "lab/pages/graph/graph.h"

#include <fmt/format.h>

#include <memory>

#include "apps/all_commands.h"
#include "core/error.h"
#include "core/names.h"
#include "lab/files/files.h"
#include "lab/pages/page/print.h"

namespace poslab {
namespace {

struct GraphWords {
  std::string run, zoom = "module", out = "graph.html";
  bool force = false;
};

void run(const GraphWords& w) {
  if (w.zoom != "module" && w.zoom != "op") raise<BadInput>(unknown("--zoom", w.zoom, {"module", "op"}));
  check_output("-o", w.out, page::figure_outputs("a picture", "poslab graph"));
  page::check_figure(w.out, "");
  graph::Graph tape = graph::of_run(w.run, w.force);
  if (w.zoom == "module") tape = graph::by_module(tape);
  const auto figures = nlohmann::json::array({graph::tape(tape)});
  write_file(w.out, w.out.ends_with(".html") ? graph::html(tape) : page::figure_file(w.out, figures, ""));
  fmt::print("{}\n", w.out);
}

}  // namespace

std::function<void()> add_graph(CLI::App* graph) {
  const auto w = std::make_shared<GraphWords>();
  graph->add_option("run", w->run, "the run folder")->required();
  graph->add_option("--zoom", w->zoom, "a row for each module, or for each op")->type_name("module | op  (module)");
  add_force(graph, w->force);
  graph->add_option("-o,--out", w->out, "a page (.html), a picture (.svg, .pdf, .png, .pgf) or the numbers (.json)")
      ->type_name("FILE  (graph.html)");
  return [=] { run(*w); };
}

}  // namespace poslab
