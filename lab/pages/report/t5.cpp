// The report of T5s on retrieval. A group consists of the runs that learned one task, alone or among others.
#include <fmt/format.h>

#include <algorithm>

#include "lab/pages/report/language.h"
#include "tasks/retrieval/retrieval.h"

namespace poslab {
extern const std::string_view t5_txt;
}

namespace poslab::report {
namespace {

using namespace page;

std::string answered(const Line& line) {
  const Row& far = line.tested.back();
  std::string text =
      fmt::format("{} answers {} of the questions at {} tokens", colored(line), percent(far["accuracy"]), far.length());
  for (const Row& near : line.tested)
    if (near.length() == line.train_length() && near.length() != far.length())
      text += fmt::format(", against {} at the trained length, {}", percent(near["accuracy"]), near.length());
  return text;
}

json lengths_table(const std::vector<Group>& groups) {
  json rows = json::array(), columns = columns_of("task");
  for (const Group& g : groups)
    for (const Line& line : g.lines)
      for (const Row& at : line.tested)
        rows.push_back({named(line), words(g.task), at.length(), at["samples"], at["accuracy"], at["loss"]});
  append(columns,
         {column("tokens", 0), column("questions", 0), column("accuracy", "percent", "score"), column("loss", 4)});
  return page::table("All lengths", columns, rows);
}

// The text with the numbers.
std::string t5_reading(const Group& g) {
  std::vector<const Line*> all;
  for (const Line& line : g.lines) all.push_back(&line);
  const auto far = [](const Line* line) { return line->tested.back()["accuracy"]; };
  std::stable_sort(all.begin(), all.end(), [&](auto* a, auto* b) { return far(a) > far(b); });
  std::string text = fmt::format("**{}.** {}", heading(g), answered(*all.front()));
  if (all.size() > 1) text += "; " + answered(*all.back());
  if (lengths_differ(g)) return text + "; the lengths differ, so the numbers do not compare.";
  if (all.size() > 2) text += fmt::format("; {} between them", all.size() == 3 ? "the other is" : "the others are");
  return text + ".";
}

}  // namespace

json t5_document(const std::vector<Group>& groups, const std::string& out) {
  json lead = json::array(), against = json::array(), place = json::array(), asked = json::array();
  for (size_t i = 0; i < groups.size(); ++i) {
    const Group& g = groups[i];
    const Chosen<Retrieval> task = choose_retrieval(g.task);
    lead.push_back(paragraph(t5_reading(g), "reading"));
    asked.push_back(fmt::format("**{}**: {}", literal(g.task), prose(task->about)));
    for (size_t m = 0; m < 2; ++m)
      against.push_back(captioned(against_length(g, measures[m], false, fmt::format("length{}-{}", i, m)),
                                  m ? "Nats a symbol of the answer." : "The share of the questions of each length."));
    if (task->placed)
      place.push_back(captioned(by_position(g, measures[0], false, fmt::format("place{}", i)),
                                "A point is an eighth of the context."));
  }
  const Group& any = groups.front();  // a run learns all its tasks in one training
  Chart loss = loss_chart(any, "loss");
  loss.caption = "Mean cross-entropy of a training step, whose contexts grow at first. " +
                 smoothing_caption(any, "steps");
  const json accuracy =
      captioned(training_accuracy_chart(any, "training"), "The share of a step's answers that were right.");
  return document_of(groups, out, title(groups), lead, t5_txt,
                     {{"against", against},
                      {"place", place},
                      {"table", json::array({lengths_table(groups)})},
                      {"asked", asked},
                      {"training", section("loss", "Training", {chart_json(loss), accuracy})}});
}

}  // namespace poslab::report
