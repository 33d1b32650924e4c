// Tokenizers in Hugging Face format: they give the tokens of the library `tokenizers`, or are refused.
#include <cstring>

#include "lab/hub/hf_model.h"
#include "lab/hub/hf_tokenizer.h"
#include "lab/hub/regex.h"
#include "lab/hub/sentencepiece.h"
#include "tasks/language/text.h"
#include "tests/lab/helpers.h"
#include "tests/lab/hub/helpers.h"

using namespace poslab;
using namespace poslab::test;

namespace {

const Json& tokenizer_cases() {
  static const Json all = golden("tokenizers.json");
  return all;
}

std::vector<int> with_prefix(const Tokenizer& t, const std::string& text) {
  std::vector<int> all = t.prefix();
  for (const int token : t.encode(text)) all.push_back(token);
  return all;
}

// The text, cut into the bytes that belong to each token: "|a|\u00e9||b".
std::string cut_up(const Tokenizer& t, const std::string& text, size_t most = size_t(-1)) {
  const TokenizedText read = t.tokenize(text, most);
  CHECK(read.bytes.size() == read.tokens.size());
  std::string all;
  size_t at = 0;
  for (const int bytes : read.bytes) {
    REQUIRE(bytes >= 0);
    all += "|" + text.substr(at, size_t(bytes));
    at += size_t(bytes);
  }
  CHECK(at == read.covered);
  CHECK(at <= text.size());
  return all;
}

// If a text consists of its tokens' texts, perhaps after an added space, the bytes of each token are its own text.
void check_bytes(const Tokenizer& t, const std::string& text) {
  const TokenizedText read = t.tokenize(text);
  std::string joined, cut;
  for (const int token : read.tokens) joined += t.text(token);
  const bool spaced = joined == " " + text;
  if (joined != text && !spaced) return;
  for (const int token : read.tokens) cut += "|" + t.text(token).substr(cut.empty() && spaced);
  CHECK(cut_up(t, text) == cut);
  CHECK(cut.starts_with(cut_up(t, text, 3)));
}

// A tokenizer of single characters and "<unk>"; `changes` change its file.
HfTokenizer of_letters(const Json& changes) {
  Json t = Json::parse(R"({"model": {"type": "BPE", "unk_token": "<unk>", "merges": [["b", "c"]], "vocab": {
    "<unk>": 0, "a": 1, "b": 2, "c": 3, "bc": 4, "\u00e9": 5, "\u2581": 6, " ": 7, "\ufffd": 8}}})");
  for (const auto& [at, value] : changes.items()) t[Json::json_pointer(at)] = value;
  return HfTokenizer(t.dump(), "t");
}

}  // namespace

