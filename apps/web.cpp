#include "apps/all_commands.h"

#include <fmt/format.h>

#include <memory>

#include "lab/pages/web/web.h"

namespace poslab {
namespace {

struct WebWords {
  std::vector<std::string> runs;
  std::string page = "past-the-edge.html";
};

const char* web_footer = R"(
Writes one file that opens in a browser, without a network: four encodings fall past the edge or do not, any others
train there, by the engine of this program. Up to four runs of one task come with it as the lanes of the race: their
curves are there at once, and their models can be asked, looked into and trained on. docs/web.md has more.

Examples:
  poslab web -o page.html
  poslab web runs/plain runs/randomized -o page.html)";

}  // namespace

std::function<void()> add_web(CLI::App* web) {
  const auto w = std::make_shared<WebWords>();
  web->footer(web_footer);
  web->add_option("runs", w->runs, "run folders, at most four");
  web->add_option("-o,--out", w->page, "the page to write (past-the-edge.html)")->type_name("FILE");
  return [=] {
    web::write(w->runs, w->page);
    fmt::print("{}\n", w->page);
  };
}

}  // namespace poslab
