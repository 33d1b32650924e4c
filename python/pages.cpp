// The program's pages, made by the same functions as on the command line.
#include "lab/pages/graph/graph.h"
#include "lab/pages/inspect/inspect.h"
#include "lab/pages/report/report.h"
#include "python/long_call.h"

namespace poslab::python {

void add_pages(nb::module_& m) {
  m.def(
      "report",
      [](const std::vector<std::string>& words, const std::string& out) {
        return long_call([&] { return report::text(words, out); });
      },
      "runs"_a, "out"_a);
  m.def(
      "inspect",
      [](const std::vector<std::string>& runs, const std::vector<int>& lengths, int samples, const std::string& out,
         const std::string& text, const std::string& device, bool force) {
        if (samples < 1 || samples > 8000) bad_input("samples is {}; give a number from 1 to 8000", samples);
        long_call([&] { return inspect::write(runs, lengths, samples, out, device, text, force), out; });
      },
      "runs"_a, "lengths"_a, "samples"_a, "out"_a, "text"_a, "device"_a, "force"_a);
  m.def(
      "graph",
      [](const std::string& run, const std::string& zoom, bool force) {
        const bool ops = word_of<bool>("zoom", zoom, {{"module", false}, {"op", true}});
        return long_call([&] {
          const graph::Graph tape = graph::of_run(run, force);
          return graph::html(ops ? tape : graph::by_module(tape));
        });
      },
      "run"_a, "zoom"_a, "force"_a);
}

}  // namespace poslab::python
