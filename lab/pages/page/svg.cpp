#include "lab/pages/page/svg.h"

#include <fmt/ranges.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

namespace poslab {
extern const std::string_view page_css, svg_css;
}

namespace poslab::page {
namespace {

using Declarations = std::map<std::string, std::string>;
struct Rule {
  std::vector<std::string> classes;  // an element has all of them
  Declarations says;
};

std::string trimmed(std::string_view text) {
  const size_t from = text.find_first_not_of(" \n"), to = text.find_last_not_of(" \n");
  return from == text.npos ? "" : std::string(text.substr(from, to + 1 - from));
}

std::vector<std::string> parted(std::string_view text, char at) {
  std::vector<std::string> parts;
  std::istringstream rest{std::string(text)};
  for (std::string part; std::getline(rest, part, at);)
    if (std::string word = trimmed(part); !word.empty()) parts.push_back(std::move(word));
  return parts;
}

Declarations declarations(std::string_view block) {
  Declarations all;
  for (const std::string& one : parted(block, ';'))
    if (const size_t colon = one.find(':'); colon != one.npos)
      all[trimmed(one.substr(0, colon))] = trimmed(one.substr(colon + 1));
  return all;
}

// page.css's variables: of the first :root, and for the dark palette the second's over them.
Declarations palette(bool dark) {
  const auto root = [](size_t after) {
    const size_t from = page_css.find(":root {", after) + 7;
    return declarations(page_css.substr(from, page_css.find('}', from) - from));
  };
  Declarations all = root(0);
  if (dark)
    for (auto& [name, value] : root(page_css.find("prefers-color-scheme: dark"))) all[name] = value;
  return all;
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = [] {
    std::string css(svg_css);
    for (size_t at; (at = css.find("/*")) != css.npos;) css.erase(at, css.find("*/", at) + 2 - at);
    std::vector<Rule> made;
    for (const std::string& rule : parted(css, '}')) {
      const size_t open = rule.find('{');
      for (const std::string& selector : parted(rule.substr(0, open), ','))
        made.push_back({parted(selector, '.'), declarations(rule.substr(open + 1))});
    }
    return made;
  }();
  return all;
}

// "s7": the color of step 7 of the palette's ramp, between the two nearest of its stops.
std::string shade(const Declarations& palette, char ramp, int step) {
  const std::vector<std::string> stops = parted(palette.at(ramp == 'v' ? "--diverging" : "--sequential"), ',');
  const double at = double(step) / (shades - 1) * double(stops.size() - 1);
  const size_t low = std::min(size_t(at), stops.size() - 2);
  std::string color = "#";
  for (size_t k = 1; k < 7; k += 2) {
    const auto channel = [&](size_t stop) { return std::stoi(stops[stop].substr(k, 2), nullptr, 16); };
    color += fmt::format("{:02x}",
                         std::lround(channel(low) + (at - double(low)) * (channel(low + 1) - channel(low))));
  }
  return color;
}

bool is_shade(const std::string& name) {
  return name.size() > 1 && (name[0] == 's' || name[0] == 'v') &&
         name.find_first_not_of("0123456789", 1) == name.npos;
}

// The declarations for an element with these classes, without variables.
Declarations worked_out(const std::string& classes, const Declarations& palette) {
  const std::vector<std::string> its = parted(classes, ' ');
  Declarations all;
  for (const Rule& rule : rules())
    if (std::all_of(rule.classes.begin(), rule.classes.end(),
                    [&](const std::string& c) { return std::count(its.begin(), its.end(), c) > 0; }))
      for (const auto& [name, value] : rule.says) all[name] = value;
  for (const std::string& name : its)
    if (is_shade(name)) all["stroke"] = shade(palette, name[0], std::stoi(name.substr(1)));
  Declarations found;
  for (auto [name, value] : all) {
    while (value.starts_with("var(")) {
      const std::string variable = value.substr(4, value.size() - 5);
      value = all.count(variable) ? all.at(variable) : palette.at(variable);
    }
    if (!name.starts_with("--")) found[name] = value;
  }
  return found;
}

}  // namespace

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

std::string shade_class(bool two_sided, double share) {
  return fmt::format("{}{}", two_sided ? 'v' : 's', std::lround(share * (shades - 1)));
}

std::string svg_document(const Box& box, const std::string& title, const std::string& description,
                         const std::string& shapes) {
  const Declarations light = palette(false), dark = palette(true);
  const std::string body =
      fmt::format("<rect class=\"paper\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n{}", box.left, box.top,
                  box.width, box.height, shapes);
  std::string drawn, in_the_dark;
  std::set<std::string> seen;
  const std::string start = " class=\"";  // no text has it: there a quote is &quot;
  size_t from = 0;
  for (size_t at; (at = body.find(start, from)) != body.npos;) {
    const size_t first = at + start.size(), end = body.find('"', first);
    const std::string classes = body.substr(first, end - first);
    drawn += body.substr(from, end + 1 - from);
    from = end + 1;
    const Declarations here = worked_out(classes, light);
    for (const auto& [name, value] : here) drawn += fmt::format(" {}=\"{}\"", name, value);
    if (!seen.insert(classes).second) continue;
    std::string other;
    for (const auto& [name, value] : worked_out(classes, dark))
      if (here.at(name) != value) other += fmt::format("{}{}:{}", other.empty() ? "" : ";", name, value);
    if (!other.empty())
      in_the_dark += fmt::format(".{}{{{}}}", fmt::join(parted(classes, ' '), "."), other);
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{} {} {} {}\" width=\"{:.6g}\" height=\"{:.6g}\" "
      "role=\"img\" font-family=\"system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif\" "
      "aria-labelledby=\"t d\">\n"
      "<title id=\"t\">{}</title><desc id=\"d\">{}</desc>\n"
      "<style>@media (prefers-color-scheme: dark){{{}}}</style>\n{}{}</svg>\n",
      box.left, box.top, box.width, box.height, box.width, box.height, escape(title), escape(description), in_the_dark,
      drawn, body.substr(from));
}

}  // namespace poslab::page
