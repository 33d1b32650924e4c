// Commands with mistakes. Each line of tests/apps/bad_input.txt has a command and the program's answer: one line that
// names the value and the remedy.
#include <sys/stat.h>

#include <cstdlib>
#include <set>
#include <sstream>

#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;

namespace {

struct Row {
  std::string command, words;
  int status;
};

std::vector<Row> rows() {
  std::vector<Row> all;
  std::istringstream text(read_file(std::string(source_folder) + "/tests/apps/bad_input.txt"));
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t words = line.find("  |  "), status = line.rfind("  |  ");
    REQUIRE_MESSAGE(words < status, line);
    const std::string expected = line.substr(words + 5, status - words - 5);
    all.push_back({line.substr(0, words), expected, std::stoi(line.substr(status + 5))});
  }
  return all;
}

// A file that makes parsers stumble: brackets nested 80,000 deep.
const std::string brackets = std::string(80000, '[') + std::string(80000, ']') + "\n";

// Folders of external checkpoints with only a config.json: a refusal must not need other files.
void add_strangers(const TemporaryFolder& folder) {
  const auto config = [](const std::string& change) {
    return R"({"model_type": "llama", "vocab_size": 5, "hidden_size": 4, "intermediate_size": 6,)"
           R"( "num_attention_heads": 2, )" + change + "}";
  };
  const std::pair<const char*, std::string> models[] = {
      {"deep", brackets},
      {"layers", config("\"num_hidden_layers\": 1073741824")},
      {"heads", config("\"num_hidden_layers\": 1, \"head_dim\": 1073741824")},
      {"ends", config("\"num_hidden_layers\": 1, \"eos_token_id\": 1099511627776")},
      {"half", config("\"num_hidden_layers\": 1, \"eos_token_id\": [1.5]")},
      {"twice", config("\"num_hidden_layers\": 1, \"vocab_size\": 6")},
      {"signs", config("\"num_hidden_layers\": 1, \"\\u001b[2J\\nok\": 1")},
      {"t5", R"({"model_type": "t5", "num_heads": 1073741824})"},
  };
  for (const auto& [name, text] : models) {
    std::filesystem::create_directories(folder / "hf/" + name);
    write_file(folder / "hf/" + name + "/config.json", text);
  }
  std::filesystem::create_directories(folder / "hf/pipe");
  for (const char* pipe : {"pipe", "hf/pipe/config.json"}) REQUIRE(mkfifo((folder / pipe).c_str(), 0600) == 0);
  std::filesystem::create_symlink("loop", folder / "loop");
}

