// Text and numbers as the page shows them.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace poslab::page {

// HTML in which {{name}} has become the part of that name. A part that itself holds {{...}} is left unchanged.
std::string filled(std::string_view html, const std::map<std::string, std::string>& parts);

// A page from page.html, with its style and the script that draws pictures, which all pages share. `html`, the text
// between its header and its end, is filled with the parts. Every page has `title`, and `data`, the JSON that
// scripts read. `script`: the page's own, after figures.js.
std::string document(std::string_view html, const std::map<std::string, std::string>& parts,
                     std::string_view script = "");

// A page of document() as slides: one piece of a section at a time, which the arrow keys turn (slides.js).
std::string as_slides(std::string document);

// & < > " ' as entities; as XML has neither, a control character as its picture, and U+FFFD for invalid UTF-8
std::string escape(std::string_view text);
std::string prose(std::string_view text);             // escaped, and text between ` as code
std::string percent(double fraction);                 // 0.9987 -> 99.9 %; an en dash for NaN
std::string number(double x);                         // 5 digits: 0.001, 10001, 2.5e+06
std::string words(std::string identifier);            // even_pairs -> even pairs, escaped
std::string headed(const std::string& identifier);    // even_pairs -> Even pairs, escaped
std::string script_safe(const nlohmann::json& data);  // JSON that is safe inside <script>: no "<" in it

}  // namespace poslab::page
