// A caller of the library, such as Python or Qt, may have set a locale. Numbers still have a decimal point, and I is
// the capital letter of i.
#include <cctype>
#include <clocale>
#include <cstdlib>
#include <utility>

#include "core/ascii.h"
#include "core/names.h"
#include "encodings/encoding.h"
#include "lab/files/csv.h"
#include "lab/files/json.h"
#include "lab/files/progress.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/values.h"
#include "lab/runs/whole_run.h"
#include "tasks/retrieval/retrieval.h"
#include "tasks/task.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;

namespace {

// A locale of the C library, built for this test if the system has its source; the destructor restores the old one.
class Locale {
 public:
  Locale(const TemporaryFolder& folder, const std::string& name) {
    const std::string made = folder / (name + ".UTF-8");
    if (std::system(fmt::format("localedef -i {} -f UTF-8 {} > /dev/null 2>&1", name, made).c_str())) return;
    ::setenv("LOCPATH", folder.path.c_str(), 1);
    there = std::setlocale(LC_ALL, (name + ".UTF-8").c_str()) != nullptr;
  }
  ~Locale() {
    std::setlocale(LC_ALL, "C");
    ::unsetenv("LOCPATH");
  }
  bool there = false;
};

void train_in(const std::string& run) {
  const Settings all = overlaid(
      all_choices(), test::tiny,
      {{"encoding", "yarn:factor=2.5"}, {"positions", "sequential"}, {"lr", "0.0025"}, {"out", run}});
  const bool shown = std::exchange(Progress::shown, false);
  train_run(strings_kind(), all, {}, false);
  Progress::shown = shown;
}

}  // namespace

TEST_CASE("ascii: letters and other characters are those of the C locale, and bytes beyond ASCII belong to no class") {
  for (int n = 0; n < 256; ++n) {
    const char c = char(n);
    CAPTURE(n);
    CHECK(ascii::is_digit(c) == bool(std::isdigit(n)));
    CHECK(ascii::is_lower(c) == bool(std::islower(n)));
    CHECK(ascii::is_alnum(c) == bool(std::isalnum(n)));
    CHECK(ascii::is_space(c) == bool(std::isspace(n)));
    CHECK(ascii::is_punct(c) == bool(std::ispunct(n)));
    CHECK(ascii::lower(c) == char(std::tolower(n)));
    CHECK(ascii::upper(c) == char(std::toupper(n)));
  }
}

TEST_CASE("a locale with decimal commas and a dotless i changes neither what is read nor what is written") {
  const TemporaryFolder folder;
  const auto unknown = [] { return refusal([] { choose_encoding("AL1BI"); }); };
  const std::string known = unknown();
  CHECK(holds(known, "did you mean \"alibi\"?"));
  train_in(folder / "c");
  const Locale turkish(folder, "tr_TR");
  if (!turkish.there) {
    MESSAGE("the system has no source of the locale tr_TR: not tested");
    return;
  }
  CHECK(std::strtod("2.5", nullptr) == 2);  // what the C library reads in this locale
  CHECK(std::tolower('I') == 'I');
  CHECK(ascii::number("2.5") == 2.5);
  CHECK(choose_encoding("yarn:factor=2.5").choices.number("factor") == 2.5);
  CHECK(unknown() == known);
  double cell = 0;
  CHECK((read_cell("-0.125", cell) && cell == -0.125));
  CHECK(try_json("[0.5]")[0] == 0.5);
  CHECK(Json(0.5).dump() == "0.5");
  CHECK(read_toml("lr = 0.25", "c.toml", strings_kind()) == Settings{{"lr", "0.25"}});
  CHECK(choose_retrieval("documents")->right("IN ISTANBUL", {"in istanbul"}));
  train_in(folder / "tr");
  for (const char* file : {"config.toml", "metrics.jsonl", "checkpoint.safetensors", "eval.csv", "pictures.json"}) {
    CAPTURE(file);
    CHECK((read_file(folder / "tr/" + file) == read_file(folder / "c/" + file)));
  }
}