// Fills the folder in which the commands run.
void furnish(const TemporaryFolder& folder) {
  Program run(folder, "train" + tiny_options({{"steps", "2"}, {"eval_lengths", "1:3"}}) + " --out " + folder / "run");
  REQUIRE(run.status() == 0);
  Program model(folder,
                "lm train --text copy_grammar --layers 1 --heads 1 --key-heads 1 --d-model 8 --d-ff 8 --batch 2 "
                "--train-length 8 --eval-times 1 --eval-samples 2 --steps 2 --out " +
                    folder / "lm");
  REQUIRE(model.status() == 0);
  Program decoder(folder,
                  "decoder train --task reverse_string --encoding alibi --layers 1 --heads 2 --d-model 8 --d-ff 8 "
                  "--batch 2 --steps 1 --train-length 4 --eval-lengths 1:2 --eval-samples 2 --out " +
                      folder / "decoder");
  REQUIRE(decoder.status() == 0);
  Program wide(folder,
               "train --task reverse_string --encoding geometric --layers 1 --heads 2 --d-model 8 --batch 2 --steps 1 "
               "--train-length 4 --eval-lengths 1:2 --eval-samples 2 --out " +
                   folder / "wide");
  REQUIRE(wide.status() == 0);  // its layers compute the weights of all pairs
  std::filesystem::create_directories(folder / "my runs");
  std::filesystem::copy(folder / "run", folder / "my runs/run 1");
  std::filesystem::create_directories(folder / "empty");
  std::filesystem::create_directories(folder / "taken");
  std::filesystem::create_directories(folder / "bin");
  std::filesystem::create_symlink(program, folder / "bin/poslab");
  const std::string asked =
      R"({"question": "who?", "answers": ["Ada"], "ctxs": [{"title": "b", "text": "Ada", "isgold": true}]})" "\n";
  const std::pair<const char*, std::string> files[] = {
      {"file.txt", "hello\n"},
      {"bad.html", "<!doctype html>\nof my own\n"},
      {"journal.jsonl", "{\"event\": \"done\"}\n"},
      {"taken/README.md", "# My thesis\n"},
      {"taken/pca.csv", "1,2\n"},
      {"deep.jsonl", brackets},
      {"empty.toml", ""},
      {"bad.toml", "task = \"even_pairs\"\nlayers = \"two\"\n"},
      {"key.toml", "task = \"even_pairs\"\nlearning_rate = 0.1\n"},
      {"broken.toml", "layers =\n"},
      {"seeds.toml", "task = \"even_pairs\"\nencoding = \"rope\"\nseeds = \"ten\"\n"},
      {"mixed.toml", "task = \"even_pairs\"\nencoding = [\"rope\", 3]\n"},
      {"none.toml", "task = \"even_pairs\"\nencoding = \"rope\"\nlr = []\n"},
      {"two.toml", "task = \"even_pairs\"\nencoding = \"rope\"\nmax_position = 60\n"
                   "positions = \"randomized:max_position=50\"\n"},
      {"twice.toml", "steps = 3\nsteps = 4\n"},
      {"nested.toml", "[train]\ntask = \"even_pairs\"\n"},
      {"nan.txt", "0\n1\nnan\n3\n"},
      {"questions.jsonl", asked + asked + "{}\n"},
      {"short.jsonl", asked},
      {"short.txt", "0\n1\n2\n3\n4\n"},
      {"words.txt", "0\n1 two 3\n"},
      {"lm-task.toml", "command = \"lm train\"\ntask = \"even_pairs\"\n"},
      {"lm-option.toml", "task = \"even_pairs\"\nencoding = \"rope\"\nmerges = 3\n"},
      {"lm-unknown.toml", "command = \"lm train\"\nencodin = \"rope\"\n"},
      {"lm-command.toml", "command = \"lm eval\"\n"},
      {"blank.jsonl", "\n"},
      {"other.jsonl", "{\"id\": \"0123456789abcdef\", \"tested\": {\"length\": \"1\"}}\n"},
      {"alignment.json", "{\"format\": \"poslab alignment 1\"}\n"},
      {"sweep.toml", "task = \"even_pairs\"\nencoding = [\"rope\", \"none\"]\nsteps = 20\n"},
  };
  for (const auto& [name, text] : files) write_file(folder / name, text);
  add_strangers(folder);
  const std::pair<const char*, const char*> damaged[] = {{"config", "config.toml"}, {"metrics", "metrics.jsonl"},
                                                         {"eval", "eval.csv"}, {"result", "result.json"},
                                                         {"checkpoint", "checkpoint.safetensors"}};
  std::filesystem::create_directories(folder / "damaged");
  for (const auto& [name, file] : damaged) {
    const std::string copy = folder / "damaged/" + name;
    std::filesystem::copy(folder / "run", copy, std::filesystem::copy_options::recursive);
    write_file(copy + "/" + file, "{[ =broken\n" + read_file(copy + "/" + file));
  }
  std::filesystem::copy(folder / "run", folder / "damaged/lacks", std::filesystem::copy_options::recursive);
  const std::string config = read_file(folder / "run/config.toml");
  write_file(folder / "damaged/lacks/config.toml", config.substr(0, config.find("train_length")));
  Program plan(folder, "sweep plan " + folder / "sweep.toml", "", "plan.jsonl");
  REQUIRE(plan.status() == 0);
  const std::string both = read_file(folder / "plan.jsonl");  // the plan and the message about its number of trials
  write_file(folder / "plan.jsonl", both.substr(both.find('{'), both.rfind('}') + 1 - both.find('{')) + "\n");
  write_file(folder / "long.toml", "task = \"even_pairs\"\nencoding = \"rope\"\nsteps = 4000000000\n");
  Program long_plan(folder, "sweep plan " + folder / "long.toml", "", "long.jsonl");
  REQUIRE(long_plan.status() == 0);
  const std::string long_lines = read_file(folder / "long.jsonl");
  const size_t first = long_lines.find('{');
  write_file(folder / "long.jsonl", long_lines.substr(first, long_lines.rfind('}') + 1 - first) + "\n");
  std::filesystem::create_directories(folder / "taken/sweep");
  std::filesystem::copy(folder / "plan.jsonl", folder / "taken/sweep/plan.jsonl");
  write_file(folder / "edited.jsonl", "{\"id\":\"0123456789abcdef\",\"task\":\"even_pairs\",\"encoding\":\"rope\"}\n");
}

}  // namespace

TEST_CASE("bad input: every line of tests/apps/bad_input.txt is answered by one line, with the words and the status") {
  const TemporaryFolder folder;
  furnish(folder);
  const std::vector<Row> all = rows();
  CHECK(all.size() >= 120);
  std::set<std::string> seen;
  for (const Row& row : all) {
    CHECK_MESSAGE(seen.insert(row.command).second, row.command, " stands there twice");
    const std::string line =
        fmt::format("cd '{}' && PATH=\"$PWD/bin:$PATH\" && {} > answer 2>&1 < /dev/null", folder.path, row.command);
    const int raw = std::system(line.c_str());
    const std::string answer = read_file(folder / "answer");
    CAPTURE(row.command);
    CAPTURE(answer);
    CHECK(WEXITSTATUS(raw) == row.status);
    CHECK(std::count(answer.begin(), answer.end(), '\n') == 1);  // a run's estimate is not printed
    CHECK(answer.starts_with("poslab: "));
    CHECK(holds(answer, row.words));
    CHECK(!std::filesystem::exists(folder / "new"));  // the folder where new runs would go
  }
}
