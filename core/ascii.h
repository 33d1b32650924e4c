// ASCII letters and numbers, read in the same way in every locale. A calling program such as Python or Qt may have set
// a locale whose decimal point is a comma, or in which i is not the lower case of I.
#pragma once
#include <string>

namespace poslab::ascii {

constexpr bool is_digit(char c) { return '0' <= c && c <= '9'; }
constexpr bool is_lower(char c) { return 'a' <= c && c <= 'z'; }
constexpr bool is_upper(char c) { return 'A' <= c && c <= 'Z'; }
constexpr bool is_alnum(char c) { return is_digit(c) || is_lower(c) || is_upper(c); }
constexpr bool is_space(char c) { return c == ' ' || ('\t' <= c && c <= '\r'); }
constexpr bool is_punct(char c) { return '!' <= c && c <= '~' && !is_alnum(c); }
constexpr char lower(char c) { return is_upper(c) ? char(c - 'A' + 'a') : c; }
constexpr char upper(char c) { return is_lower(c) ? char(c - 'a' + 'A') : c; }

double number(const char* text, char** end);   // std::strtod in the C locale
inline double number(const std::string& text) { return number(text.c_str(), nullptr); }   // 0 if text is no number

}  // namespace poslab::ascii
