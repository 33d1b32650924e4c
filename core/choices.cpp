#include "core/choices.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/ascii.h"

namespace poslab {
namespace {

// Parses the whole text; false unless it is a number without a leading space, + or 0x. A number that is too large for
// the type becomes the largest one.
bool parse(const std::string& text, int64_t& n) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error == std::errc::result_out_of_range) n = text[0] == '-' ? INT64_MIN : INT64_MAX;
  return error != std::errc::invalid_argument && end == text.data() + text.size();
}
bool parse(const std::string& text, double& n) {  // libc++ has no from_chars for double
  char* end;
  n = ascii::number(text.c_str(), &end);
  return !text.empty() && text.find_first_of(" \t\n+") != 0 && text.find_first_of("xX") == std::string::npos &&
         end == text.data() + text.size();
}

// An option and its value as they are typed: --steps 5 on a command line, steps = 5 elsewhere.
std::string given(const std::string& name, const std::string& value) {
  return fmt::format("{}{}{}", name, name.starts_with("--") ? " " : " = ", value);
}

template <class Number>
Number read(const std::string& name, const std::string& text, Range range, const std::string& takes, const char* what) {
  Number n{};
  if (!parse(text, n))
    bad_input("{} is not {}; it takes {}", given(name, '"' + text + '"'), what, takes);
  if (!(double(n) >= range.min && double(n) <= range.max))
    bad_input("{} is out of range; it takes {}", given(name, text), takes);
  return n;
}

// The length in canonical form: "0.50L" becomes "0.5L". It may also be a whole number.
std::string read_length(const std::string& name, const std::string& text, Range range, const std::string& takes) {
  if (!is_share(text)) return fmt::format("{}", read_whole(name, text, range, takes));
  double share{};
  if (!parse(text.substr(0, text.size() - 1), share) || !(share > 0 && share <= 1024))
    bad_input("{} is not a share of the trained length; it takes {}", given(name, text), takes);
  return fmt::format("{}L", share);
}

// Reads each item of a list: "1/2.50/8" becomes "1/2.5/8"
template <class Read>
std::string read_list(const std::string& text, const Read& read_one) {
  std::vector<std::string> each;
  for (const std::string& one : split(text, '/')) each.push_back(read_one(one));
  return fmt::format("{}", fmt::join(each, "/"));
}

// "5" becomes "5:5"
std::string read_lengths(const std::string& name, const std::string& text, Range range, const std::string& takes) {
  const size_t colon = text.find(':');
  if (text.empty() || text.find_first_not_of("0123456789:") != text.npos || text.back() == ':' || colon == 0 ||
      text.rfind(':') != colon)
    bad_input("{} is not a range of lengths; it takes {}, as in 1:100", given(name, '"' + text + '"'), takes);
  const int64_t from = read_whole(name, text.substr(0, colon), range, takes),
                to = colon == text.npos ? from : read_whole(name, text.substr(colon + 1), range, takes);
  if (to < from)
    bad_input("{} is empty, because {} is less than {}; give the shorter one first", given(name, text), to, from);
  return fmt::format("{}:{}", from, to);
}

const std::string trained_length = "trained_length";

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

}  // namespace

bool read_toggle(const std::string& name, const std::string& text) {
  for (auto yes : {"on", "true", "yes", "1"})
    if (text == yes) return true;
  for (auto no : {"off", "false", "no", "0"})
    if (text == no) return false;
  bad_input("{} is neither on nor off", given(name, '"' + text + '"'));
}

int64_t read_whole(const std::string& name, const std::string& text, Range range, const std::string& takes) {
  return read<int64_t>(name, text, range, takes, "a whole number");
}

double read_number(const std::string& name, const std::string& text, Range range, const std::string& takes) {
  return read<double>(name, text, range, takes, "a number") + 0.0;  // -0 is 0
}

std::string spelled(double n) {
  std::string text = fmt::format("{}", n);
  std::erase(text, '+');
  return text;
}

std::string to_string(Range range) {
  std::string text = fmt::format("{:.15g} .. {:.15g}", range.min, range.max);
  std::erase(text, '+');
  return text;
}

bool is_share(const std::string& length) { return length.ends_with('L'); }

int64_t share_of(const std::string& length, int64_t whole) {
  return int64_t(std::floor(ascii::number(length) * double(whole) + 1e-9));
}

Option::Option(std::string name, bool standard, std::string help)
    : name(std::move(name)), standard(standard ? "on" : "off"), help(std::move(help)), kind(Kind::toggle) {}
Option::Option(std::string name, std::vector<std::string> words, std::string help)
    : name(std::move(name)), standard(words.at(0)), help(std::move(help)), kind(Kind::word), words(std::move(words)) {}
