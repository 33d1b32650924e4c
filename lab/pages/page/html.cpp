#include "lab/pages/page/html.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <cmath>

#include "core/ascii.h"

namespace poslab {
extern const std::string_view page_html, page_css, svg_css, figures_js, slides_js;
}

namespace poslab::page {

namespace {

// Links to the headings of a page that has many, for the side of a wide screen.
std::string contents(const std::string& body) {
  std::string links;
  int headings = 0;
  const std::string open = "<h2 id=\"", close = "</h2>";
  for (size_t at = 0; (at = body.find(open, at)) != body.npos; ++headings) {
    const size_t id = at + open.size(), quote = body.find('"', id), text = body.find('>', quote) + 1;
    at = body.find(close, text);
    links +=
        fmt::format("<li><a href=\"#{}\">{}</a></li>\n", body.substr(id, quote - id), body.substr(text, at - text));
  }
  return headings < 3 ? "" : fmt::format("<nav class=\"side\" aria-label=\"Contents\"><ul>\n{}</ul></nav>\n", links);
}

}  // namespace

std::string filled(std::string_view html, const std::map<std::string, std::string>& parts) {
  std::string made;
  std::string_view rest = html;
  for (size_t open; (open = rest.find("{{")) != rest.npos;) {
    const size_t close = rest.find("}}", open);
    const std::string name(rest.substr(open + 2, close - open - 2));
    made += rest.substr(0, open);
    made += parts.at(name);
    rest.remove_prefix(close + 2);
  }
  return made.append(rest);
}

std::string document(std::string_view html, const std::map<std::string, std::string>& parts, std::string_view script) {
  const std::string body = filled(html, parts);
  return filled(page_html, {{"title", parts.at("title")},
                            {"page.css", std::string(page_css)},
                            {"svg.css", std::string(svg_css)},
                            {"contents", contents(body)},
                            {"body", body},
                            {"data", parts.at("data")},
                            {"figures.js", std::string(figures_js)},
                            {"own.js", std::string(script)}});
}

std::string as_slides(std::string document) {
  return document.insert(document.rfind("</body>"), fmt::format("<script>\n{}</script>\n", slides_js));
}

std::string escape(std::string_view text) {
  std::string made;
  for (size_t at = 0; at < text.size();) {
    utf8proc_int32_t code;
    const auto* from = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
    const utf8proc_ssize_t size = utf8proc_iterate(from, utf8proc_ssize_t(text.size() - at), &code);
    const std::string_view character = text.substr(at, size > 0 ? size_t(size) : 1);
    at += character.size();
    if (size <= 0)
      made += "\uFFFD";
    else if (code == '&')
      made += "&amp;";
    else if (code == '<')
      made += "&lt;";
    else if (code == '>')
      made += "&gt;";
    else if (code == '"')
      made += "&quot;";
    else if (code == '\'')
      made += "&#39;";
    else if (code < ' ' && code != '\n' && code != '\t')
      made += fmt::format("\xe2\x90{}", char(0x80 + code));  // U+2400 and on: their pictures
    else
      made += character;
  }
  return made;
}

std::string prose(std::string_view text) {
  std::string made = escape(text);
  bool open = false;
  for (size_t at = 0; (at = made.find('`', at)) != made.npos; open = !open)
    made.replace(at, 1, open ? "</code>" : "<code>");
  return made;
}

std::string percent(double fraction) {
  return std::isnan(fraction) ? "–" : fmt::format("{:.1f}&#8239;%", 100 * fraction);
}

std::string number(double x) { return std::isnan(x) ? "–" : fmt::format("{:.5g}", x); }

std::string words(std::string identifier) {
  std::replace(identifier.begin(), identifier.end(), '_', ' ');
  return escape(identifier);
}

std::string headed(const std::string& identifier) {
  std::string text = words(identifier);
  if (!text.empty()) text[0] = ascii::upper(text[0]);
  return text;
}

std::string script_safe(const nlohmann::json& data) {
  std::string made;
  for (const char c : data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) {
    if (c == '<')
      made += "\\u003c";
    else
      made += c;
  }
  return made;
}

}  // namespace poslab::page
