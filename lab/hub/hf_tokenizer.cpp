#include "lab/hub/hf_tokenizer.h"

#include <algorithm>
#include <queue>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "lab/files/json.h"

namespace poslab {
namespace {

using json = HfPieces::json;

json parsed(const std::string& text, const std::string& path) {
  json all = parse_json(text, path);
  if (!all.is_object() || !all.value("model", json()).is_object())
    bad_input("{} is not a tokenizer.json: it has no object \"model\"", path);
  return all;
}

uint64_t pair(int left, int right) { return uint64_t(uint32_t(left)) << 32 | uint32_t(right); }

std::string byte_token(unsigned char byte) { return fmt::format("<0x{:02X}>", byte); }

}  // namespace

HfTokenizer::HfTokenizer(const std::string& text, const std::string& path)
    : path_(path), most_(std::clamp<size_t>(text.size(), 1 << 16, 1 << 24)) {
  const json all = parsed(text, path);
  try {
    if (const json version = all.value("version", json("1.0")); version != "1.0")
      bad_input("{}: its \"version\" is {}, but poslab reads 1.0", path, in_short(version));
    decoder_ = {all.value("decoder", json()), path};
    pieces_ = {all.value("normalizer", json()), all.value("pre_tokenizer", json()), path};
    read_model(all.at("model"));
    read_added(all.value("added_tokens", json::array()));
    read_post_processor(all.value("post_processor", json()));
  } catch (const json::exception& e) { bad_input("{} is not a tokenizer.json that can be read: {}", path, e.what()); }
  for (const std::string& t : text_) longest_ = std::max(longest_, t.size());
}

int HfTokenizer::number_of(const std::string& token, const json& number) const {
  const auto n = whole_number(number, most_);
  if (!n)
    bad_input("{}: the token \"{}\" has the number {}; in a file of this size it must be a whole number, 0 .. {}",
              path_, token, in_short(number), most_);
  return int(*n);
}

void HfTokenizer::set_text(int token, std::string text) {
  if (size_t(token) >= text_.size()) text_.resize(size_t(token) + 1);
  text_[size_t(token)] = std::move(text);
}

void HfTokenizer::read_model(const json& model) {
  if (model.value("type", "BPE") != "BPE" || !model.contains("merges"))
    bad_input("{}: token model {}; poslab reads only BPE with merges", path_, json_type(model));
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix", "dropout"})
    if (const json value = model.value(key, json()); !value.is_null() && value != "" && value != 0)
      bad_input("{}: \"{}\" is {}; poslab reads no such tokenizer", path_, key, in_short(value));
  bytes_for_letters_ = model.value("byte_fallback", false), whole_words_ = model.value("ignore_merges", false);
  fuse_unknown_ = model.value("fuse_unk", false);
  if (!model.at("vocab").is_object()) bad_input("{} is not a tokenizer.json: its \"vocab\" is not an object", path_);
  std::unordered_set<int> numbers;
  for (const auto& [token, number] : model.at("vocab").items()) {
    const int n = number_of(token, number);
    token_.emplace(token, n);
    if (!numbers.insert(n).second) bad_input("{}: two tokens of its model have the number {}", path_, n);
    set_text(n, decoder_.bytes(token));
  }
  if (const json unknown = model.value("unk_token", json()); !unknown.is_null()) unknown_ = unknown.get<std::string>();
  int rank = 0;
  for (const json& m : model.at("merges")) {
    std::string left, right;
    if (m.is_string()) {
      const auto both = m.get<std::string>();
      if (both.starts_with("#version")) continue;
      const size_t space = both.find(' ');
      if (space == both.npos || both.find(' ', space + 1) != both.npos)
        bad_input("{}: the merge \"{}\" is not two tokens with a space between them", path_, both);
      left = both.substr(0, space), right = both.substr(space + 1);
    } else {
      left = m.at(0).get<std::string>(), right = m.at(1).get<std::string>();
    }
    const auto a = token_.find(left), b = token_.find(right), c = token_.find(left + right);
    if (a == token_.end() || b == token_.end() || c == token_.end())
      bad_input("{}: merge {} joins \"{}\" and \"{}\", but these two and the joined text are not all tokens", path_,
                rank, left, right);
    merge_[pair(a->second, b->second)] = {rank++, c->second};
  }
}

// The library ignores the numbers of added tokens that its model lacks, and numbers them from the model's size on.
void HfTokenizer::read_added(const json& tokens) {
  int next = int(token_.size());
  std::unordered_map<std::string, json> known;
  for (const json& t : tokens) {
    const std::string content = t.at("content"), shown = in_short(t["content"]);
    if (content.empty()) bad_input("{}: an added token is empty", path_);
    if (const auto [before, is_new] = known.emplace(content, t); !is_new) {
      if (before->second != t) bad_input("{}: two added tokens have the text {} but differ otherwise", path_, shown);
      continue;
    }
    const auto of_model = token_.find(content);
    const int number = number_of(content, t.at("id")), expected = of_model == token_.end() ? next++ : of_model->second;
    if (number != expected)
      bad_input(
          "{}: the added token {} has the number {}, but the library `tokenizers` gives it {}; load and save the "
          "tokenizer with that library",
          path_, shown, number, expected);
    const bool normalized = t.value("normalized", false);
    const std::string text = normalized ? pieces_.normalized(NormalizedText(content)).text : content;
    AddedTokens& among = normalized ? normalized_added_ : added_;
    if (text.empty() || among.has(text))
      bad_input("{}: its normalizer makes {} of the added token {}, which {}", path_, in_short(text), shown,
                text.empty() ? "no text can have" : "is another token's text, too");
    among.add({text, number, t.value("single_word", false), t.value("lstrip", false), t.value("rstrip", false)});
    set_text(number, decoder_.bytes(text));
  }
}

void HfTokenizer::read_post_processor(const json& step) {
  const std::string type = json_type(step);
  if (step.is_null() || type == "\"ByteLevel\"") return;  // affects only the offsets of tokens in the text
  if (type == "\"Sequence\"") {
    for (const json& one : step.at("processors")) read_post_processor(one);
  } else if (type == "\"TemplateProcessing\"") {
    int texts = 0;
    for (const json& one : step.at("single")) {
      if (one.contains("Sequence")) {
        texts += one["Sequence"].at("id") == "A" ? 1 : 2;  // $B is the second text of a pair
        continue;
      }
      const std::string name = one.at("SpecialToken").at("id");
      if (texts > 0) bad_input("{}: it puts {} after every text; poslab adds tokens only before a text", path_, name);
      for (const json& id : step.at("special_tokens").at(name).at("ids")) prefix_.push_back(number_of(name, id));
    }
    if (has_template_) bad_input("{}: it has two templates, but poslab reads one", path_);
    has_template_ = true;
    if (texts != 1) bad_input("{}: its template for a text must contain the text, $A, once", path_);
  } else {
    bad_input("{}: the post_processor {} is not known", path_, type);
  }
}

const std::string& HfTokenizer::text(int token) const {
  static const std::string none;
  return token >= 0 && token < size() ? text_[size_t(token)] : none;
}

// The tokens of single characters, before any merge, and the end of each in the text. As in the library, an unknown
// character's token is written only before the next known one or at the end, so after any byte tokens in between.
std::vector<HfTokenizer::Letter> HfTokenizer::letters_of(const NormalizedText& word) const {
  std::vector<Letter> all;
  std::optional<Letter> unknown;
  const auto write_unknown = [&] {
    if (unknown) all.push_back(*unknown);
    unknown.reset();
  };
  for (size_t at = 0, n; at < word.text.size(); at += n) {
    n = character(std::string_view(word.text).substr(at));
    const std::string letter = word.text.substr(at, n);
    const size_t end = word.offsets[at + n];
    if (const auto found = token_.find(letter); found != token_.end()) {
      write_unknown();
      all.push_back({found->second, end});
      continue;
    }
    std::vector<Letter> bytes;
    if (bytes_for_letters_)
      for (size_t k = 0; k < n; ++k)
        if (const auto byte = token_.find(byte_token(static_cast<unsigned char>(letter[k]))); byte != token_.end())
          bytes.push_back({byte->second, word.offsets[at + k + 1]});
    if (bytes.size() == n) {
      all.insert(all.end(), bytes.begin(), bytes.end());
    } else if (unknown_) {
      const auto token = token_.find(*unknown_);
      if (token == token_.end())
        failure("{}: \"{}\" has no token, and its \"unk_token\", \"{}\", is not a token either", path_, letter,
                *unknown_);
      if (!fuse_unknown_) write_unknown();
      unknown = {token->second, end};
    }
  }
  write_unknown();
  return all;
}

// Joins the pair with the oldest merge, of several the leftmost, until no pair can be joined. A heap holds the
// candidates; outdated ones are skipped.
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
    const size_t end = std::max(letters[at].end, letters[size_t(behind)].end);
    letters[at] = {merge_.at(pair(c.left, c.right)).token, end};
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
  TokenizedText all;
  if (most == 0) return all;
  const auto token = [&](int one, size_t end) {
    all.add(one, end);
    return all.tokens.size() < most;
  };
  const auto word = [&](const NormalizedText& piece) { return add_word(piece, all, most); };
  const auto cut = [&](const NormalizedText& part, bool at_start) { return pieces_.cut(part, at_start, word); };
  added_.each(valid_utf8(without_cut_character(text)), true, token, [&](const NormalizedText& part, bool at_start) {
    return normalized_added_.each(pieces_.normalized(part), at_start, token, cut);
  });
  return all;
}

}  // namespace poslab
