#include "lab/hub/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <cctype>

#include "core/error.h"
#include "lab/hub/oniguruma.h"

namespace poslab {
namespace {

std::string words(int error) {
  unsigned char text[256];
  pcre2_get_error_message(error, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string all;
  for (const char c : text) {
    if (std::ispunct(static_cast<unsigned char>(c))) all += '\\';
    all += c;
  }
  return all;
}

Regex::Regex(const std::string& pattern, const std::string& where) {
  const std::string translated = to_pcre2(pattern, where);
  int error = 0;
  size_t at = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                                   PCRE2_UTF | PCRE2_UCP, &error, &at, nullptr);
  if (!code) bad_input("{}: the expression \"{}\" is wrong: {}", where, pattern, words(error));
  code_ = std::shared_ptr<const void>(
      code, [](const void* c) { pcre2_code_free(static_cast<pcre2_code*>(const_cast<void*>(c))); });
  uint32_t empty = 0;
  pcre2_pattern_info(code, PCRE2_INFO_MATCHEMPTY, &empty);
  if (empty)
    bad_input("{}: the expression \"{}\" also matches an empty text, so poslab refuses it", where, pattern);
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // matching is slower without a JIT compiler
}

void Regex::each(const std::string& text, const std::function<bool(size_t, size_t)>& found) const {
  const auto* code = static_cast<const pcre2_code*>(code_.get());
  const std::shared_ptr<pcre2_match_data> data(pcre2_match_data_create(1, nullptr), pcre2_match_data_free);
  for (size_t at = 0; at < text.size();) {
    const int n = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at, PCRE2_NO_UTF_CHECK,
                              data.get(), nullptr);
    if (n == PCRE2_ERROR_NOMATCH) return;
    if (n < 0) failure("a text could not be cut into words: {}", words(n));
    const size_t* ends = pcre2_get_ovector_pointer(data.get());
    if (!found(ends[0], ends[1])) return;
    at = ends[1];
  }
}

}  // namespace poslab