TEST_CASE("hf: a token counts the bytes of the text that it was made from, whatever its own text") {
  CHECK(cut_up(of_letters(Json::object()), "abca") == "|a|bc|a");
  CHECK(cut_up(of_letters(Json::object()), "a\u6f22\u5b57bc") == "|a|\u6f22|\u5b57|bc");
  CHECK(cut_up(of_letters({{"/model/fuse_unk", true}}), "a\u6f22\u5b57bc\U0001f642") ==
        "|a|\u6f22\u5b57|bc|\U0001f642");
  // characters without a token count towards the next token, or towards a token that surrounds them
  const HfTokenizer dropping = of_letters({{"/model/unk_token", nullptr}});
  CHECK(cut_up(dropping,
               "\u6f22"
               "ab\u5b57"
               "ca\u6f22") ==
        "|\u6f22"
        "a|b\u5b57"
        "c|a");
  CHECK(dropping.encode("\u6f22").empty());
  // composed letters, among other characters, and with a second accent
  const HfTokenizer nfc = of_letters({{"/normalizer", {{"type", "NFC"}}}});
  CHECK(cut_up(nfc, "ae\u0301bce\u0301\u00e9") == "|a|e\u0301|bc|e\u0301|\u00e9");
  CHECK(nfc.encode("ae\u0301\u00e9") == std::vector{1, 5, 5});
  CHECK(cut_up(nfc,
               "e\u0323\u0301"
               "a\u1100\u1161\u11a8"
               "b") == "|e\u0323|\u0301|a|\u1100\u1161\u11a8|b");
  // a space that is added before the text, and spaces that become three bytes each
  const Json prepend = {{"type", "Prepend"}, {"prepend", "\u2581"}},
             replace = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}},
             both = {{"type", "Sequence"}, {"normalizers", {prepend, replace}}};
  for (const HfTokenizer& t :
       {of_letters({{"/normalizer", both}}), of_letters({{"/pre_tokenizer", {{"type", "Metaspace"}}}})}) {
    CHECK(t.encode("a bc") == std::vector{6, 1, 6, 4});
    CHECK(t.tokenize("a bc").bytes == std::vector{0, 1, 1, 2});
  }
  const Json shorter = {{"type", "Replace"}, {"pattern", {{"String", "bb"}}}, {"content", ""}};
  CHECK(cut_up(of_letters({{"/normalizer", shorter}}), "abbabbcbb") == "|a|bba|bbc");
  // each byte that is not UTF-8 becomes one U+FFFD; if a text begins with the end of a character, that is skipped
  CHECK(of_letters(Json::object())
            .tokenize("\x9C"
                      "a\xFF\xFE"
                      "b\xE6\xBC")
            .bytes == std::vector{1, 1, 1, 1, 1, 1});
  // white space around special tokens, and a byte order mark
  const Json marks = Json::parse(R"([{"id": 9, "content": "<m>", "lstrip": true, "rstrip": true}])");
  CHECK(cut_up(of_letters({{"/added_tokens", marks}}), "a <m>\r\n b<m>") == "|a| <m>\r\n |b|<m>");
  // an added token within that white space takes the rest of it; the library then reads the white space a second time
  Json within = marks;
  within.push_back({{"id", 10}, {"content", "\n"}}), within.push_back({{"id", 11}, {"content", " c"}});
  const HfTokenizer again = of_letters({{"/added_tokens", within}});
  CHECK(cut_up(again, "<m> \n b<m>  cb") == "|<m> \n |||b|<m>  |c|b");
  CHECK(again.encode("<m> \n b<m>  cb") == std::vector{9, 10, 7, 2, 9, 11, 2});
  // an added token that is found in the normalized text
  const Json accent = Json::parse(R"([{"id": 9, "content": "<\u00e9>", "normalized": true, "rstrip": true}])");
  CHECK(cut_up(of_letters({{"/added_tokens", accent}, {"/normalizer", {{"type", "NFC"}}}}), "a<e\u0301>  bc") ==
        "|a|<e\u0301>  |bc");
  // bytes that a split removes count with the token after them
  const Json without = {{"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", "Removed"}};
  CHECK(cut_up(of_letters({{"/pre_tokenizer", without}}), "a  bc a") == "|a|  bc| a");
  // an unknown character is emitted after the bytes of the next character, and counts with these
  const HfTokenizer late = of_letters({{"/model/byte_fallback", true},
                                       {"/model/vocab/<0xE5>", 9},
                                       {"/model/vocab/<0xAD>", 10},
                                       {"/model/vocab/<0x97>", 11}});
  CHECK(late.encode("a\u6f22\u5b57bc") == std::vector{1, 9, 10, 11, 0, 4});
  CHECK(cut_up(late, "a\u6f22\u5b57bc") == "|a|\u6f22\xE5|\xAD|\x97||bc");
  CHECK(cut_up(of_letters(Json::object()),
               "\uFEFF"
               "a\r\nb") == "|\uFEFF|a|\r|\n|b");
}

TEST_CASE("hf: a window that begins within a character does not end within one") {
  const HfTokenizer t(R"({"model": {"type": "BPE", "unk_token": "?", "merges": [],
                                    "vocab": {"\ud83d\ude42": 0, "?": 1}}})",
                      "t");
  Text text{{{"a", 400}}, [](const TextFile&, int64_t from, int64_t bytes) {
              std::string all;
              for (int n = 0; n < 100; ++n) all += "\U0001f642";
              return all.substr(size_t(from), size_t(bytes));
            }};
  Rng rng(stream(1, Purpose::tokens, 0));
  for (int n = 0; n < 40; ++n) CHECK(draw_window(text, t, 50, rng).covered == 200);
}

