// Things that are chosen by name: reading and printing their spellings and options, and refusals.
#include "core/choices.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/names.h"

using namespace poslab;

namespace {

struct Thing {
  std::string name;
  std::vector<Option> options = {};
};

const std::vector<Thing> things = {
    {"plain"},
    {"rich",
     {{"mode", {"paper", "code"}, "which"},
      {"symmetric", false, "whether"},
      {"bias", true, "whether"},
      {"window", 512, {1, 4096}, "how far"},
      {"leaky", 0.5, {0, 1}, "how much"}}},
    {"wide", {{"base", 1e17, {2, 1e30}, "a number that is spelled with an exponent"}}},
    {"listed",
     {Option::numbers("factors", "1/8", {0.5, 100}, "one for each"),
      Option::wholes("lengths", "2/4", {1, 100}, "of each")}},
    {"near", {Option::length("reach", "0.5L", {2, 4096}, "how far")}}};

std::string spelled(const std::string& text, const RunValues& run = {}) {
  return choose("thing", things, text, run).spelled();
}

std::string refused(const std::string& text, const RunValues& run = {}) {
  try {
    return "taken: " + spelled(text, run);
  } catch (const BadInput& e) { return e.what(); }
}

}  // namespace

TEST_CASE("choices: a spelling sets options; it is printed with the options that differ from the defaults, in order") {
  const Chosen<Thing> c = choose("thing", things, " rich : leaky = 0.25 ,symmetric,window=7");
  CHECK(c.choices["mode"] == "paper");
  CHECK(c.choices.on("symmetric"));
  CHECK(c.choices.on("bias"));
  CHECK(c.choices.whole("window") == 7);
  CHECK(c.choices.number("leaky") == 0.25);
  CHECK(c.spelled() == "rich:symmetric,window=7,leaky=0.25");
  CHECK(spelled("rich:bias=off,mode=paper,window=512") == "rich:bias=off");
  CHECK(spelled("plain") == "plain");
  CHECK(spelled(spelled("rich:mode=code,bias=no")) == "rich:mode=code,bias=off");
  CHECK(choose("thing", things, "listed").choices.numbers("factors") == std::vector<double>{1, 8});
  CHECK(choose("thing", things, "listed:factors=1/2.50").choices.numbers("factors") == std::vector<double>{1, 2.5});
  CHECK(spelled("listed:factors=1/2.50/4") == "listed:factors=1/2.5/4");
  CHECK(spelled("listed:factors=1.0/8") == "listed");
  CHECK(choose("thing", things, "listed:lengths=3/100").choices.wholes("lengths") == std::vector<int>{3, 100});
  CHECK(spelled("listed:lengths=3/100") == "listed:lengths=3/100");
  CHECK(spelled("wide:base=1e+17") == "wide");
  for (const double base : {1e16, 3e29, 123456789012345678., 0.1 + 0.2, 1e9 + 1. / 3}) {
    if (base >= 2) CHECK(choose("thing", things, "wide:base=" + poslab::spelled(base)).choices.number("base") == base);
    CHECK(std::stod(poslab::spelled(base)) == base);
    CHECK(poslab::spelled(base).find('+') == std::string::npos);
  }
  CHECK(split("a:base=1e+16*2+b:base=2*2", '+') == std::vector<std::string>{"a:base=1e+16*2", "b:base=2*2"});
  CHECK(split("1e+5", '+') == std::vector<std::string>{"1e+5"});
  CHECK(split("2e+alibi", '+') == std::vector<std::string>{"2e", "alibi"});  // an exponent has digits
  CHECK(split("1e+", '+') == std::vector<std::string>{"1e", ""});
  CHECK(split("1e+-5", '+') == std::vector<std::string>{"1e", "-5"});
  CHECK(split("e+5", '+') == std::vector<std::string>{"e", "5"});
  CHECK(split("+5", '+') == std::vector<std::string>{"", "5"});
  CHECK(split("none*4+alibi*4+1e", '+') == std::vector<std::string>{"none*4", "alibi*4", "1e"});
  CHECK_THROWS_AS(c.choices["wndow"], Failure);   // as if a scheme read an undeclared option
}

TEST_CASE("choices: -0 is 0") { CHECK(spelled(read_number("x", "-0.0", {-1, 1}, "")) == "0"); }

TEST_CASE("choices: an option that a spelling leaves out comes from the run") {
  CHECK(spelled("rich", {{"window", "9"}}) == "rich:window=9");
  CHECK(spelled("rich:window=512", {{"window", "9"}}) == "rich");
  CHECK(spelled("plain", {{"window", "9"}}) == "plain");
}

TEST_CASE("choices: a length is a number or a share of the trained length, and is always spelled") {
  CHECK(spelled("near") == "near:reach=0.5L");
  CHECK(spelled("near:reach=512") == "near:reach=512");
  CHECK(spelled("near:reach=0.50L") == "near:reach=0.5L");
  CHECK(spelled("near:reach=0.5L", trained_on(41)) == "near:reach=20");
  CHECK(spelled("near:reach=0.25L", trained_on(40)) == "near:reach=10");
  CHECK(spelled("near:reach=1L", trained_on(1)) == "near:reach=2");
  CHECK(spelled("near:reach=1L", trained_on(9999)) == "near:reach=4096");
  CHECK(spelled("near:reach=7", trained_on(40)) == "near:reach=7");
  CHECK(spelled("near", trained_on(40)) == "near:reach=20");
  CHECK_THROWS_AS(choose("thing", things, "near:reach=0.5L").choices.whole("reach"), BadInput);
  const std::string takes = "it takes 2 .. 4096, or 0.5L: half of the trained length";
  CHECK(refused("near:reach=0L") == "near: reach = 0L is not a share of the trained length; " + takes);
  CHECK(refused("near:reach=L") == "near: reach = L is not a share of the trained length; " + takes);
  CHECK(refused("near:reach=nanL") == "near: reach = nanL is not a share of the trained length; " + takes);
  CHECK(refused("near:reach=1") == "near: reach = 1 is out of range; " + takes);
  CHECK(refused("near:reach=0.5") == "near: reach = \"0.5\" is not a whole number; " + takes);
}

