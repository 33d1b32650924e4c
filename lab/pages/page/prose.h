// The text of pages (lab/page/README.md): **bold**, *italic*, `code`, [name]{c1}; a backslash escapes these characters.
#pragma once
#include <string>
#include <string_view>

namespace poslab::page {

std::string literal(std::string_view text);  // with all markup escaped
std::string prose(std::string_view text);    // the same, and text between ` is code
std::string colored(const std::string& name, const std::string& color);
std::string percent(double fraction);               // 0.9987 -> 99.9 %; an en dash for NaN
std::string points(double fraction);                // 0.937 -> "93.7"; an en dash for NaN
std::string signed_points(double fraction);         // 0.063 -> "+6.3"
std::string words(std::string identifier);          // even_pairs -> even pairs
std::string headed(const std::string& identifier);  // even_pairs -> Even pairs

}  // namespace poslab::page
