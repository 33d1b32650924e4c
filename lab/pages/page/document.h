// A page: a document of data in one HTML file, with the modules of lab/page that draw it. lab/page/README.md describes
// documents; these functions make their parts.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lab/pages/page/prose.h"

namespace poslab::page {

using nlohmann::json;

// The file of a page. document: {"command", "title", "lead", "choices", "sections"}. modules: those of lab/page whose
// exports draw its parts, and their imports. slides: one piece of a section at a time, turned by the arrow keys
// (slides.mjs).
std::string file_of(const json& document, std::vector<std::string_view> modules, bool slides = false);

json section(const std::string& id, const std::string& title, json parts);
json paragraph(const std::string& prose, const char* style);  // style: "reading", "note"
json table(const std::string& label, json columns, json rows);
// form: "percent", "points", "signed" or the digits after the point. kind: "text", "quiet", "score". group: the name
// above it and its neighbours.
json column(const std::string& name, json form = nullptr, const char* kind = "", const char* group = "");
// A table for readers, with the same words in Markdown for terminals and in a part of a page.
struct Grid {
  std::string caption;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;  // the first cell of a row names it
};
std::string markdown(const Grid&);
json table(const Grid&);
void append(json& list, const std::vector<json>& more);
json folded(const char* summary, json part, bool open = false);

// The sections of a text in Markdown: "## Title {#id}", paragraphs, "> a note"; the first may lack a title. A
// {{name}} alone on a line becomes one or more parts; after "## ", sections or nothing (null); elsewhere, words.
json sections(std::string_view markdown, const std::map<std::string, json>& parts);

std::string script_safe(const json& data);  // JSON that is safe inside <script>: no "<" in it

}  // namespace poslab::page
