#include "lab/pages/web/web.h"

#include <fmt/format.h>

#include <memory>

#include "apps/all_commands.h"

namespace poslab {
namespace {

struct WebWords {
  std::vector<std::string> runs;
  std::string page = "past-the-edge.html";
};

}  // namespace

std::function<void()> add_web(CLI::App* web) {
  const auto w = std::make_shared<WebWords>();
  web->add_option("runs", w->runs, "run folders, at most four");
  web->add_option("-o,--out", w->page, "the page to write (past-the-edge.html)")->type_name("FILE");
  return [=] {
    web::write(w->runs, w->page);
    fmt::print("{}\n", w->page);
  };
}

}  // namespace poslab
