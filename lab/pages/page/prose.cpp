#include "lab/pages/page/prose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/ascii.h"

namespace poslab::page {
namespace {

std::string without(std::string_view text, std::string_view markup) {
  std::string made;
  for (const char c : text) {
    if (markup.find(c) != markup.npos) made += '\\';
    made += c;
  }
  return made;
}

}  // namespace

std::string literal(std::string_view text) { return without(text, "\\*`[]"); }
std::string prose(std::string_view text) { return without(text, "\\*[]"); }

std::string colored(const std::string& name, const std::string& color) {
  return fmt::format("[{}]{{{}}}", literal(name), color);
}

std::string percent(double fraction) {
  return std::isnan(fraction) ? "–" : fmt::format("{:.1f}\u202f%", 100 * fraction);
}

std::string points(double fraction) { return std::isnan(fraction) ? "–" : fmt::format("{:.1f}", 100 * fraction); }

std::string signed_points(double fraction) {
  if (std::isnan(fraction)) return "–";
  const std::string text = fmt::format("{:+.1f}", 100 * fraction);
  return text == "-0.0" || text == "+0.0" ? "0.0" : text;
}

std::string words(std::string identifier) {
  std::replace(identifier.begin(), identifier.end(), '_', ' ');
  return identifier;
}

std::string headed(const std::string& identifier) {
  std::string text = words(identifier);
  if (!text.empty()) text[0] = ascii::upper(text[0]);
  return text;
}

}  // namespace poslab::page
