#include "lab/pages/report/run_about.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "core/error.h"
#include "encodings/encoding.h"
#include "experiment/kind.h"
#include "lab/runs/naming.h"
#include "lab/runs/text_source.h"
#include "tasks/task.h"

namespace poslab {
namespace {

using page::headed, page::json, page::literal, page::prose;

// Each spelling once.
template <class Describe>
void describe(json& parts, const std::vector<std::string>& spellings, const Describe& describe) {
  std::set<std::string> seen;
  for (const std::string& spelled : spellings) {
    if (!seen.insert(spelled).second) continue;
    try {
      parts.push_back(describe(spelled));
    } catch (const BadInput&) {  // A name that this program does not know has no description.
    }
  }
}

json of_task(const std::string& spelled) {
  const Chosen<Task> t = choose("task", all_tasks(), spelled);
  const Task& made = task(spelled);
  const TaskExample e = example(made);
  return fmt::format("**{}.** {} For example `{}` has the answer `{}`.", literal(headed(spelled)), prose(t->about),
                     literal(written_input(made, e.input)), literal(written_answer(e.answer)));
}

json of_encoding(const std::string& spelled) {
  const Chosen<Scheme> s = choose_encoding(spelled);
  const std::string about = s->pages.about.empty() ? s->pages.summary + "." : s->pages.about;
  return {{"kind", "prose"},
          {"text", fmt::format("**{}** ({}). {}", literal(shortened(spelled)), literal(s->pages.source), prose(about))},
          {"formula", s->pages.formula}};
}

}  // namespace

std::string heading_of(const std::string& folder, const Choices& c) {
  if (c.has("task")) return headed(c["task"]);
  if (std::filesystem::exists(folder + "/text.json")) return text_of(folder).path;
  return c[kind_of(c).studied];
}

json about_section(const std::vector<std::string>& tasks, const std::vector<std::string>& encodings) {
  json parts = json::array();
  describe(parts, tasks, of_task);
  const bool asked = !parts.empty();
  describe(parts, encodings, of_encoding);
  if (parts.empty()) return nullptr;
  return page::section("about", asked ? "What is asked, and how positions are encoded" : "How positions are encoded",
                       parts);
}

}  // namespace poslab
