#include "lab/hub/hf_tokenizer.h"

#include <algorithm>
#include <queue>

#include "core/error.h"
#include "lab/files/json.h"

namespace poslab {
namespace {

using json = HfPieces::json;

json parsed(const std::string& text, const std::string& path) {
  json all = parse_json(text, path);
  if (!all.is_object() || !all.value("model", json()).is_object())
    bad_input("{} is no tokenizer.json: it has no object \"model\"", path);
  return all;
}

uint64_t pair(int left, int right) { return uint64_t(uint32_t(left)) << 32 | uint32_t(right); }

std::string byte_token(unsigned char byte) { return fmt::format("<0x{:02X}>", byte); }

// The bytes that a token over bytes stands for; a character outside the alphabet stands for itself.
std::string bytes_of(std::string_view letters) {
  std::string all;
  while (!letters.empty()) {
    const std::string_view one = letters.substr(0, character(letters));
    const int byte = byte_of(one);
    byte < 0 ? void(all += one) : all.push_back(char(byte));
    letters.remove_prefix(one.size());
  }
  return all;
}

// The end of text[from, to) without the white space that it ends with.
size_t without_last_space(std::string_view text, size_t from, size_t to) {
  size_t end = from;
  while (from < to) {
    const std::string_view rest = text.substr(from, to - from);
    const size_t space = white_space(rest);
    from += space ? space : character(rest);
    if (!space) end = from;
  }
  return end;
}

}  // namespace

HfTokenizer::HfTokenizer(const std::string& text, const std::string& path)
    : path_(path), most_(std::clamp<size_t>(text.size(), 1 << 16, 1 << 24)) {
  const json all = parsed(text, path);
  try {
    pieces_ = {all.value("normalizer", json()), all.value("pre_tokenizer", json()), path};
    read_model(all.at("model"));
    read_added(all.value("added_tokens", json::array()));
    read_post_processor(all.value("post_processor", json()));
  } catch (const json::exception& e) { bad_input("{} is no tokenizer.json that can be read: {}", path, e.what()); }
  for (const std::string& t : text_) longest_ = std::max(longest_, t.size());
}

int HfTokenizer::number_of(const std::string& token, const json& number) const {
  const auto n = whole_number(number, most_);
  if (!n)
    bad_input("{}: the token \"{}\" has the number {}; in a file of this size it is a whole number to {}", path_, token,
              in_short(number), most_);
  return int(*n);
}

void HfTokenizer::set_text(int token, std::string text) {
  if (size_t(token) >= text_.size()) text_.resize(size_t(token) + 1);
  text_[size_t(token)] = std::move(text);
}

void HfTokenizer::read_model(const json& model) {
  if (model.value("type", "BPE") != "BPE" || !model.contains("merges"))
    bad_input("{}: the model of tokens {} is not known; poslab reads BPE", path_, json_type(model));
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix", "dropout"})
    if (const json value = model.value(key, json()); !value.is_null() && value != "" && value != 0)
      bad_input("{}: \"{}\" is {}; a tokenizer with it is not read", path_, key, in_short(value));
  bytes_for_letters_ = model.value("byte_fallback", false), whole_words_ = model.value("ignore_merges", false);
  fuse_unknown_ = model.value("fuse_unk", false);
  if (!model.at("vocab").is_object()) bad_input("{} is no tokenizer.json: its \"vocab\" is no object", path_);
  for (const auto& [token, number] : model.at("vocab").items()) {
    const int n = number_of(token, number);
    token_.emplace(token, n);
    set_text(n, pieces_.of_bytes() ? bytes_of(token) : spaced(token));
  }
  if (const json unknown = model.value("unk_token", json()); unknown.is_string())
    if (const auto found = token_.find(unknown.get<std::string>()); found != token_.end()) unknown_ = found->second;
  for (const json& m : model.at("merges")) {
    std::string left, right;
    if (m.is_string()) {
      const auto both = m.get<std::string>();
      const size_t space = both.find(' ');
      left = both.substr(0, space), right = space == both.npos ? "" : both.substr(space + 1);
    } else {
      left = m.at(0).get<std::string>(), right = m.at(1).get<std::string>();
    }
    const auto a = token_.find(left), b = token_.find(right), c = token_.find(left + right);
    if (a == token_.end() || b == token_.end() || c == token_.end())
      bad_input("{}: merge {} joins \"{}\" and \"{}\", and not all of them and their sum are tokens", path_,
                merge_.size(), left, right);
    merge_.emplace(pair(a->second, b->second), Merge{int(merge_.size()), c->second});
  }
}

void HfTokenizer::read_added(const json& tokens) {
  for (const json& t : tokens) {
    const std::string content = t.at("content");
    if (t.value("single_word", false))
      bad_input("{}: the added token \"{}\" has single_word; a tokenizer with it is not read", path_, content);
    if (content.empty()) bad_input("{}: an added token is empty", path_);
    added_.push_back({content, number_of(content, t.at("id")), t.value("lstrip", false), t.value("rstrip", false)});
    set_text(added_.back().token, content);
    if (!begins_added(content[0])) begins_ += content[0];
  }
  std::stable_sort(added_.begin(), added_.end(),
                   [](const auto& a, const auto& b) { return a.text.size() > b.text.size(); });
}

void HfTokenizer::read_post_processor(const json& step) {
  const std::string type = json_type(step);
  if (step.is_null() || type == "\"ByteLevel\"") return;  // which only tells where tokens stand in the text
  if (type == "\"Sequence\"") {
    for (const json& one : step.at("processors")) read_post_processor(one);
  } else if (type == "\"TemplateProcessing\"") {
    bool after = false;
    for (const json& one : step.at("single")) {
      if (one.contains("Sequence")) {
        after = true;
        continue;
      }
      const std::string name = one.at("SpecialToken").at("id");
      if (after) bad_input("{}: it puts {} after every text; only tokens before a text are added", path_, name);
      for (const json& id : step.at("special_tokens").at(name).at("ids")) prefix_.push_back(number_of(name, id));
    }
  } else {
    bad_input("{}: the post_processor {} is not known", path_, type);
  }
}

const std::string& HfTokenizer::text(int token) const {
  static const std::string none;
  return token >= 0 && token < size() ? text_[size_t(token)] : none;
}

// The tokens of single characters, as merging begins, and the place in the text where each ends.
std::vector<HfTokenizer::Letter> HfTokenizer::letters_of(const NormalizedText& word) const {
  std::vector<Letter> all;
  bool was_unknown = false;
  for (size_t at = 0, n; at < word.text.size(); at += n) {
    n = character(std::string_view(word.text).substr(at));
    const std::string letter = word.text.substr(at, n);
    const size_t end = word.offsets[at + n];
    const auto found = token_.find(letter);
    std::vector<int> bytes;
    if (found != token_.end())
      bytes = {found->second};
    else if (bytes_for_letters_)
      for (const char c : letter)
        if (const auto byte = token_.find(byte_token(static_cast<unsigned char>(c))); byte != token_.end())
          bytes.push_back(byte->second);
    const bool is_unknown = bytes.size() != (found != token_.end() ? 1 : letter.size()) || bytes.empty();
    for (size_t k = 0; k < bytes.size() && !is_unknown; ++k)
      all.push_back({bytes[k], bytes.size() == 1 ? end : word.offsets[at + k + 1]});
    if (is_unknown && fuse_unknown_ && was_unknown && unknown_ >= 0)
      all.back().end = end;
    else if (is_unknown && unknown_ >= 0)
      all.push_back({unknown_, end});
    was_unknown = is_unknown;
  }
  return all;
}

// The pair with the oldest merge is joined, of equal ones the leftmost, until none is left. A heap holds the
// candidates; one that has changed meanwhile is passed over.
bool HfTokenizer::add_word(const NormalizedText& word, TokenizedText& to, size_t most) const {
  if (const auto whole = token_.find(word.text); whole_words_ && whole != token_.end()) {
    to.add(whole->second, word.offsets.back());
    return to.tokens.size() < most;
  }
  std::vector<Letter> letters = letters_of(word);
  const int n = int(letters.size());
  std::vector<int> next, before;
  for (int i = 0; i < n; ++i) next.push_back(i + 1), before.push_back(i - 1);
  struct Candidate {
    int rank, at, left, right;
    bool operator<(const Candidate& o) const { return std::pair(rank, at) > std::pair(o.rank, o.at); }
  };
  std::priority_queue<Candidate> heap;
  const auto consider = [&](int at) {
    if (at < 0 || next[size_t(at)] >= n) return;
    const int left = letters[size_t(at)].token, right = letters[size_t(next[size_t(at)])].token;
    if (const auto m = merge_.find(pair(left, right)); m != merge_.end()) heap.push({m->second.rank, at, left, right});
  };
  for (int i = 0; i + 1 < n; ++i) consider(i);
  while (!heap.empty()) {
    const Candidate c = heap.top();
    heap.pop();
    const size_t at = size_t(c.at);
    const int behind = next[at];
    if (letters[at].token != c.left || behind >= n || letters[size_t(behind)].token != c.right) continue;
    letters[at] = {merge_.at(pair(c.left, c.right)).token, letters[size_t(behind)].end};
    letters[size_t(behind)].token = -1;
    next[at] = next[size_t(behind)];
    if (next[at] < n) before[size_t(next[at])] = c.at;
    consider(before[at]), consider(c.at);
  }
  for (int i = 0; i < n && to.tokens.size() < most; i = next[size_t(i)])
    to.add(letters[size_t(i)].token, letters[size_t(i)].end);
  return to.tokens.size() < most;
}

TokenizedText HfTokenizer::tokenize(std::string_view text, size_t most) const {
  text = without_cut_character(text);
  TokenizedText all;
  bool more = most > 0;
  size_t done = 0;
  const auto plain = [&](size_t to) {
    if (more)
      more = pieces_.each(text.substr(done, to - done), done,
                          [&](const NormalizedText& piece) { return add_word(piece, all, most); });
  };
  for (size_t at = 0; at < text.size() && more;) {
    if (!begins_added(text[at])) {
      ++at;
      continue;
    }
    const auto here = std::find_if(added_.begin(), added_.end(),
                                   [&](const Added& a) { return text.compare(at, a.text.size(), a.text) == 0; });
    if (here == added_.end()) {
      ++at;
      continue;
    }
    plain(here->eats_left ? without_last_space(text, done, at) : at);
    at += here->text.size();
    if (here->eats_right) at += white_space(text.substr(at));
    done = at;
    if (more) all.add(here->token, done), more = all.tokens.size() < most;
  }
  plain(text.size());
  return all;
}

}  // namespace poslab
