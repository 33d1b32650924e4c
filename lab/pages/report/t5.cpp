#include "lab/pages/report/t5.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/pages/report/language.h"
#include "tasks/retrieval/retrieval.h"

namespace poslab {
extern const std::string_view t5_html;
}

namespace poslab::report {
namespace {

using namespace page;

std::string answered(const Line& line) {
  const Row& far = line.tested.back();
  std::string text = fmt::format("<span class=\"{}\">{}</span> answers {} of the questions at {} tokens",
                                 color_class(line.color), escape(line.name), percent(far["accuracy"]), far.length());
  for (const Row& near : line.tested)
    if (near.length() == line.train_length() && near.length() != far.length())
      text += fmt::format(", against {} at the trained length, {}", percent(near["accuracy"]), near.length());
  return text;
}

std::string lengths_table(const std::vector<Group>& groups) {
  std::string rows;
  for (const Group& g : groups)
    for (const Line& line : g.lines)
      for (const Row& at : line.tested)
        rows += fmt::format("<tr><th scope=\"row\">{}{}</th>", mark(line), escape(line.name)) +
                cell("task", "text", words(g.task)) + cell("tokens", "", fmt::format("{}", at.length())) +
                cell("questions", "", fmt::format("{}", at["samples"])) +
                cell("accuracy", "score", percent(at["accuracy"])) +
                cell("loss", "", fmt::format("{:.4f}", at["loss"])) + "</tr>\n";
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"All lengths\"><table class=\"runs\"><thead>"
      "<tr><th scope=\"col\" class=\"text\">run</th><th scope=\"col\" class=\"text\">task</th><th "
      "scope=\"col\">tokens</th><th scope=\"col\">questions</th><th scope=\"col\">accuracy</th><th "
      "scope=\"col\">loss</th></tr></thead><tbody>\n{}</tbody></table></div>\n",
      rows);
}

}  // namespace

std::string t5_reading(const Group& g) {
  std::vector<const Line*> all;
  for (const Line& line : g.lines) all.push_back(&line);
  const auto far = [](const Line* line) { return line->tested.back()["accuracy"]; };
  std::stable_sort(all.begin(), all.end(), [&](auto* a, auto* b) { return far(a) > far(b); });
  std::string text = fmt::format("<b>{}.</b> {}", heading(g), answered(*all.front()));
  if (all.size() > 1) text += "; " + answered(*all.back());
  if (all.size() > 2) text += fmt::format("; {} between them", all.size() == 3 ? "the other is" : "the others are");
  return text + ".";
}

std::string t5_page(const std::vector<Group>& groups, const std::string& notes, const std::string& out) {
  std::string readings, against, place, asked;
  Figures figures;
  for (size_t i = 0; i < groups.size(); ++i) {
    const Group& g = groups[i];
    const Chosen<Retrieval> task = choose_retrieval(g.task);
    readings += fmt::format("<p class=\"reading\">{}</p>\n", t5_reading(g));
    asked += fmt::format("<p><b>{}</b>: {}</p>\n", escape(g.task), prose(task->about));
    for (size_t m = 0; m < 2; ++m)
      against += figures.captioned(against_length(g, measures[m], false, fmt::format("length{}-{}", i, m)),
                                   m ? "Nats a symbol of the answer." : "The share of the questions of each length.");
    if (task->placed)
      place += figures.captioned(by_position(g, measures[0], false, fmt::format("place{}", i)),
                                 "A point is an eighth of the context.");
  }
  const Group& any = groups.front();  // all tasks of a run are learned together, in one training
  std::string trained = figures.losses(
      any, "",
      fmt::format("Mean cross-entropy of a training step, whose contexts grow at first. Faint: single steps{}. Strong: "
                  "the mean over the nearest 4&#8239;% of the run.",
                  any.has_seeds() ? " or seeds" : ""));
  trained +=
      figures.captioned(training_accuracy_chart(any, "training"), "The share of a step's answers that were right.");
  return report_page(groups, out, t5_html,
                     {{"title", title(groups)},
                      {"readings", readings + notes},
                      {"against", against},
                      {"place", place},
                      {"table", lengths_table(groups)},
                      {"asked", asked},
                      {"about", about(groups)},
                      {"training", training("Training", trained)},
                      {"data", script_safe(figures.data)}});
}

}  // namespace poslab::report