Option::Option(std::string name, int standard, Range range, std::string help)
    : name(std::move(name)), standard(fmt::format("{}", standard)), help(std::move(help)), kind(Kind::whole),
      range(range) {}
Option::Option(std::string name, double standard, Range range, std::string help)
    : name(std::move(name)), standard(spelled(standard)), help(std::move(help)), kind(Kind::number), range(range) {}

Option Option::wholes(std::string name, std::string standard, Range of_each, std::string help) {
  Option o = numbers(std::move(name), std::move(standard), of_each, std::move(help));
  o.kind = Kind::wholes;
  return o;
}

Option Option::numbers(std::string name, std::string standard, Range of_each, std::string help) {
  Option o(std::move(name), 0., of_each, std::move(help));
  o.kind = Kind::numbers, o.standard = std::move(standard);
  return o;
}

Option Option::length(std::string name, std::string standard, Range range, std::string help) {
  Option o = numbers(std::move(name), std::move(standard), range, std::move(help));
  o.kind = Kind::length;
  return o;
}

Option Option::lengths(std::string name, std::string standard, Range of_both, std::string help) {
  Option o = numbers(std::move(name), std::move(standard), of_both, std::move(help));
  o.kind = Kind::lengths;
  return o;
}

Option Option::text(std::string name, std::string standard, std::string help) {
  Option o(std::move(name), std::vector<std::string>{std::move(standard)}, std::move(help));
  o.words.clear();
  return o;
}

bool Option::is_word(const std::string& text) const { return std::ranges::count(words, text) > 0; }

std::string Option::takes() const {
  if (kind == Kind::lengths) return fmt::format("FROM:TO, both {}", to_string(range));
  if (kind == Kind::wholes || kind == Kind::numbers) return fmt::format("{}, one or more as 1/2/4", to_string(range));
  if (kind == Kind::length) return fmt::format("{}, or 0.5L: half of the trained length", to_string(range));
  if (kind == Kind::toggle) return "on | off";
  if (kind == Kind::word) return words.empty() ? "text" : fmt::format("{}", fmt::join(words, " | "));
  return to_string(range) + (words.empty() ? "" : fmt::format(" | {}", fmt::join(words, " | ")));
}

std::string Option::value(const std::string& text) const {
  switch (kind) {
    case Kind::toggle: return read_toggle(name, text) ? "on" : "off";
    case Kind::whole: return is_word(text) ? text : fmt::format("{}", read_whole(name, text, range, takes()));
    case Kind::number: return spelled(read_number(name, text, range, takes()));
    case Kind::length: return read_length(name, text, range, takes());
    case Kind::wholes:
      return read_list(text, [&](auto& one) { return fmt::format("{}", read_whole(name, one, range, takes())); });
    case Kind::numbers:
      return read_list(text, [&](auto& one) { return spelled(read_number(name, one, range, takes())); });
    case Kind::lengths: return read_lengths(name, text, range, takes());
    case Kind::word: break;
  }
  if (!words.empty() && !is_word(text)) raise<BadInput>(unknown(name, text, words));
  return text;
}

Settings Option::settings(const std::string& text) const {
  return sets ? sets(text) : Settings{{name, value(text)}};
}

Spelling read_spelling(const std::string& text) {
  const size_t colon = text.find(':');
  Spelling s{trimmed(text.substr(0, colon)), {}};
  for (size_t from = colon; from != std::string::npos;) {
    const size_t comma = text.find(',', from + 1);
    const std::string item = text.substr(from + 1, comma == std::string::npos ? comma : comma - from - 1);
    const size_t equals = item.find('=');
    const std::string key = trimmed(item.substr(0, equals));
    if (key.empty())
      bad_input("\"{}\" is not spelled NAME:OPTION=VALUE,OPTION=VALUE; an option is missing after \"{}\"", text,
                text.substr(0, from + 1));
    for (const auto& [name, value] : s.settings)
      if (name == key) bad_input("\"{}\" has {} twice; give it once", text, key);
    s.settings.emplace_back(key, equals == std::string::npos ? "on" : trimmed(item.substr(equals + 1)));
    from = comma;
  }
  return s;
}

std::vector<std::string> split(const std::string& text, char separator) {
  const auto digit = [&](size_t n) { return n < text.size() && text[n] >= '0' && text[n] <= '9'; };
  const auto in_exponent = [&](size_t n) {
    return text[n] == '+' && n >= 2 && text[n - 1] == 'e' && digit(n - 2) && digit(n + 1);
  };
  std::vector<std::string> parts;
  for (size_t from = 0;;) {
    size_t end = text.find(separator, from);
    while (end != std::string::npos && in_exponent(end)) end = text.find(separator, end + 1);
    parts.push_back(trimmed(text.substr(from, end == std::string::npos ? end : end - from)));
    if (end == std::string::npos) return parts;
    from = end + 1;
  }
}