TEST_CASE("hf: tokens are those of the library, for bytes and for characters") {
  CHECK(tokenizer_cases()["tokenizers"].size() == 8);
  for (const Json& of : tokenizer_cases()["tokenizers"]) {
    const HfTokenizer t(of["tokenizer"].dump(), "tokenizer.json");
    for (size_t n = 0; n < tokenizer_cases()["texts"].size(); ++n) {
      const std::string text = tokenizer_cases()["texts"][n];
      INFO(of["name"], ": ", text);
      CHECK(with_prefix(t, text) == of["tokens"][n].get<std::vector<int>>());
      check_bytes(t, text);
      const std::vector<int> whole = t.encode(text);
      for (const size_t most : {size_t(0), size_t(1), size_t(5)})
        CHECK(t.encode(text, most) ==
              std::vector<int>(whole.begin(), whole.begin() + long(std::min(most, whole.size()))));
    }
    // the tokens' texts give the text back, except for the space that Llama 2 adds in front
    std::string back;
    for (const int token : t.encode("x = \u00e9\u4f60\n\ty")) back += t.text(token);
    CHECK(back.substr(back.starts_with(' ')) == "x = \u00e9\u4f60\n\ty");
  }
}

// Cases that poslab once read differently; tests/huggingface/compare_tokenizers.py draws many more.
TEST_CASE("hf: each step, option and flag of a tokenizer acts as in the library") {
  for (const Json& of : golden("steps.json")) {
    const HfTokenizer t(of["tokenizer"].dump(), "tokenizer.json");
    INFO(of["tokenizer"].dump());
    CHECK(t.encode(of["text"].get<std::string>()) == of["tokens"].get<std::vector<int>>());
    check_bytes(t, of["text"]);
    for (int token = 0; token < int(of["texts"].size()); ++token)
      CHECK(valid_utf8(t.text(token)).text == of["texts"][size_t(token)].get<std::string>());
  }
}

TEST_CASE("hf: bytes that are not UTF-8 are U+FFFD, and a character cut off at the beginning is skipped") {
  const HfTokenizer t(tokenizer_cases()["tokenizers"][0]["tokenizer"].dump(), "tokenizer.json");
  const auto text = [&](const std::string& bytes) {
    std::string back;
    for (const int token : t.encode(bytes)) back += t.text(token);
    return back;
  };
  CHECK(text("a\xFF b") == "a\uFFFD b");
  CHECK(text("\x9C\xE4\xBD\xA0") == "\u4f60");
  CHECK(t.text(-1) == "");
  CHECK(t.text(1 << 20) == "");
}

// What pre_tokenizers.Split(" ", "merged_with_previous") of tokenizers 0.23.3 does.
TEST_CASE("hf: a text is split after each match that ends a piece") {
  const HfPieces pieces({}, {{"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", "MergedWithPrevious"}},
                        "t");
  const auto of = [&](const std::string& text, size_t most = 100) {
    std::vector<std::string> all;
    pieces.cut(NormalizedText(text), true,
               [&](const NormalizedText& piece) { return all.push_back(piece.text), all.size() < most; });
    return all;
  };
  using Cut = std::vector<std::string>;
  CHECK(of("  a  b c ") == Cut{" ", " ", "a ", " ", "b ", "c "});
  CHECK(of("a b") == Cut{"a ", "b"});
  CHECK(of("a b", 1) == Cut{"a "});
  CHECK(of(" a") == Cut{" ", "a"});
  CHECK(of("ab") == Cut{"ab"});
}

