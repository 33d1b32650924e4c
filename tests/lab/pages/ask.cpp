// `poslab ask` and `poslab explain` as a user runs them.
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "encodings/temperature.h"
#include "lab/pages/report/run_about.h"
#include "lab/runs/run.h"
#include "tasks/retrieval/retrieval.h"
#include "tasks/task.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;
using nlohmann::json;

namespace {

struct AskedRun : TemporaryFolder {
  explicit AskedRun(const Settings& more = {}) { RunFolder::create(*this / "run", State(tiny_config(more))); }
  // The exit status and the output.
  std::string ask(const std::string& arguments, const std::string& before = "") const {
    Program program(*this, fmt::format("ask '{}' {}", *this / "run", arguments), before);
    const std::string said = program.output();
    return fmt::format("{}: {}", program.status(), said);
  }
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("ask command: only lengths of the curriculum are called trained") {
  const std::string said = AskedRun(Settings{{"curriculum", "fixed"}}).ask("011010 1110");
  CHECK(holds(said, "0 steps on length 6\n"));
  CHECK(holds(said, "at length 6 (trained): chance"));
  CHECK(holds(said, "at length 4 (unseen): chance"));
}

TEST_CASE("ask command: text, JSON, a file and the standard input give the same answer") {
  const AskedRun run;
  const std::string plain = run.ask("011010 1110");
  CHECK(holds(plain, "0: "));
  CHECK(holds(plain, "reverse_string, relative (randomized), 0 steps on lengths 1 to 6"));
  CHECK(holds(plain, "draw 0: the first one in tests of this length"));
  CHECK(holds(plain, "\n011010\n  slot      1    2    3    4    5    6\n  correct   0    1    0    1    1    0\n"));
  CHECK(holds(plain, "\n1110\n"));
  CHECK(holds(plain, "at length 6 (trained): chance 50.0 %"));
  std::ofstream(run / "strings") << "011010\n\n 1110 \r\n";
  CHECK(run.ask(fmt::format("--file '{}'", run / "strings")) == plain);
  CHECK(run.ask(fmt::format("--file - < '{}'", run / "strings")) == plain);
  std::ofstream(run / "marked") << "\xEF\xBB\xBF""011010\n1110\n";       // with a byte order mark
  CHECK(run.ask(fmt::format("--file '{}'", run / "marked")) == plain);
  CHECK(run.ask(fmt::format("< '{}'", run / "strings")) == plain);

  const std::vector<std::string> all = lines_of(run.ask("011010 1110 --json").substr(3));
  REQUIRE(all.size() == 2);
  const json first = json::parse(all[0]);
  CHECK(first["input"] == "011010");
  CHECK(first["expected"] == "010110");
  CHECK(first["probabilities"].size() == 6);
  CHECK(first["positions"] == "randomized:max_position=64");
  CHECK(first["baselines"]["chance"] == 0.5);
  std::string said = first["answer"];
  int right = 0;
  for (size_t o = 0; o < 6; ++o) {
    const json& p = first["probabilities"][o];
    CHECK(p[0].get<double>() + p[1].get<double>() == doctest::Approx(1).epsilon(1e-5));
    CHECK(said[o] == (p[1] > p[0] ? '1' : '0'));
    right += said[o] == std::string("010110")[o];
  }
  CHECK(first["right"] == right);
  CHECK(first["share"].get<double>() == doctest::Approx(right / 6.));
}

TEST_CASE("ask command: length 500 with other positions, draws, temperatures") {
  const AskedRun run;
  const std::string far = run.ask(std::string(500, '1') + " --positions sequential");
  CHECK(holds(far, "0: "));
  CHECK(holds(far, "of 500 slots"));
  CHECK(holds(far, "  slot    497  498  499  500\n"));
  CHECK(holds(far, "at length 500 (unseen)"));
  for (const std::string& line : lines_of(far)) CHECK(line.size() <= 120);
  CHECK(holds(run.ask("-- " + std::string(500, '1')), "2: poslab: 500 symbols and their 500 answer slots"));
  const std::string mean = run.ask("0110 --samples 5 --temperature constant:tau=0.5");
  CHECK(holds(mean, "the mean over draws 0 to 4; temperature constant:tau=0.5\n"));
  CHECK(holds(mean, "a single draw of positions:"));
}

TEST_CASE("ask command: attention as a grid, as JSON and on a page") {
  const AskedRun run;
  const std::string digits = run.ask("01101 --attention", "LC_ALL=C"),
                    shades = run.ask("01101 --attention=1.2", "LC_ALL=C.UTF-8");
  CHECK(holds(digits, "attention of layer 2, maximum over heads"));
  CHECK(holds(digits, "\n           01101.....\n"));
  CHECK(holds(digits, "9 is 0."));
  CHECK(holds(shades, "attention of layer 1, head 2"));
  CHECK(holds(shades, "01101·····"));
  CHECK(holds(shades, "█"));
  const json j = json::parse(run.ask("01101 --attention=1.2 --json").substr(3));
  REQUIRE(j["attention"]["weights"].size() == 5);
  double sum = 0;
  for (const json& w : j["attention"]["weights"][4]) sum += w.get<double>();
  CHECK(j["attention"]["weights"][4].size() == 10);
  CHECK(sum == doctest::Approx(1).epsilon(1e-5));

  const std::string page = run / "asked.html";
  CHECK(holds(run.ask(fmt::format("01101 0 -o '{}'", page)), page + "\n"));
  const std::string html = read_file(page);
  CHECK(holds(html, "</html>"));
  CHECK_FALSE(holds(html, "{{"));
  CHECK(holds(html, "\"id\":\"question2\""));
  CHECK(holds(html, ".\\\\\\nAsked under "));
  CHECK_FALSE(holds(html, "src=\"http"));
  CHECK(holds(run.ask("01101 --attention=max " + std::string(100, '0') + " --positions sequential"),
              "too wide for a terminal"));

  const AskedRun stack(Settings{{"task", "stack_manipulation"}});   // here words are printed downwards
  CHECK(holds(stack.ask("'0 1 POP' --attention", "LC_ALL=C"), "             P\n             O\n           01P....\n"));
}

TEST_CASE("ask command: a decoder's answer, with the symbol that each slot reads") {
  struct AskedDecoder : AskedRun {
    AskedDecoder() {
      std::filesystem::remove_all(*this / "run");
      create_run(RunSpec(answering_kind().configure({{"task", "modular_arithmetic"},
                                                     {"encoding", "rope"},
                                                     {"layers", "2"},
                                                     {"heads", "2"},
                                                     {"d_model", "16"},
                                                     {"d_ff", "16"},
                                                     {"train_length", "6"},
                                                     {"eval_lengths", "1:9"},
                                                     {"out", *this / "run"}})));
    }
  } const run;
  const std::string plain = run.ask("1+2 '3*4-1'");
  CHECK(holds(plain, "0: "));
  CHECK(holds(plain,
              "modular_arithmetic, rope (sequential), 0 steps on lengths 1 to 6\nasked under sequential positions; "
              "nothing is random\neach answer slot reads the symbol of the slot before it, the first slot a separator\n"
              "1+2\n  slot      1\n  correct   3\n"));
  std::ofstream(run / "strings") << "1+2\n3*4-1\n";
  CHECK(run.ask(fmt::format("--file '{}'", run / "strings")) == plain);
  CHECK(run.ask(fmt::format("< '{}'", run / "strings")) == plain);
  const json j = json::parse(run.ask("1+2 --json --attention=1.2").substr(3));
  REQUIRE(j["probabilities"].size() == 1);
  const std::vector<double> p = j["probabilities"][0];
  REQUIRE(p.size() == 10);  // nine symbols and the separator
  const size_t said = size_t(std::max_element(p.begin(), p.end()) - p.begin());
  CHECK(j["answer"] == std::string(1, "01234+-*_;"[said]));
  CHECK(j["expected"] == "3");
  CHECK(j["baselines"]["chance"] == 0.2);
  const std::vector<double> w = j["attention"]["weights"][0];
  REQUIRE(w.size() == 4);
  CHECK(w[0] + w[1] + w[2] + w[3] == doctest::Approx(1).epsilon(1e-5));
  CHECK(holds(run.ask("1+2 --attention", "LC_ALL=C"), "\n           1+2;\n"));
  const std::string mean =
      run.ask("1+2 --positions randomized:max_position=64 --samples 3 --temperature constant:tau=0.5");
  CHECK(holds(mean, "asked under randomized:max_position=64 positions"));
  CHECK(holds(mean, "temperature constant:tau=0.5\neach answer slot"));
  const std::string page = run / "asked.html";
  CHECK(holds(run.ask(fmt::format("1+2 -o '{}'", page)), page + "\n"));
  CHECK(holds(read_file(page), "\"id\":\"question1\""));
  CHECK(holds(run.ask("1+"), "2: poslab: \"1+\" is not an input of modular_arithmetic"));
}

TEST_CASE("ask command: invalid inputs and options are refused") {
  const AskedRun run;
  const auto refused = [&](const std::string& arguments, const std::string& words) {
    const std::string said = run.ask(arguments);
    CAPTURE(said);
    CHECK(said.starts_with("2: poslab: "));
    CHECK(std::count(said.begin(), said.end(), '\n') == 1);
    CHECK(holds(said, words));
  };
  refused("012", "\"2\" in \"012\" is not a symbol of reverse_string; its symbols are 0 1");
  refused("01 ''", "an empty string");
  refused("01 --file x", "give one of the two");
  refused("01 --attention=3.1", "layer 3 is out of range; it takes 1 .. 2");
  refused("01 --attention=1.3", "head");
  refused("--attention 0110", "is not a layer and head");
  refused("01 --positions none", "unknown test_positions");
  refused("01 --temperature ssmax", "learns parameters");
  refused("01 --samples 0", "--samples");
  refused("01 --sampels 2", "did you mean \"--samples\"");
  std::ofstream(run / "strings") << "01\n0a1\n";
  refused(fmt::format("--file '{}'", run / "strings"), "strings, line 2: \"a\" in \"0a1\"");
  std::ofstream(run / "empty") << "\n";
  refused(fmt::format("--file '{}'", run / "empty"), "has no string");
  const std::string no_file = run.ask("--json --file none");
  CHECK(no_file.starts_with("2: poslab: there is no file none"));
}

TEST_CASE("explain command: each topic has an example and at most 31 lines besides its options; list prints the same") {
  const TemporaryFolder folder;
  const auto told = [&](const std::string& words) {
    Program program(folder, words);
    CAPTURE(words);
    const std::string said = program.output();
    CHECK(program.status() == 0);
    const std::string before_options = said.substr(0, said.find("\noptions, "));
    CHECK(std::count(before_options.begin(), before_options.end(), '\n') <= 31);
    CHECK(holds(said, "\nexample   "));
    CHECK(holds(said, "\nread on   docs/"));
    const size_t file = said.find("\nfile      ");
    REQUIRE(file != said.npos);
    const std::string path = said.substr(file + 11, said.find('\n', file + 1) - file - 11);
    CHECK(std::filesystem::exists(std::string(source_folder) + "/" + path));
    return said;
  };
  for (const auto& name : names_of(all_tasks())) told("explain task " + name);
  for (const auto& name : names_of(all_encodings())) {
    const std::string said = told("explain encoding " + name);
    std::istringstream matrix(said.substr(said.find('\n', said.find("\nexample   ") + 1) + 1));
    std::string line, word;
    for (int i = 0; i < 5 && std::getline(matrix, line); ++i) {  // columns must not touch
      int columns = 0;
      for (std::istringstream words(line); words >> word;) ++columns;
      CHECK_MESSAGE(columns == 5, name << ": " << line);
    }
    const size_t spelled = said.find("--encoding ") + 11;
    std::istringstream spellings(said.substr(spelled, said.find("\nread on", spelled) - spelled));
    for (int n = 0; spellings >> word; ++n) {         // a process for each of some 800 would take seven seconds
      if (word.find('@') != word.npos) continue;
      const std::string spelling = word.substr(0, word.find_last_not_of(',') + 1);
      CAPTURE(spelling);
      CHECK_NOTHROW(choose_encoding(spelling, trained_on(40)));
      if (n % 8 == 0) told("explain encoding '" + spelling + "'");
    }
  }
  for (const auto& name : names_of(all_samplers())) told("explain sampler " + name);
  for (const auto& name : names_of(all_temperatures())) told("explain temperature " + name);
  for (const auto& name : names_of(all_retrievals())) told("explain retrieval " + name);
  for (const auto& name : names_of(all_choices().presets)) told("explain preset " + name);
  CHECK(holds(told("explain alibi:symmetric"), "but       summary and formula are for the default of symmetric\n"));
  CHECK(told("list encodings alibi:symmetric") == told("explain encoding alibi:symmetric"));
  CHECK(holds(told("explain task solve_equation"), "one x, then = and a digit"));
  CHECK(holds(told("explain encoding 'rope|none'"), "rope|none: a scheme for each layer, in turn"));
  CHECK(holds(told("explain sampler 'randomized|sequential'"), "layer 2: positions of 6 slots: 0 1 2 3 4 5"));
  const std::string apart = told("explain sampler 'restart&stretched:gap=2'");
  CHECK(holds(apart, "embedding: positions of 6 slots, 4 5 + 6 and two empty ones: 0 1 0 0 0 1"));
  CHECK(holds(apart, "logits: positions of 6 slots, 4 5 + 6 and two empty ones: 0 2 4 6 8 10"));
  CHECK(holds(told("explain temperature log_n:length=80"), "   1.000"));
  CHECK(holds(told("explain task duplicate_string:copies=3"), "30 symbols to an input of 10"));
  for (const auto& [words, answer] : {std::pair{"explain task reverse_strin", "did you mean \"reverse_string\""},
                                      {"explain tsk reverse_string", "did you mean \"task\""},
                                      {"explain task", "name"}}) {
    Program program(folder, words);
    CHECK(holds(program.output(), answer));
    CHECK(program.status() == 2);
  }
}

TEST_CASE("pages: each task and encoding is described once; those of another version are left out") {
  const std::string text =
      about_section({"solve_equation", "unheard_of", "solve_equation"}, {"alibi:symmetric", "rope|none", "elsewhere"})
          .dump();
  CHECK(holds(text, "**Solve equation.** The model reads an equation modulo 5"));
  const TaskExample e = example(task("solve_equation"));
  CHECK(holds(text,
              fmt::format("`{}` has the answer `{}`", written_input(task("solve_equation"), e.input), e.answer[0])));
  CHECK(text.find("Solve equation") == text.rfind("Solve equation"));
  CHECK(holds(text, "**alibi:symmetric** (Press et al. 2022). A penalty that grows with the distance"));
  CHECK(holds(text, "**rope|none**"));
  CHECK(holds(text, "0.5 [p_j < p_i]"));
  for (const char* unknown : {"unheard", "elsewhere"}) CHECK_FALSE(holds(text, unknown));
  CHECK(about_section({"unheard_of"}, {}).is_null());
}