Choices::Choices(std::string owner, const std::vector<Option>& options)
    : owner_(std::move(owner)), options_(std::make_shared<const std::vector<Option>>(options)) {
  for (const Option& o : options) values_.push_back(o.standard);
}

size_t Choices::place(const std::string& option) const {
  size_t n = 0;
  while (n < options_->size() && (*options_)[n].name != option) ++n;
  return n;
}

Settings Choices::set(const std::string& option, const std::string& text) {
  if (options_->empty()) bad_input("{} has no options; leave out \"{}\"", owner_, option);
  if (const size_t at = place(option); at < options_->size()) {
    const Option& o = (*options_)[at];
    if (text == "on" && !owner_.empty() && o.kind != Option::Kind::toggle && o.kind != Option::Kind::word)
      bad_input("{}: {} has no value; write it as in {}={}", owner_, option, option, o.standard);
    const Settings all = owner_.empty() ? o.settings(text) : prefix_errors(owner_, [&] { return o.settings(text); });
    for (const auto& [name, value] : all) values_[place(name)] = value;
    return all;
  }
  if (!option.empty() && option.find_first_not_of("+-.0123456789e") == option.npos)
    bad_input("{}: \"{}\" is in the place of an option's name; write it as in {}={}, and a list as 0/1/2.5",
              owner_, option, options_->front().name, option);
  const size_t colon = option.find(':');
  if (colon != option.npos && has(option.substr(0, colon)))
    bad_input("{}: \"{}\": a value goes after =, as in {}={}", owner_, option, option.substr(0, colon),
              option.substr(colon + 1));
  raise<BadInput>(unknown(owner_.empty() ? "option" : owner_ + " option", option, names_of(*options_)));
}

const std::string& Choices::operator[](const std::string& option) const {
  if (const size_t n = place(option); n < options_->size()) return values_[n];
  failure("{}: option {} was not declared; add it where {} declares its options", owner_, option, owner_);
}

const std::string& Choices::no_share(const std::string& option) const {
  const std::string& text = (*this)[option];
  if (is_share(text))
    bad_input("{}: {} = {} is a share of the trained length, which is unknown here; give a number", owner_, option,
              text);
  return text;
}
int Choices::whole(const std::string& option) const { return std::stoi(no_share(option)); }
int64_t Choices::count(const std::string& option) const { return std::stoll((*this)[option]); }
Lengths Choices::lengths(const std::string& option) const {
  const std::string& text = (*this)[option];
  return {std::stoi(text), std::stoi(text.substr(text.find(':') + 1))};
}
double Choices::number(const std::string& option) const { return ascii::number(no_share(option)); }

std::vector<int> Choices::wholes(const std::string& option) const {
  std::vector<int> each;
  for (const std::string& one : split((*this)[option], '/')) each.push_back(std::stoi(one));
  return each;
}

std::vector<double> Choices::numbers(const std::string& option) const {
  std::vector<double> each;
  for (const std::string& one : split((*this)[option], '/')) each.push_back(ascii::number(one));
  return each;
}

bool Choices::has(const std::string& option) const { return place(option) < options_->size(); }

std::string Choices::spelled() const {
  std::string text = owner_;
  for (size_t n = 0; n < options_->size(); ++n) {
    const Option& o = (*options_)[n];
    if (values_[n] == o.standard && o.kind != Option::Kind::length) continue;
    text += (text == owner_ ? ":" : ",") + o.name;
    if (o.kind != Option::Kind::toggle || values_[n] == "off") text += "=" + values_[n];
  }
  return text;
}

RunValues trained_on(int64_t slots) { return {{trained_length, fmt::format("{}", slots)}}; }

Choices choose_options(const std::string& owner, const std::vector<Option>& options, const Spelling& spelling,
                       const RunValues& run) {
  Choices c(owner, options);
  for (const Option& o : options)
    if (const auto of_run = run.find(o.name); of_run != run.end()) c.set(o.name, of_run->second);
  for (const auto& [name, text] : spelling.settings) c.set(name, text);
  if (const auto whole = run.find(trained_length); whole != run.end())
    for (const Option& o : options)
      if (o.kind == Option::Kind::length && is_share(c[o.name])) {
        const double share = double(share_of(c[o.name], std::stoll(whole->second)));
        c.set(o.name, fmt::format("{}", int64_t(std::clamp(share, o.range.min, o.range.max))));
      }
  return c;
}

}  // namespace poslab
