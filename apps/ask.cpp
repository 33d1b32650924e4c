#include "lab/pages/ask/ask.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>

#include "apps/all_commands.h"
#include "apps/columns.h"
#include "apps/number_option.h"
#include "core/error.h"
#include "core/platform/parallel.h"
#include "experiment/config.h"
#include "lab/files/files.h"
#include "lab/files/progress.h"
#include "lab/files/shell.h"
#include "lab/runs/output.h"
#include "lab/runs/run.h"
#include "lab/runs/spelled_file.h"
#include "lab/runs/unreached.h"

namespace poslab {
namespace {

namespace fs = std::filesystem;

struct AskWords {
  std::string run, file, positions, temperature, device, threads, page;
  std::vector<std::string> strings;
  asking::Options options;
};

// The run, with the given options.
Respondent load(const AskWords& w) {
  for (const std::string& text : w.strings)
    if (!fs::exists(w.run) && fs::exists(fs::path(text) / "config.toml"))
      bad_input("the run comes first: use poslab ask {} {}", shell_path(text), shell_path(w.run));
  const Run run = open_run(w.run, w.device);
  Choices c = run.learner->config();
  if (!w.threads.empty()) c.set("threads", w.threads);
  if (c.whole("threads") > 0) set_threads(c.whole("threads"));
  return run.learner->respondent(with_spelled_file("positions", w.positions),
                                 with_spelled_file("temperature", w.temperature));
}

void print(const std::string& text) {
  fmt::print("{}", text);
  std::fflush(stdout);
}

bool blank(const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; }

// Reads all strings before the first is answered. Prints a note if the given positions or temperature change nothing at
// these lengths.
void ask_all(asking::Session& session, const std::vector<std::string>& strings, const std::string& heading,
             const AskWords& w, const Respondent& asked) {
  int longest = 0;
  for (const std::string& text : strings) longest = std::max(longest, int(session.read(text).size()));
  const RunSpec& c = asked.config;
  if (!w.positions.empty() || !w.temperature.empty())
    tell_unreached({c.scheme, asked.positions, slots(c, longest), asked.temperature, c.whole("layers")});
  print(heading);
  for (const std::string& text : strings) print(session.reply(text));
}

// Answers each line before the next is read.
void ask_lines(asking::Session& session, bool terminal, const std::string& task) {
  std::string line;
  for (int number = 1;; ++number) {
    if (terminal) print(task + "> ");
    if (!std::getline(std::cin, line)) break;
    if (blank(line)) continue;
    if (!terminal) {
      print(prefix_errors(fmt::format("line {}", number), [&] { return session.reply(line); }));
      continue;
    }
    try {
      print(session.reply(line));
    } catch (const BadInput& e) { tell(stderr, "{}\n", e.what()); }
  }
  if (terminal) print("\n");
}

std::vector<std::string> strings_of(const asking::Session& session, const std::string& path) {
  std::istringstream lines(read_lines(path));
  std::vector<std::string> all;
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (blank(line)) continue;
    prefix_errors(fmt::format("{}, line {}", path, number), [&] { return session.read(line); });
    all.push_back(line);
  }
  if (all.empty()) bad_input("{} has no string; write one on each line", path);
  return all;
}

void run(const AskWords& w) {
  if (!w.strings.empty() && !w.file.empty()) bad_input("strings and --file {}: give one of the two", w.file);
  if (!w.page.empty()) check_output("-o", w.page, {html_output("poslab ask")});
  const Respondent respondent = load(w);
  if (w.options.draws > 1 && !respondent.random)
    bad_input("--samples {} changes nothing: {} leave it out", w.options.draws,
              unread_positions(respondent.config.scheme, choose_sampler("randomized")).empty()
                  ? fmt::format("no positions of {} are random; give random --positions, or", w.run)
                  : respondent.config.scheme.spelled() + " reads no positions;");
  asking::Session session(w.run, respondent, w.options);
  const std::string heading = w.options.json ? "" : session.heading();
  if (!w.strings.empty()) {
    ask_all(session, w.strings, heading, w, respondent);
  } else if (w.file.empty() || w.file == "-") {
    const bool terminal = w.file.empty() && isatty(STDIN_FILENO);
    print(heading);
    if (terminal) print("an input of the task and Enter; Ctrl-D ends\n");
    ask_lines(session, terminal, respondent.config["task"]);
  } else {
    ask_all(session, strings_of(session, w.file), heading, w, respondent);
  }
  if (w.page.empty()) return;
  if (!session.asked())
    bad_input("-o {}: there was no string, so there is no page; type one, or give it as an argument", w.page);
  session.write_page(w.page);
  if (!w.options.json) print(w.page + "\n");
}

}  // namespace

std::function<void()> add_ask(CLI::App* ask) {
  const auto words = std::make_shared<AskWords>();
  ask->add_option("run", words->run, "the folder of a run of `train` or `decoder train`")->required();
  ask->add_option("strings", words->strings, "inputs of its task; without any, they are read from the standard input");
  ask->add_option("--file", words->file, "a file with a string in each line; - is the standard input")
      ->type_name("FILE");
  ask->add_option("--positions", words->positions, "which positions the tokens carry (those of the run's tests)")
      ->type_name("NAME");
  ask->add_option("--temperature", words->temperature, "temperature of the attention (that of the run's tests)")
      ->type_name("NAME");
  add_number(ask, "samples", words->options.draws, "average over this many draws of random positions (1)", {1, 1000});
  CLI::Option* attention =
      ask->add_option("--attention", words->options.attention,
                      "draw where each answer slot looked; max: maximum over the heads of the last layer (max)")
          ->type_name("LAYER.HEAD|LAYER.max|max")
          ->expected(0, 1);
  ask->add_flag("--json", words->options.json, "a line of JSON for each string");
  add_device(ask, words->device);
  ask->add_option("--threads", words->threads, option("threads").help)->type_name(option("threads").takes());
  add_force(ask, words->options.force);
  ask->add_option("-o,--out", words->page, "a page with the answers and all attention maps")->type_name("FILE");
  return [=] {
    if (attention->count() && words->options.attention.empty()) words->options.attention = "max";
    words->options.page = !words->page.empty();
    words->options.utf8 = utf8_terminal();
    run(*words);
  };
}

}  // namespace poslab
