#include "lab/pages/page/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace poslab {
extern const std::string_view page_html, page_css;
extern const std::vector<std::pair<std::string_view, std::string_view>> page_modules;
}  // namespace poslab

namespace poslab::page {
namespace {

// Fills in the parts {{name}} of HTML. Text that is filled in may itself contain {{...}}, which stays.
std::string filled(std::string_view html, const std::map<std::string_view, std::string>& parts) {
  std::string made;
  for (size_t open; (open = html.find("{{")) != html.npos;) {
    const size_t close = html.find("}}", open);
    made += html.substr(0, open);
    made += parts.at(html.substr(open + 2, close - open - 2));
    html.remove_prefix(close + 2);
  }
  return made.append(html);
}

// Paragraphs and headings of Markdown, and {{name}}s.
std::vector<std::string> blocks_of(std::string markdown) {
  std::vector<std::string> all;
  while (markdown.ends_with('\n')) markdown.pop_back();
  for (size_t from = 0, end; from < markdown.size(); from = end + 2) {
    end = std::min(markdown.find("\n\n", from), markdown.size());
    all.push_back(markdown.substr(from, end - from));
  }
  return all;
}

}  // namespace

std::string file_of(const json& document, std::vector<std::string_view> modules, bool slides) {
  if (slides) modules.push_back("slides");
  std::string script = "\"use strict\";\n", kinds;
  const std::set<std::string_view> common = {"text", "scale", "theme", "element", "document"};
  for (const auto& [name, text] : page_modules) {
    const bool own = std::count(modules.begin(), modules.end(), name) > 0;
    if (own || common.count(name)) script += text;
    if (own) kinds += fmt::format("...${}, ", name);
  }
  script += fmt::format("$document.show_document(JSON.parse(document.getElementById(\"data\").textContent), {{{}}});\n",
                        kinds);
  if (slides) script += "$slides.show_slides();\n";
  return filled(page_html, {{"command", document["command"]},
                            {"style", std::string(page_css)},
                            {"data", script_safe(document)},
                            {"script", script}});
}

json section(const std::string& id, const std::string& title, json parts) {
  return {{"id", id}, {"title", title}, {"parts", std::move(parts)}};
}

json paragraph(const std::string& prose, const char* style) {
  return {{"kind", "prose"}, {"text", prose}, {"style", style}};
}

json table(const std::string& label, json columns, json rows) {
  return {{"kind", "table"}, {"label", label}, {"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

json column(const std::string& name, json form, const char* kind, const char* group) {
  json made = {{"name", name}};
  if (!form.is_null()) made["form"] = std::move(form);
  if (*kind) made["kind"] = kind;
  if (*group) made["group"] = group;
  return made;
}

std::string markdown(const Grid& grid) {
  const auto width = [](const std::string& cell) {  // in characters
    return std::count_if(cell.begin(), cell.end(), [](char c) { return (c & 0xc0) != 0x80; });
  };
  std::vector<std::vector<std::string>> rows = {grid.head, std::vector<std::string>(grid.head.size(), "---")};
  rows.insert(rows.end(), grid.rows.begin(), grid.rows.end());
  std::string text;
  for (const auto& row : rows) {
    for (size_t n = 0; n < row.size(); ++n) {
      std::ptrdiff_t widest = 0;
      for (const auto& one : rows) widest = std::max(widest, width(one[n]));
      text += fmt::format("| {}{} ", row[n], std::string(size_t(widest - width(row[n])), ' '));
    }
    text += "|\n";
  }
  return text;
}

json table(const Grid& grid) {
  json columns = json::array();
  for (const std::string& name : grid.head) columns.push_back(column(name.c_str()));
  json made = table(grid.caption, columns, grid.rows);
  made["caption"] = grid.caption, made["style"] = "figures";
  return made;
}

void append(json& list, const std::vector<json>& more) {
  for (const json& one : more) list.push_back(one);
}

json folded(const char* summary, json part, bool open) {
  part["fold"] = summary;
  if (open) part["open"] = true;
  return part;
}

json sections(std::string_view markdown, const std::map<std::string, json>& parts) {
  json all = json::array();
  const auto name_in = [](const std::string& block) { return block.substr(2, block.size() - 4); };
  const auto alone = [](const std::string& text) {
    return text.starts_with("{{") && text.find("}}") == text.size() - 2;
  };
  const auto add = [](json& to, json some) {
    if (some.is_array())
      for (json& one : some) to.push_back(std::move(one));
    else if (!some.is_null())
      to.push_back(std::move(some));
  };
  std::map<std::string_view, std::string> words;
  for (const auto& [name, part] : parts)
    if (part.is_string()) words[name] = part;
  for (const std::string& block : blocks_of(std::string(markdown))) {
    const bool heading = block.starts_with("## ");
    if (!heading && all.empty()) all.push_back(section("", "", json::array()));
    const std::string rest = heading ? block.substr(3) : block;
    if (alone(rest)) {
      add(heading ? all : all.back()["parts"], parts.at(name_in(rest)));
    } else if (heading) {
      const size_t id = rest.find(" {#");
      all.push_back(
          section(rest.substr(id + 3, rest.size() - id - 4), filled(rest.substr(0, id), words), json::array()));
    } else {
      const std::string text = filled(block, words);
      all.back()["parts"].push_back(text.starts_with("> ") ? paragraph(text.substr(2), "note") : json(text));
    }
  }
  return all;
}

std::string script_safe(const json& data) {
  std::string made;
  for (const char c : data.dump(-1, ' ', false, json::error_handler_t::replace)) {
    if (c == '<')
      made += "\\u003c";
    else
      made += c;
  }
  return made;
}

}  // namespace poslab::page
