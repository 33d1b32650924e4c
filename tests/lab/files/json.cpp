// JSON from untrusted files (lab/files/json.h): read like any other JSON, and refused if it is nested too deeply or has
// a key twice.
#include <map>
#include <set>

#include "core/stop.h"
#include "lab/files/json.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;

namespace {

std::string brackets(int deep) { return std::string(size_t(deep), '[') + std::string(size_t(deep), ']'); }

// The program's source files, {path: text}.
std::map<std::string, std::string> sources() {
  std::map<std::string, std::string> all;
  for (const char* folder : {"lab", "apps", "python", "experiment"})
    for (const auto& at : std::filesystem::recursive_directory_iterator(source_folder + std::string("/") + folder))
      if (const auto end = at.path().extension(); end == ".cpp" || end == ".h")
        all[at.path().lexically_relative(source_folder).string()] = read_file(at.path().string());
  return all;
}

}  // namespace

TEST_CASE("JSON: values equal those of the library's own parser, and keys keep their order") {
  for (const char* text :
       {"null", "-3", "18446744073709551615", "1e3", "\"a\\u00e9\\n\"", "[]", "{}", "[[],{},[1,[2]]]",
        R"({"z": 1, "a": {"y": [true, {"x": null}], "b": "c"}, "m": [{}, {"k": 0.5}]})"}) {
    CHECK(parse_json(text, "t") == Json::parse(text));
    CHECK(parse_json(text, "t").dump() == Json::parse(text).dump());
  }
}

TEST_CASE("JSON: invalid text, deep nesting and keys that occur twice are refused in one line that names the file") {
  const auto says = [](const std::string& text) { return refusal([&] { parse_json(text, "DIR/config.json"); }); };
  const std::string file = "2: DIR/config.json is not valid JSON: ", remedy = "; save or fetch it again";
  CHECK(says(brackets(64)) == "");
  for (const std::string& text : {brackets(65), brackets(80000), std::string(80000, '['), std::string(80000, '{')}) {
    if (text[0] == '[') CHECK(says(text) == file + "it is nested more than 64 levels deep" + remedy);
    CHECK(holds(says(text), file));
    CHECK(try_json(text).is_discarded());
  }
  CHECK(says(R"({"a": 1, "b": {"c": 2, "d": 3, "c": 2}})") == file + "it has \"c\" twice in one object" + remedy);
  CHECK(says("{\"a\": 1") == file + "it has an error at byte 8" + remedy);
  CHECK(says("1e999") == file + "it has an error at byte 5" + remedy);
  CHECK(says("") == file + "it has an error at byte 1" + remedy);
  CHECK(try_json("{\"step\": 3").is_discarded());
  CHECK(try_json("{\"step\": 3}")["step"] == 3);
}

TEST_CASE("JSON: an object of 200,000 keys is read at once, and a stop ends it") {
  std::string text = "{";
  for (int n = 0; n < 200000; ++n) text += fmt::format("\"key{}\": {},", n, n);
  text.back() = '}';
  CHECK(parse_json(text, "t").size() == 200000);  // would take minutes if each key were compared with all earlier ones
  stop_requested = true;
  CHECK_THROWS_AS(parse_json(text, "t"), Stopped);
  stop_requested = false;
}

TEST_CASE("JSON: numbers of tokens, sizes and places are whole and small enough, or refused") {
  CHECK(whole_number(7, 7) == 7u);
  CHECK(whole_number(parse_json("18446744073709551615", "t"), UINT64_MAX) == UINT64_MAX);
  for (const char* text : {"8", "-1", "1.5", "7.0", "1099511627776", "1e30", "\"7\"", "null", "[7]"})
    CHECK_MESSAGE(!whole_number(parse_json(text, "t"), 7), text);
}

TEST_CASE("JSON: a long value is shown in part, and no character is cut") {
  CHECK(in_short(Json("a")) == "\"a\"");
  const std::string cut = in_short(Json(std::string(59, 'a') + std::string(1000, ' ') + "b"));
  CHECK(cut.size() == 123);
  std::string accents;
  for (int n = 0; n < 100; ++n) accents += "\u00e9";
  CHECK(in_short(Json(accents)).size() == 1 + 2 * 59 + 3);
}

TEST_CASE("JSON is parsed in one place, and files are opened for reading in one place") {
  const std::set<std::string> may_open = {"lab/files/memory.cpp", "lab/files/version.cpp"};  // these open system files
  for (const auto& [path, text] : sources()) {
    for (const char* call : {"json::parse(", "Json::parse(", "json::accept(", "sax_parse("})
      CHECK_MESSAGE((path == "lab/files/json.cpp" || !holds(text, call)), path, " calls ", call,
                    "; lab/files/json.h reads JSON");
    for (const char* word : {"std::ifstream", "std::fstream"})
      CHECK_MESSAGE((may_open.count(path) || !holds(text, word)), path, " has ", word,
                    "; lab/files/files.h reads files");
  }
}
