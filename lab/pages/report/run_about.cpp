#include "lab/pages/report/run_about.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "encodings/encoding.h"
#include "lab/pages/page/html.h"
#include "lab/runs/naming.h"
#include "tasks/task.h"

namespace poslab {
namespace {

using page::escape, page::headed, page::prose;

std::vector<std::string> each_once(const std::vector<std::string>& all) {
  std::vector<std::string> kept;
  for (const std::string& one : all)
    if (std::find(kept.begin(), kept.end(), one) == kept.end()) kept.push_back(one);
  return kept;
}

template <class Tell>
std::string paragraphs(const std::vector<std::string>& spellings, const Tell& tell) {
  std::string text;
  for (const std::string& spelled : each_once(spellings)) {
    try {
      text += tell(spelled);
    } catch (const BadInput&) {
    }
  }
  return text;
}

std::string of_task(const std::string& spelled) {
  const Chosen<Task> t = choose("task", all_tasks(), spelled);
  const Task& made = task(spelled);
  const TaskExample e = example(made);
  return fmt::format("<p><b>{}.</b> {} For example <code>{}</code> has the answer <code>{}</code>.</p>\n",
                     headed(spelled), prose(t->about), escape(written_input(made, e.input)),
                     written_answer(e.answer));
}

std::string of_encoding(const std::string& spelled) {
  const Chosen<Scheme> s = choose_encoding(spelled);
  return fmt::format("<p><b>{}</b> ({}). {} <code class=\"formula\">{}</code></p>\n", escape(shortened(spelled)),
                     escape(s->pages.source),
                     prose(s->pages.about.empty() ? s->pages.summary + "." : s->pages.about), escape(s->pages.formula));
}

}  // namespace

std::string about_section(const std::vector<std::string>& tasks, const std::vector<std::string>& encodings) {
  const std::string asked = paragraphs(tasks, of_task), encoded = paragraphs(encodings, of_encoding);
  if (asked.empty() && encoded.empty()) return {};
  return fmt::format("<section aria-labelledby=\"about\">\n<h2 id=\"about\">{}</h2>\n{}{}</section>\n",
                     asked.empty() ? "How positions are encoded" : "What is asked, and how positions are encoded",
                     asked, encoded);
}

}  // namespace poslab
