#include "lab/reproduce.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "autograd/tape.h"
#include "core/error.h"
#include "core/names.h"
#include "lab/files.h"
#include "lab/report/html.h"
#include "lab/version.h"

namespace poslab {
extern const std::string_view reproduce_html;
}

namespace poslab::reproduce {
namespace {

using nlohmann::json;

std::string toml(const Size& size, const Trials& trials, const Settings& settings) {
  Lines lines = size.head;
  for (const auto& [key, value] : trials.keys) {
    if (key == "seeds") lines.erase("seed");
    lines[key] = value;
  }
  for (const auto& [key, value] : settings) {
    if (key == "seeds" || key == "seed") lines.erase("seeds"), lines.erase("seed");
    lines[key] = value;
  }
  std::string text;
  for (const auto& [key, value] : lines) text += fmt::format("{} = {}\n", key, value);
  return text + trials.also;
}

void check_names(const std::string& kind, const std::vector<std::string>& asked) {
  const std::vector<std::string> known = option(kind).names();
  for (const std::string& name : asked)
    if (std::find(known.begin(), known.end(), name) == known.end()) throw BadInput(unknown(kind, name, known));
}

bool wanted(const std::vector<std::string>& asked, const std::string& name) {
  return asked.empty() || std::find(asked.begin(), asked.end(), name) != asked.end();
}

std::string short_name(const Exhibit& e) { return e.name.substr(e.name.find(':') + 1); }  // table1

// "132 of 134 trials done; 1 failed, 1 to do", and why they failed.
std::vector<std::string> standing(const Outcomes& outcomes) {
  if (!outcomes.planned()) return {};
  if (outcomes.missing().empty()) return {fmt::format("All {} trials are done.", outcomes.planned())};
  std::vector<TrialState> states;
  for (const Missing& m : outcomes.missing()) states.push_back(m.state);
  std::vector<std::string> said = {
      fmt::format("{} of {} trials are done; {}.", outcomes.done().size(), outcomes.planned(), to_string(count(states)))};
  for (const Missing& m : outcomes.missing())
    if (!m.reason.empty())
      said.push_back(fmt::format("{}: {}, {} ({}): {}", name_of(m.state), m.trial->config.task, m.trial->config.encoding, m.trial->config.positions, m.reason));
  return said;
}

std::string markdown_of(const Exhibit& e, const Section& s, const std::vector<std::string>& standing) {
  std::string text = fmt::format("## {}\n\n{}\n\n", e.title, e.source);
  for (const std::string& one : s.readings) text += fmt::format("{}\n\n", one);
  for (const Grid& g : s.grids) text += fmt::format("{}:\n\n{}\n", g.caption, markdown(g));
  for (const auto* list : {&s.notes, &standing})
    for (const std::string& one : *list) text += fmt::format("- {}\n", one);
  return text + fmt::format("- The numbers: {}.csv{}\n\n", short_name(e), s.pictures.empty() ? "" : "; the pictures: index.html");
}

std::string section_of(const Exhibit& e, const Section& s, const std::vector<std::string>& standing) {
  using report::escape;
  std::string html = fmt::format("<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n<p>{2}</p>\n", short_name(e), escape(e.title), escape(e.source));
  for (const std::string& one : s.readings) html += fmt::format("<p class=\"reading\">{}</p>\n", escape(one));
  for (const Grid& g : s.grids) html += reproduce::html(g);
  for (const Picture& p : s.pictures) html += p.html;
  for (const auto* list : {&s.notes, &standing})
    for (const std::string& one : *list) html += fmt::format("<p class=\"note\">{}</p>\n", escape(one));
  return html + fmt::format("<p class=\"note\"><a href=\"{0}.csv\">{0}.csv</a></p></section>\n", short_name(e));
}

void merge(json& all, const json& one) {
  if (one.contains("charts")) for (const json& chart : one["charts"]) all["charts"].push_back(chart);
  if (one.contains("maps")) all["maps"].update(one["maps"]);
}

std::string made_by() {
  std::string text;
  for (const auto& [name, word] : about())
    if (name == "commit" || name == "isa" || name == "threads" || name == "scalar") text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, word);
  return text;
}

}  // namespace

std::vector<Planned> plan(const Asked& asked) {
  const Size& s = size(asked.size);
  check_names("task", asked.tasks), check_names("encoding", asked.encodings);
  std::vector<Planned> all;
  for (const Exhibit* e : exhibits(asked.what)) {
    Planned p{e, {}};
    if (e->trials)
      for (Trial& t : make_plan(toml(s, e->trials(s), asked.settings), e->name))
        if (wanted(asked.tasks, t.config.task) && wanted(asked.encodings, t.config.encoding)) p.plan.push_back(std::move(t));
    all.push_back(std::move(p));
  }
  const auto trains = [](const Planned& p) { return p.exhibit->trials != nullptr; };
  if (std::any_of(all.begin(), all.end(), trains) && all_trials(all).empty())
    bad_input("{} has no trial with {} {}; ask for others, or for all", fmt::join(asked.what, " "), fmt::join(asked.tasks, ", "), fmt::join(asked.encodings, ", "));
  return all;
}

Plan all_trials(const std::vector<Planned>& planned) {
  Plan all;
  std::set<std::string> seen;
  for (const Planned& p : planned)
    for (const Trial& t : p.plan)
      if (seen.insert(t.id).second) all.push_back(t);
  return all;
}

std::string write(const std::vector<Planned>& planned, const Asked& asked, const std::string& folder, const std::string& command) {
  const NoGrad no_grad;
  const Size& s = size(asked.size);
  const SweepFolder runs(folder + "/runs");
  const Plan everything = all_trials(planned);
  const std::string summary = fmt::format("{}", fmt::join(standing(Outcomes(everything, runs)), " "));
  const std::string title = fmt::format("{}: size {}", source_title(*planned[0].exhibit), s.name);
  std::string text, sections, contents;
  json data = {{"charts", json::array()}, {"maps", json::object()}};
  for (const Planned& p : planned) {
    const Exhibit& e = *p.exhibit;
    const Outcomes outcomes(p.plan, runs);
    const Section section = e.draw(outcomes, s);
    const std::vector<std::string> stands = standing(outcomes);
    const std::string one = markdown_of(e, section, stands);
    write_file(fmt::format("{}/{}.csv", folder, short_name(e)), to_csv(section.data));
    write_file(fmt::format("{}/{}.md", folder, short_name(e)), one);
    text += one;
    sections += section_of(e, section, stands);
    contents += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", short_name(e), report::escape(e.title));
    for (const Picture& picture : section.pictures) merge(data, picture.data);
  }
  write_file(folder + "/trials.csv", to_csv(collect(everything, runs)));
  write_file(folder + "/README.md", fmt::format("# {}\n\n{}\n\n    {}\n\n{}", title, summary, command, text));
  write_file(folder + "/index.html", report::page(reproduce_html, {{"title", report::escape(title)}, {"summary", report::escape(summary)},
                                                  {"contents", contents}, {"sections", sections}, {"command", report::escape(command)},
                                                  {"made", report::escape("Drawn by: " + made_by() + ". Which commit trained a run, and how long it took, is in trials.csv.")},
                                                  {"data", report::script_safe(data)}}));
  return summary;
}

}  // namespace poslab::reproduce
