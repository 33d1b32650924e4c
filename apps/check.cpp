#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "apps/all_commands.h"
#include "core/error.h"
#include "encodings/checks/checks.h"
#include "encodings/compose.h"
#include "encodings/fits.h"
#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/files/progress.h"
#include "lab/files/version.h"

namespace poslab {
namespace {

using checks::Check;
using checks::Report;
using Spellings = std::vector<std::string>;

struct CheckWords {
  Spellings encodings;
  bool all = false, markdown = false;
};

// One check of one scheme, for the table.
struct Cell {
  std::string holds, error, short_error;  // "yes", "3.1e-07 < 1e-05", "3e-07"
  std::string why_not;
  bool failed = false;
  Spellings where = {};
};

Cell stated(const Report& r, bool by_default) {
  if (!r.failures.empty())
    return {"NO", fmt::format("{:.1e}, not < {:.0e}", r.worst, r.bound), "**NO**", "", true, r.failures};
  // Some options make no difference in a string of six slots.
  if (!r.unseen.empty())
    return by_default ? Cell{"NO", "no difference where there should be one", "**NO**", "", true, r.unseen}
                      : Cell{"-", "", "", "with these options 6 slots show no difference", false};
  if (r.below)
    return {"yes", fmt::format("{:.1e} < {:.0e}", r.worst, r.bound),
            r.worst == 0 ? "0" : fmt::format("{:.0e}", r.worst)};
  if (r.broken >= 0)
    return {"not claimed", fmt::format("breaks by {:.1e}", r.broken), fmt::format("no: {:.0e}", r.broken)};
  if (r.shown)
    return {"yes", fmt::format("differs by {:.1e} or more", r.least), fmt::format("differs: {:.0e}", r.least)};
  return {"-", "", "", r.why_not};
}

// The other programs that computed this scheme, according to the golden files of the current folder's source tree.
struct Golden {
  int own = 0;
  std::set<std::string> published = {};
};
const char* const own_files = "tests/data/reference";
const char* const their_files = "tests/data/published";

std::map<std::string, Golden> all_golden() {
  std::map<std::string, Golden> all;
  for (const char* folder : {own_files, their_files})
    if (std::filesystem::is_directory(folder))
      for (const auto& file : std::filesystem::directory_iterator(folder)) {
        if (file.path().extension() != ".json") continue;
        const auto golden = parse_json(read_file(file.path().string()), file.path().string());
        Golden& of = all[read_spelling(golden["encoding"]).name];
        if (folder == own_files)
          ++of.own;
        else {
          const std::string source = golden["source"];
          of.published.insert(source.substr(0, source.find(':')));
        }
      }
  return all;
}

bool spelled_alone(const std::string& spelling) {
  return !composed_spelling(spelling) && choose_encoding(spelling)->name == spelling;
}

// Prints the table of one scheme; returns the failed checks.
Spellings show(const std::string& spelling, const std::map<std::string, Golden>& golden) {
  Spellings failed;
  fmt::print("{}\n\n{:<12} {:<12} {:<34} {:>7}\n", spelling, "check", "holds", "worst error", "seconds");
  for (const Check& check : checks::all_checks()) {
    const Report r = run(check, spelling);
    const Cell cell = stated(r, spelled_alone(spelling));
    if (cell.why_not.empty())
      fmt::print("{:<12} {:<12} {:<34} {:>7.2f}\n", check.name, cell.holds, cell.error, r.seconds);
    else
      fmt::print("{:<12} {:<12} {}\n", check.name, cell.holds, cell.why_not);
    for (size_t n = 0; n < std::min<size_t>(cell.where.size(), 3); ++n) fmt::print("  {}\n", cell.where[n]);
    if (cell.where.size() > 3) fmt::print("  and {} more\n", cell.where.size() - 3);
    if (cell.failed && r.failures.empty())
      fmt::print(
          "  Strings have {} slots here, at positions below {}: a length in the scheme may be longer. Let its default\n"
          "  follow the trained length, by window_option() of encodings/windows.h, or make it smaller.\n",
          checks::T, checks::pool);
    if (cell.failed) failed.push_back(check.name);
  }
  std::string value = "-", of;
  if (composed_spelling(spelling))
    of = "its parts have golden files of their own";
  else if (!std::filesystem::is_directory(own_files))
    of = fmt::format("not in a source tree: no {} here", own_files);
  else {
    const std::string name = choose_encoding(spelling)->name;
    const auto at = golden.find(name);
    if (at == golden.end()) {
      value = "NO", of = fmt::format("no golden file; write one with `tools/reference {}`", name);
      failed.push_back("golden");
    } else {
      value = "there", of = fmt::format("{} of ours", at->second.own);
      if (!at->second.published.empty()) of += fmt::format("; published: {}", fmt::join(at->second.published, ", "));
      of += "; `./dev test release` compares them, not this command";
    }
  }
  fmt::print("{:<12} {:<12} {}\n\n", "golden", value, of);
  return failed;
}

// A letter for each reason: a, b, c, ...
struct Legend {
  Spellings reasons;
  std::string code(const std::string& reason) {
    const auto at = std::find(reasons.begin(), reasons.end(), reason);
    const auto n = at - reasons.begin();
    if (at == reasons.end()) reasons.push_back(reason);
    return std::string(1, char('a' + n % 26)) + (n < 26 ? "" : std::to_string(n / 26));
  }
};

// Prints the page of all schemes; returns the failed checks.
Spellings page(const Spellings& encodings, const std::map<std::string, Golden>& golden) {
  Spellings failed;
  Legend legend;
  double seconds = 0;
  std::map<std::string, std::string> about;
  for (const auto& [name, word] : poslab::about()) about[name] = word;
  std::string head = "| scheme |", rule = "|---|", laws, rows;
  for (const Check& check : checks::all_checks()) {
    head += " " + check.name + " |", rule += "---|";
    laws += fmt::format("- **{}**: {}.\n", check.name, check.law);
  }
  for (const std::string& name : encodings) {
    if (isatty(STDERR_FILENO)) tell(stderr, "{}\n", name);
    rows += fmt::format("| `{}` |", name);
    for (const Check& check : checks::all_checks()) {
      const Report r = run(check, name);
      const Cell cell = stated(r, spelled_alone(name));
      seconds += r.seconds;
      rows += fmt::format(" {} |", cell.why_not.empty() ? cell.short_error : legend.code(cell.why_not));
      if (cell.failed) failed.push_back(fmt::format("{} ({})", name, check.name));
    }
    const auto at = golden.find(name);
    const Golden files = at == golden.end() ? Golden{} : at->second;
    rows += fmt::format(" {} |", files.own ? std::to_string(files.own) : legend.code("it has no golden file here"));
    rows += fmt::format(" {} |\n", files.published.empty() ? legend.code("there is no published code of it")
                                                           : fmt::format("{}", fmt::join(files.published, ", ")));
  }
  std::string reasons;
  for (const std::string& why : legend.reasons) reasons += fmt::format("- **{}**: {}.\n", legend.code(why), why);
  fmt::print(fmt::runtime(help_text("check-page").substr(1)), fmt::arg("commit", about["commit"]),
             fmt::arg("scalar", about["scalar"]), fmt::arg("isa", about["isa"]), fmt::arg("seconds", seconds),
             fmt::arg("bound", checks::tolerance), fmt::arg("of_gradients", checks::gradient_bound),
             fmt::arg("laws", laws), fmt::arg("head", head), fmt::arg("rule", rule), fmt::arg("rows", rows),
             fmt::arg("reasons", reasons));
  return failed;
}

void run(const CheckWords& w) {
  Spellings spellings;
  for (const std::string& text : w.all ? names_of(all_encodings()) : w.encodings) {
    choose_encoding(text);
    for (const std::string& part : split(text, '|'))  // each layer's scheme is checked alone
      if (std::find(spellings.begin(), spellings.end(), part) == spellings.end()) spellings.push_back(part);
  }
  for (const std::string& spelling : spellings)
    for (const checks::Setup& setup : checks::each_setup({spelling})) try {
        check_fits(setup.scheme, setup.shape);
      } catch (const BadInput& e) {
        bad_input("{} (checks run a small model, of {} heads of {} channels)", e.what(), checks::H, checks::D);
      }
  if (spellings.empty()) bad_input("which encoding? Name it, or use --all; `poslab list encodings` shows them");
  const std::map<std::string, Golden> golden = all_golden();
  Spellings failed;
  if (w.markdown)
    failed = page(spellings, golden);
  else
    for (const std::string& spelling : spellings)
      for (const std::string& check : show(spelling, golden)) failed.push_back(fmt::format("{} ({})", spelling, check));
  if (!failed.empty()) failure("{} of the checks failed: {}", failed.size(), fmt::join(failed, ", "));
}

}  // namespace

std::function<void()> add_check(CLI::App* check) {
  const auto w = std::make_shared<CheckWords>();
  std::string laws;
  for (const Check& one : checks::all_checks()) laws += fmt::format("  {:<12} {}\n", one.name, one.law);
  check->footer(fmt::format(fmt::runtime(check->get_footer()), fmt::arg("checks", laws)));
  CLI::Option* named = check->add_option("encoding", w->encodings, "encodings as they are spelled, compositions too");
  check->add_flag("--all", w->all, "all of `poslab list encodings`")->excludes(named);
  check->add_flag("--markdown", w->markdown, "as a table in Markdown, one row for each encoding");
  return [=] { run(*w); };
}

}  // namespace poslab