TEST_CASE("names: if a long text contains several names, the longest is suggested") {
  const std::vector<std::string> names{"rope", "partial-rope", "alibi"};
  for (const size_t more : {20, 2000}) {
    const std::string* meant = nearest(std::string(more, 'x') + "-partial-rope", names);
    REQUIRE(meant);
    CHECK(*meant == "partial-rope");
  }
  CHECK(!nearest(std::string(2000, 'x'), names));
}

TEST_CASE("choices: a refusal suggests the name that was probably meant") {
  CHECK(refused("rch") == "unknown thing \"rch\"; did you mean \"rich\"? Known: plain, rich, wide, listed, near");
  CHECK(refused("plain(3)").starts_with("unknown thing \"plain(3)\"; did you mean \"plain\"?"));
  CHECK(refused("plain:3") == "plain has no options; leave out \"3\"");
  CHECK(refused("rich(window=8)").starts_with("unknown thing \"rich(window=8)\"; did you mean \"rich\"?"));
  CHECK(refused("rich:mode") == "rich: unknown mode \"on\". Known: paper, code");
  CHECK(refused("rich:mod=code") ==
        "unknown rich option \"mod\"; did you mean \"mode\"? Known: mode, symmetric, bias, window, leaky");
  CHECK(refused("plain:mode=code") == "plain has no options; leave out \"mode\"");
  CHECK(refused("rich:mode=cod") == "rich: unknown mode \"cod\"; did you mean \"code\"? Known: paper, code");
  CHECK(refused("rich:window=far") == "rich: window = \"far\" is not a whole number; it takes 1 .. 4096");
  CHECK(refused("rich:window=1.5") == "rich: window = \"1.5\" is not a whole number; it takes 1 .. 4096");
  CHECK(refused("rich:window") == "rich: window has no value; write it as in window=512");
  CHECK(refused("rich:window=-99999999999999999999") ==
        "rich: window = -99999999999999999999 is out of range; it takes 1 .. 4096");
  CHECK(
      refused("near:reach=1025L") ==
      "near: reach = 1025L is not a share of the trained length; it takes 2 .. 4096, or 0.5L: half of the trained "
      "length");
  CHECK(refused("rich:window=0") == "rich: window = 0 is out of range; it takes 1 .. 4096");
  CHECK(refused("rich:leaky=nan") == "rich: leaky = nan is out of range; it takes 0 .. 1");
  CHECK(refused("listed:factors=1/0") ==
        "listed: factors = 0 is out of range; it takes 0.5 .. 100, one or more as 1/2/4");
  CHECK(refused("listed:factors=1/") ==
        "listed: factors = \"\" is not a number; it takes 0.5 .. 100, one or more as 1/2/4");
  CHECK(refused("listed:lengths=2/64.5") ==
        "listed: lengths = \"64.5\" is not a whole number; it takes 1 .. 100, one or more as 1/2/4");
  CHECK(refused("rich:symmetric=perhaps") == "rich: symmetric = \"perhaps\" is neither on nor off");
  CHECK(refused("rich:symmetric,symmetric=off") ==
        "\"rich:symmetric,symmetric=off\" has symmetric twice; give it once");
  CHECK(refused("rich:") ==
        "\"rich:\" is not spelled NAME:OPTION=VALUE,OPTION=VALUE; an option is missing after \"rich:\"");
  CHECK(refused("rich:symmetric,") ==
        "\"rich:symmetric,\" is not spelled NAME:OPTION=VALUE,OPTION=VALUE; an option is missing after "
        "\"rich:symmetric,\"");
}

TEST_CASE("choices: options that belong to no scheme, such as a run's, are named alone in errors") {
  Choices c("", {Option("steps", 5, {1, 9}, "how many"), Option::lengths("tested", "1:100", {1, 500}, "which")});
  const auto says = [&](const std::string& option, const std::string& text) -> std::string {
    try {
      c.set(option, text);
    } catch (const BadInput& e) { return e.what(); }
    return c[option];
  };
  CHECK(says("steps", "on") == "steps = \"on\" is not a whole number; it takes 1 .. 9");
  CHECK(says("stps", "3") == "unknown option \"stps\"; did you mean \"steps\"? Known: steps, tested");
  CHECK(says("tested", "7") == "7:7");
  CHECK(says("tested", "7:9") == "7:9");
  for (const char* text : {"", ":", ":9", "7:", "7:8:9", "7-9"})
    CHECK(says("tested", text) ==
          fmt::format("tested = \"{}\" is not a range of lengths; it takes FROM:TO, both 1 .. 500, as in 1:100", text));
  CHECK(says("tested", "9:7") == "tested = 9:7 is empty, because 7 is less than 9; give the shorter one first");
}

TEST_CASE("names: an empty text suggests no name, and an empty name is never suggested") {
  CHECK(!nearest("(rope", {"", "alibi"}));
}
