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

// Fills in the parts {{name}} of HTML. A part that itself contains {{...}} is left unchanged.
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

std::string assembled(const json& document, const std::vector<std::string_view>& modules, bool slides) {
  std::string script = "\"use strict\";\n";
  std::string kinds;
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

// A paragraph or a heading of Markdown, or {{name}}.
std::vector<std::string> blocks_of(std::string_view markdown) {
  std::vector<std::string> all;
  for (size_t end; !markdown.empty(); markdown.remove_prefix(end)) {
    end = std::min(markdown.find("\n\n"), markdown.size());
    std::string block(markdown.substr(0, end));
    while (block.ends_with('\n')) block.pop_back();
    if (!block.empty()) all.push_back(std::move(block));
    end = std::min(end + 2, markdown.size());
  }
  return all;
}

}  // namespace

std::string file_of(const json& document, const std::vector<std::string_view>& modules) {
  return assembled(document, modules, false);
}

std::string slides_of(const json& document, std::vector<std::string_view> modules) {
  modules.push_back("slides");
  return assembled(document, modules, true);
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

json column(const char* name, json form, const char* kind) {
  json made = {{"name", name}};
  if (!form.is_null()) made["form"] = std::move(form);
  if (*kind) made["kind"] = kind;
  return made;
}

std::string markdown(const Grid& grid) {
  std::string text;
  const auto add = [&text](const std::vector<std::string>& cells) {
    for (const std::string& cell : cells) text += fmt::format("| {} ", cell);
    text += "|\n";
  };
  add(grid.head);
  for (size_t n = 0; n < grid.head.size(); ++n) text += "|---";
  text += "|\n";
  for (const auto& row : grid.rows) add(row);
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

void append_columns(json& columns, const char* group, std::vector<json> more) {
  for (json& one : more) one["group"] = group;
  append(columns, more);
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
  for (const std::string& block : blocks_of(markdown)) {
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
