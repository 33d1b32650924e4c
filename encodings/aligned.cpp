#include "encodings/aligned.h"

#include <algorithm>
#include <cmath>

#include "core/choices.h"

namespace poslab {
namespace {

constexpr Range counted{1, 1024}, many_keys{1, 1 << 30}, temperatures{0.001, 1000};
const char* form =
    "aligned expects LAYERS.HEADS.WEIGHTS or `any`, the short length, and then LENGTH:TEMPERATURE, as in "
    "any 64 256:0.85 1024:0.7; `poslab align` writes such numbers";

double value(const AlignedTemperatures& a, const AlignedLength& of, int layer, int head) {
  const size_t n = of.tau.size();
  return of.tau[n == 1 ? 0 : n == size_t(a.layers) ? size_t(layer) : size_t(layer * a.heads + head)];
}

double keys_of(const std::string& word, const std::string& text) {
  return double(read_whole("the length of " + word, text, many_keys, to_string(many_keys)));
}

void read_model(AlignedTemperatures& a, const std::string& word) {
  if (word == "any") return;
  const std::vector<std::string> parts = split(word, '.');
  if (parts.size() != 3 || parts[2].empty()) bad_input("\"{}\": {}", word, form);
  a.layers = int(read_whole("the layers of " + word, parts[0], counted, to_string(counted)));
  a.heads = int(read_whole("the heads of " + word, parts[1], counted, to_string(counted)));
  a.weights = parts[2];
}

AlignedLength read_length(const AlignedTemperatures& a, const std::string& word) {
  const size_t colon = word.find(':');
  if (colon == std::string::npos) bad_input("\"{}\": {}", word, form);
  AlignedLength made{keys_of(word, word.substr(0, colon)), {}};
  for (const std::string& tau : split(word.substr(colon + 1), '/'))
    made.tau.push_back(
        read_number("a temperature of " + word.substr(0, colon), tau, temperatures, to_string(temperatures)));
  const size_t n = made.tau.size();
  if (n != 1 && (!a.layers || (n != size_t(a.layers) && n != size_t(a.layers) * size_t(a.heads))))
    bad_input(
        "aligned: {} temperatures for {:.0f} keys; give one, or, if a model is named, one for each of its layers or "
        "heads",
        n, made.keys);
  const double before = a.lengths.empty() ? a.shortest : a.lengths.back().keys;
  if (made.keys <= before) bad_input("aligned: length {:.0f} comes after {:.0f}; sort the lengths", made.keys, before);
  return made;
}

}  // namespace

double AlignedTemperatures::at(int layer, int head, double keys) const {
  double from = shortest, tau = 1;
  for (const AlignedLength& next : lengths) {
    const double then = value(*this, next, layer, head);
    if (keys <= from) return tau;
    if (keys < next.keys) return tau + (then - tau) * std::log(keys / from) / std::log(next.keys / from);
    from = next.keys, tau = then;
  }
  return tau;
}

bool AlignedTemperatures::by_head() const {
  return std::any_of(lengths.begin(), lengths.end(),
                     [this](const AlignedLength& l) { return l.tau.size() > 1 && l.tau.size() != size_t(layers); });
}

AlignedTemperatures read_aligned(const std::string& text) {
  AlignedTemperatures a;
  std::vector<std::string> words;
  for (const std::string& word : split(text, ' '))
    if (!word.empty()) words.push_back(word);
  if (words.size() < 3) bad_input("\"{}\": {}", text, form);
  read_model(a, words[0]);
  a.shortest = keys_of(words[1], words[1]);
  for (size_t n = 2; n < words.size(); ++n) a.lengths.push_back(read_length(a, words[n]));
  return a;
}

std::string text_of(const AlignedTemperatures& a) {
  std::string text = a.layers ? fmt::format("{}.{}.{}", a.layers, a.heads, a.weights) : "any";
  text += fmt::format(" {:.0f}", a.shortest);
  for (const AlignedLength& l : a.lengths) {
    text += fmt::format(" {:.0f}:", l.keys);
    for (size_t n = 0; n < l.tau.size(); ++n) text += fmt::format("{}{:.6g}", n ? "/" : "", l.tau[n]);
  }
  return text;
}

}  // namespace poslab