TEST_CASE("hf: a tokenizer of an unknown kind, or one that does not fit the model, is refused by name") {
  const Json plain = tokenizer_cases()["tokenizers"][0]["tokenizer"];
  const auto refused = [&](const char* at, const Json& value) {
    Json t = plain;
    t[Json::json_pointer(at)] = value;
    return refusal([&] { HfTokenizer(t.dump(), "t"); });
  };
  CHECK(refused("/version", "1.0") == "");
  CHECK(refused("/version", "2.0") == "2: t: its \"version\" is \"2.0\", but poslab reads 1.0");
  CHECK(refused("/model/type", "Unigram") == "2: t: token model \"Unigram\"; poslab reads only BPE with merges");
  CHECK(refused("/normalizer", {{"type", "Lowercase"}}) ==
        "2: t: the normalizer \"Lowercase\" is not known; poslab reads those of LLaMA and its relatives");
  CHECK(holds(refused("/pre_tokenizer", {{"type", "Whitespace"}}), "t: the pre_tokenizer \"Whitespace\" is not known"));
  CHECK(holds(refused("/pre_tokenizer/pretokenizers/0/behavior", "Merged"), "the behavior of \"Split\" is not known"));
  CHECK(holds(refused("/post_processor", {{"type", "BertProcessing"}}), "t: the post_processor \"BertProcessing\""));
  CHECK(holds(refused("/model/dropout", 0.1), "t: \"dropout\" is 0.1; poslab reads no such tokenizer"));
  CHECK(holds(refused("/model/merges/0", {"qq", "zz"}), "t: merge 0 joins \"qq\" and \"zz\""));
  // a step that inserts too much
  CHECK(refused("/normalizer", {{"type", "Prepend"}, {"prepend", std::string(65, 'x')}}) ==
        "2: t: a step puts 65 bytes into a text, but poslab allows at most 64");
  const Json bytes = {{"type", "ByteLevel"}}, marks = {{"type", "Metaspace"}, {"replacement", "_"}};
  for (const Json& step : {bytes, marks})
    CHECK(refused("/pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {step, step}}}) ==
          "2: t: it has two steps " + step["type"].dump() + "; poslab reads tokenizers with one");
  Json grows = {{"type", "Sequence"}, {"normalizers", Json::array()}}, longer = plain;
  for (int n = 0; n < 40; ++n)
    grows["normalizers"].push_back({{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}});
  longer["normalizer"] = grows;
  CHECK(refusal([&] { HfTokenizer(longer.dump(), "t").encode("a"); }) ==
        "1: its normalizer makes 131072 bytes from a text of 1; fetch the tokenizer again");
  CHECK(holds(refused("/model/vocab", 3), "t is not a tokenizer.json: its \"vocab\" is not an object"));
  for (const Json& number : {Json("b"), Json(1.5), Json(-1), Json(int64_t(1) << 40), Json()}) {
    const std::string says = "has the number " + number.dump() +
                             "; in a file of this size it must be a whole number, 0 .. "
                             "65536";
    CHECK(refused("/model/vocab", {{"a", number}}) == "2: t: the token \"a\" " + says);
    CHECK(refused("/added_tokens/0/id", number) == "2: t: the token \"<|endoftext|>\" " + says);
  }
  CHECK(holds(refusal([] { HfTokenizer("{}", "t"); }), "2: t is not a tokenizer.json: it has no object \"model\""));

  const TemporaryFolder folder;
  HfModel model = open_hf_model(golden_folder + "qwen2");
  CHECK(open_hf_tokenizer(model)->size() == 300);
  model.config.spec.vocabulary = 299;
  CHECK(holds(
      refusal([&] { open_hf_tokenizer(model); }),
      "tokenizer.json has tokens up to 299, but its config.json gives the model 299: they do not belong together"));
  model.folder = folder.path;
  CHECK(holds(refusal([&] { open_hf_tokenizer(model); }),
              "has no tokenizer.json and no tokenizer.model, and without tokens no text can be read"));
}

TEST_CASE("hf: parts of a tokenizer that the library reads in another way are refused") {
  const Json plain = tokenizer_cases()["tokenizers"][0]["tokenizer"];
  const auto refused = [&](const std::vector<std::pair<const char*, Json>>& changes) {
    Json t = plain;
    for (const auto& [at, value] : changes) t[Json::json_pointer(at)] = value;
    return refusal([&] { HfTokenizer(t.dump(), "t").encode("ab"); });
  };
  const auto sequence = [](const char* of, const std::vector<Json>& steps) {
    return Json{{"type", "Sequence"}, {of, steps}};
  };
  const Json mark = {{"type", "Replace"}, {"pattern", {{"String", "x"}}}, {"content", "y"}},
             bytes = {{"type", "ByteFallback"}}, fuse = {{"type", "Fuse"}},
             prepend = {{"type", "Prepend"}, {"prepend", ""}},
             metaspace = {{"type", "Metaspace"}, {"replacement", "_"}};
  // cases that the library itself gets wrong: an empty text added in front, several templates
  CHECK(holds(refused({{"/normalizer", prepend}}), "a step \"Prepend\" has no text"));
  Json empty = mark, two = metaspace, first = metaspace, never = metaspace;
  empty["pattern"]["String"] = "", two["replacement"] = "ab", first["prepend_scheme"] = "first";
  never["add_prefix_space"] = false;
  CHECK(holds(refused({{"/normalizer", empty}}), "\"Replace\" replaces an empty text"));
  CHECK(holds(refused({{"/pre_tokenizer", two}}), "its mark for spaces is \"ab\"; it must be one character"));
  CHECK(holds(refused({{"/pre_tokenizer", first}}), "\"prepend_scheme\" is \"first\" after steps that change"));
  CHECK(holds(refused({{"/pre_tokenizer", never}}), "\"prepend_scheme\" is \"always\"; it must be \"never\""));
  CHECK(refused({{"/pre_tokenizer", first}, {"/normalizer", mark}}) == "");
  const Json text = {{"Sequence", {{"id", "A"}}}}, special = {{"SpecialToken", {{"id", "s"}}}};
  const auto of = [&](const std::vector<Json>& single) {
    return Json{{"type", "TemplateProcessing"}, {"single", single}, {"special_tokens", {{"s", {{"ids", {1}}}}}}};
  };
  CHECK(refused({{"/post_processor", of({special, text})}}) == "");
  CHECK(holds(refused({{"/post_processor", sequence("processors", {of({special, text}), of({special, text})})}}),
              "it has two templates"));
  for (const std::vector<Json>& single :
       {std::vector<Json>{special}, {text, text}, {Json{{"Sequence", {{"id", "B"}}}}}})
    CHECK(holds(refused({{"/post_processor", of(single)}}), "must contain the text, $A, once"));
  CHECK(holds(refused({{"/post_processor", of({text, special})}}), "it puts s after every text"));
  // tokens without a text of their own
  CHECK(of_letters(Json::object()).text(6) == "\u2581");  // as spelled, because there is no decoder
  CHECK(holds(refused({{"/decoder", {{"type", "CTC"}}}}), "the decoder \"CTC\" is not read: poslab reads ByteLevel"));
  for (const Json& steps : {sequence("decoders", {bytes, mark}), sequence("decoders", {fuse, metaspace}),
                            sequence("decoders", {fuse, bytes}), sequence("decoders", {plain["decoder"], mark})})
    CHECK(holds(refused({{"/decoder", steps}}), "it comes after bytes or tokens have been joined"));
  CHECK(holds(refused({{"/decoder", {{"type", "Strip"}, {"content", " "}, {"start", 0}, {"stop", 1}}}}),
              "it takes characters from the end"));
  // ambiguous numbers and names
  CHECK(holds(refused({{"/added_tokens/0/id", 299}}),
              "the added token \"<|endoftext|>\" has the number 299, but the library `tokenizers` gives it 297"));
  Json again = plain["added_tokens"][0];
  again["lstrip"] = true;
  CHECK(holds(refused({{"/added_tokens/3", again}}),
              "two added tokens have the text \"<|endoftext|>\" but differ otherwise"));
  CHECK(refused({{"/added_tokens/3", plain["added_tokens"][0]}}) == "");
  CHECK(holds(
      refused({{"/added_tokens/0/normalized", true},
               {"/normalizer", {{"type", "Replace"}, {"pattern", {{"String", "<|endoftext|>"}}}, {"content", ""}}}}),
      "its normalizer makes \"\" of the added token \"<|endoftext|>\", which no text can have"));
  CHECK(holds(refused({{"/model/vocab/a", 5}}), "two tokens of its model have the number 5"));
  CHECK(holds(refused({{"/model/merges/0", "a b c"}}), "the merge \"a b c\" is not two tokens"));
  CHECK(holds(refused({{"/model/unk_token", "<no>"},
                       {"/pre_tokenizer", Json()},
                       {"/model/vocab", {{"a", 0}}},
                       {"/model/merges", Json::array()},
                       {"/added_tokens", Json::array()}}),
              "1: t: \"b\" has no token, and its \"unk_token\", \"<no>\", is not a token either"));
}

TEST_CASE("hf: an expression is read as Oniguruma reads it, or refused") {
  const auto matches = [](const std::string& expression, const std::string& text) {
    std::string all;
    Regex(expression, "t").each(text, [&](size_t from, size_t to) {
      all += "(" + text.substr(from, to - from) + ")";
      return true;
    });
    return all;
  };
  CHECK(matches("\\s+", "a\u0085\u3000b\u180e") == "(\u0085\u3000)");
  CHECK(matches("[^\\S\n]", "a\u0085\n ") == "(\u0085)( )");
  CHECK(matches("\\w+", "a\u0301\u00bd\u24d0 ") == "(a\u0301\u00bd\u24d0)");
  CHECK(matches("[\\w]+", "a\u0301\u00bd\u24d0 ") == "(a\u0301)(\u24d0)");
  CHECK(matches("\\W", "a\u00bd\u0301.") == "(.)");
  CHECK(matches(".", "a\r\n") == "(a)(\r)");
  CHECK(matches("(?i:k|[s])", "kK\u212a\u017f") == "(k)(K)(\u212a)(\u017f)");
  CHECK(matches("(a|ab)(?!c)x?", "abx") == "(a)");
  CHECK(matches("a{1,2}|[-b\\-\\]]", "aaa-]b") == "(aa)(a)(-)(])(b)");
  CHECK(matches(escaped("\\E.(\n["), "\\E.(\n[") == "(\\E.(\n[)");
  for (const char* other :
       {"^a",      "a$",          "\\h",    "\\R",    "\\X",     "\\bthe",  "\\Aa",        "\\p{Han}",
        "\\p{^L}", "[[:alpha:]]", "[a&&b]", "[]a]",   "[a-\\d]", "[\\w-a]", "[\\W]",       "a{2}+",
        "a{2}?",   "a{,2}",       "a**",    "(?m:.)", "(?i)a",   "(?i:ss)", "(?i:\u00df)", "(?i:s+)",
        "(a)\\1",  "\\x41",       "]",      "}",      "a\\"})
    CHECK_MESSAGE(holds(refusal([&] { Regex(other, "t"); }), "poslab refuses it"), other);
  for (const char* empty : {"a*", "a|", "(?=a)"})
    CHECK(holds(refusal([&] { Regex(empty, "t"); }), "also matches an empty text"));
  CHECK(holds(refusal([] { Regex("(", "t"); }), "t: the expression \"(\" is wrong: missing closing parenthesis"));
  CHECK(holds(refusal([] { Regex("[b-a]", "t"); }), "t: the expression \"[b-a]\" is wrong: range out of order"));
}

TEST_CASE("hf: a tokenizer.model gives the tokens of sentencepiece's own library, with bytes and with unknown ones") {
  const std::string at = golden_folder + "sentencepiece/";
  const Json tokens = golden("sentencepiece/tokens.json");
  for (const auto& [name, of] : tokens.items()) {
    const std::string bytes = read_file(at + name + ".model");
    const SentencePiece t(bytes, "t", true), bare(bytes, "t", false);
    CHECK(t.prefix() == (of["begin"] == -1 ? std::vector<int>() : std::vector<int>{of["begin"]}));
    CHECK(bare.prefix().empty());
    for (size_t n = 0; n < tokenizer_cases()["texts"].size(); ++n) {
      const std::string text = tokenizer_cases()["texts"][n];
      INFO(name, ": ", text);
      const std::vector<int> whole = of["tokens"][n];
      check_bytes(t, text);
      CHECK(t.encode(text) == whole);
      CHECK(t.encode(text, 3) ==
            std::vector<int>(whole.begin(), whole.begin() + long(std::min<size_t>(3, whole.size()))));
    }
  }
  const SentencePiece t(read_file(at + "bpe.model"), "t", true);
  std::string back;
  for (const int token : t.encode("\x9Cx = \u00e9\u4f60\n\ty")) back += t.text(token);
  CHECK(back == " x = \u00e9\u4f60\n\ty");  // with the added space in front, and without the cut-off character
  CHECK(t.text(-1) == "");
  CHECK(t.text(t.size()) == "");
  // each byte of a character without a piece counts one; unknown characters are one token; repeated spaces are dropped
  CHECK(cut_up(t, "x\u4f60y") == "||x|\xE4|\xBD|\xA0|y");
  CHECK(cut_up(t, "\u4f60") == "||\xE4|\xBD|\xA0");
  const SentencePiece known(read_file(at + "unigram.model"), "t", true);
  CHECK(cut_up(known, "  ABC   d ") == "|  A|BC|   |d");
  CHECK(cut_up(known, "e\u4f60\u597d") == "|e|\u4f60\u597d");
}

TEST_CASE("hf: a user-defined piece of a tokenizer.model is not read as a byte, and is refused in a Unigram model") {
  // By sentencepiece_model.proto field 1 is a piece, with its text and its type (4: user-defined), and field 3 of field
  // 2 is the kind of model (2: BPE).
  const auto with_piece = [](const std::string& text, const std::string& more) {
    const std::string piece = "\x0A" + std::string(1, char(text.size())) + text + "\x18\x04";
    return read_file(golden_folder + "sentencepiece/unigram.model") + "\x0A" + char(piece.size()) + piece + more;
  };
  const SentencePiece t(with_piece("<0x41>", "\x12\x02\x18\x02"), "F", true);
  CHECK(t.text(t.size() - 1) == "<0x41>");
  CHECK(t.encode("<0x41>").back() == t.size() - 1);
  CHECK(holds(refusal([&] { SentencePiece(with_piece("<0x41>", ""), "F", true); }),
              "2: F: some of its Unigram pieces are user-defined"));
}

TEST_CASE("hf: a checkpoint with only a tokenizer.model, and faults of that file") {
  const TemporaryFolder folder;
  HfModel model = open_hf_model(golden_folder + "llama");
  model.folder = folder.path, model.config.spec.vocabulary = 400;
  const std::string whole = read_file(golden_folder + "sentencepiece/bpe.model");
  const auto says = [&] {
    std::string text = refusal([&] { open_hf_tokenizer(model); });
    for (size_t at; (at = text.find(folder.path)) != std::string::npos;) text.replace(at, folder.path.size(), "F");
    return text;
  };
  write_file(folder / "tokenizer.model", whole);
  CHECK(open_hf_tokenizer(model)->prefix() == std::vector{1});
  write_file(folder / "tokenizer_config.json", R"({"add_bos_token": false, "unk_token": "<unk>"})");
  CHECK(open_hf_tokenizer(model)->prefix().empty());
  write_file(folder / "tokenizer_config.json", R"({"add_eos_token": true})");
  CHECK(says() ==
        "2: F/tokenizer_config.json: \"add_eos_token\" is true; it must be false: only tokens before a text "
        "are added");
  write_file(folder / "tokenizer_config.json", "{}");
  model.config.spec.vocabulary = 399;
  CHECK(says() ==
        "2: F/tokenizer.model has tokens up to 399, but its config.json gives the model 399: they do not "
        "belong together");
  for (const std::string& damaged : {std::string("x"), std::string(), whole.substr(0, 100), whole.substr(1)}) {
    write_file(folder / "tokenizer.model", damaged);
    CHECK(says() == "2: F/tokenizer.model is not a tokenizer.model of sentencepiece, or is damaged; fetch it again");
  }
}

TEST_CASE("hf: the character table of a tokenizer.model may not point outside itself") {
  // A table that maps "A" to "b": from unit 0 the letter leads to 0 ^ 0x80 ^ 'A', and from there 0 leads to a leaf.
  std::vector<uint32_t> trie(256);
  trie[0] = 0x80 << 10, trie[0xC1] = 1 << 10 | 1 << 8 | 'A', trie[0xC0] = 1u << 31;
  const auto with_table = [](const std::vector<uint32_t>& units, const std::string& strings, int more_bytes = 0) {
    const auto field = [](char tag, const std::string& bytes) {  // a field of 128 bytes or more
      return std::string{tag, char(bytes.size() % 128 | 128), char(bytes.size() / 128)} + bytes;
    };
    const uint32_t bytes = uint32_t(units.size() * 4 + size_t(more_bytes));
    std::string table(4 + units.size() * 4, '\0');
    std::memcpy(table.data(), &bytes, 4);
    std::memcpy(table.data() + 4, units.data(), units.size() * 4);
    return read_file(golden_folder + "sentencepiece/unigram.model") + field(0x1A, field(0x12, table + strings));
  };
  const std::string b("b\0", 2);
  const auto says = [&](const std::string& model) {
    return refusal([&] { SentencePiece(model, "F", true).encode("A"); });
  };
  const SentencePiece t(with_table(trie, b), "F", true);
  CHECK(t.encode("xA") == t.encode("xb"));
  CHECK(t.encode("xa") != t.encode("xb"));
  const std::string refused = "2: F is damaged: its table of characters points outside of itself; fetch it again";
  for (const size_t at : {size_t(0), size_t(0xC1), size_t(7)}) {
    auto wrong = trie;
    wrong[at] = 0x1ff00 << 10 | (wrong[at] & 0x1ff);
    CHECK(says(with_table(wrong, b)) == refused);
  }
  auto wrong = trie;
  wrong[0xC0] = 1u << 31 | 2;
  CHECK(says(with_table(wrong, b)) == refused);
  CHECK(says(with_table(trie, "b")) == refused);
  CHECK(says(with_table(trie, "")) == refused);
  for (const int bytes : {-4, 4, 1024, -1024, 1 << 30}) CHECK(says(with_table(trie, b, bytes)) == refused);
}
