// Tests of a run under other options are kept next to its own result, and pages tell them apart.
#include "lab/runs/other_test.h"

#include <unistd.h>

#include <sstream>

#include "lab/files/json.h"
#include "lab/pages/report/report.h"
#include "lab/runs/output.h"
#include "lab/runs/results_csv.h"
#include "lab/runs/whole_run.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;

namespace {

namespace fs = std::filesystem;

std::string run_in(const TemporaryFolder& folder, const std::string& words, int status = 0) {
  Program p(folder, words);
  CHECK_MESSAGE(p.status() == status, p.output());
  return p.output();
}

std::string own_test_files(const std::string& run) {
  std::string all;
  for (const char* name : {"config.toml", "eval.csv", "result.json", "pictures.json", "checkpoint.safetensors"})
    if (std::filesystem::exists(run + "/" + name)) all += read_file(run + "/" + name);
  return all;
}

std::string page_of(const TemporaryFolder& folder, const std::vector<std::string>& runs) {
  report::write(runs, folder / "page.html");
  return read_file(folder / "page.html");
}

// While it lives, root is another user, to whom permissions apply.
struct NotRoot {
  NotRoot() { if (::geteuid() == 0) REQUIRE(::seteuid(65534) == 0); }
  ~NotRoot() { (void)!::seteuid(::getuid()); }
};

}  // namespace

TEST_CASE("other tests: a test that cannot be kept or changes nothing is refused before it runs, not after") {
  const TemporaryFolder folder;
  const std::string run = folder / "r";
  run_in(folder, "train" + tiny_options({{"steps", "1"}, {"dropout", "0"}}) + " --out " + run);
  Program of_gpu(folder, "train" + tiny_options({{"steps", "1"}}) + " --out " + folder / "g", "POSLAB_BLOCK_KERNEL=1");
  CHECK(holds(of_gpu.output(), "POSLAB_BLOCK_KERNEL=1 changes nothing here: it is for runs on a GPU\n"));
  CHECK(holds(run_in(folder, "eval " + run + " --test-dropout on", 2),
              "--test-dropout on changes nothing: dropout = 0 drops nothing; train with a dropout above 0"));
  fs::permissions(folder.path, fs::perms::all), fs::permissions(run, fs::perms(0555));
  {
    const NotRoot user;
    const std::string expected = "1: cannot write into the folder " + run + ": Permission denied; change its";
    for (const Settings& tested : {Settings{}, Settings{{"eval_lengths", "2:5"}}})
      CHECK(holds(refusal([&] { test_run(run, tested); }), expected));
    CHECK(holds(refusal([&] { check_output("-o", run + "/page.html", {html_output("poslab report")}); }), expected));
    CHECK(refusal([&] { test_run(run, {}, {.file = folder / "eval.csv"}); }) == "");
  }
  fs::permissions(run, fs::perms::all);
}

TEST_CASE("other tests: eval under other options keeps the run's own result, and can be told from it") {
  const TemporaryFolder folder;
  const std::string run = folder / "r";
  run_in(folder, "train" + tiny_options({{"steps", "4"}}) + " --out " + run);
  const std::string own = own_test_files(run);
  CHECK(other_tests(run).empty());
  const std::string said =
      run_in(folder, "eval " + run + " --lengths 7:12 --samples 3 --test-positions sequential --test-dropout on");
  CHECK(holds(said, "paper score: the mean over all lengths beyond the trained ones"));
  CHECK(holds(said, "content only: one symbol for all slots, based only on how often each symbol occurs"));
  const std::string name = "lengths-7-12-samples-3-positions-sequential-dropout-on";
  CHECK(holds(said, run + "/eval-" + name + ".csv"));
  CHECK(own_test_files(run) == own);
  REQUIRE(other_tests(run) == std::vector<std::string>{name});
  const std::string csv = read_file(run + "/" + csv_of_test(name));
  CHECK(csv.substr(csv.find('\n'), 3) == "\n7,");
  const RunRecord record = read_record(run + "/" + json_of_test(name)), first = read_record(run + "/result.json");
  CHECK(record.test == Values{{"eval_lengths", "7:12"},
                              {"eval_samples", "3"},
                              {"test_positions", "sequential"},
                              {"test_dropout", "on"}});
  CHECK(record.seconds == first.seconds);
  CHECK(first.test.empty());

  run_in(folder, "eval " + run + " --lengths 1:9 --samples 8");  // these are the options of its own test
  run_in(folder, "eval " + run + " --positions randomized --temperature none");  // so are these
  CHECK(own_test_files(run) == own);
  CHECK(other_tests(run).size() == 1);

  // A test whose figures cannot be kept does not run.
  const std::string lost = folder / "none/z.csv";
  CHECK(run_in(folder, "eval " + run + " -o " + lost, 2) ==
        "poslab: cannot write " + lost + ": there is no such folder; choose another path\n");

  // The name of one test is not used for another.
  run_in(folder, "eval " + run + " --lengths 1:3 --name short");
  CHECK(holds(run_in(folder, "eval " + run + " --lengths 1:2 --name short", 2), "is a test under other options"));
  write_file(run + "/eval-lengths-1-2.csv", "of my own");
  run_in(folder, "eval " + run + " --lengths 1:2");
  CHECK(read_file(run + "/eval-lengths-1-2.csv") == "of my own");
  CHECK(other_tests(run) == std::vector<std::string>{"lengths-1-2-2", name, "short"});

  // Rounded products give other losses, and the page names the rounding.
  run_in(folder, "eval " + run + " --matmul bf16");
  CHECK(read_file(run + "/eval-matmul-bf16.csv") != read_file(run + "/eval.csv"));
  CHECK(own_test_files(run) == own);
  CHECK(holds(page_of(folder, {run}), "[test_matmul=bf16]"));
}

TEST_CASE("other tests: a test that fails leaves no figures of an earlier one, and its name is free") {
  const TemporaryFolder folder;
  const std::string run = folder / "r", again = "eval " + run + " --lengths 1:3 --name short";
  run_in(folder, "train" + tiny_options({{"steps", "4"}}) + " --out " + run);
  run_in(folder, again);
  const std::string in_the_way = run + "/eval-short.csv.poslab.partial";
  std::filesystem::create_directory(in_the_way);
  run_in(folder, again, 2);
  CHECK(other_tests(run).empty());
  CHECK_FALSE(std::filesystem::exists(run + "/eval-short.csv"));
  std::filesystem::remove(in_the_way);
  run_in(folder, "eval " + run + " --lengths 1:2 --name short");
  CHECK(other_tests(run) == std::vector<std::string>{"short"});
}

TEST_CASE("other tests: a page draws each, with its options, and its commands reproduce the same figures") {
  const TemporaryFolder folder;
  const std::string run = folder / "r";
  run_in(folder, "train" + tiny_options({{"steps", "4"}}) + " --out " + run);
  run_in(folder, "eval " + run + " --lengths 1:12 --test-positions sequential --name counted");
  const std::string html = page_of(folder, {run});
  CHECK(holds(html, "[eval_lengths=1:12 test_positions=sequential]"));
  CHECK(holds(html, run + "/eval-counted.csv"));
  CHECK(holds(html, "[\"test_positions\",\"same\",\"sequential\"]"));
  const std::string train = fmt::format("poslab train --config {0}/config.toml --out {0}-again\n", run),
                    eval = fmt::format("poslab eval {}-again --lengths 1:12 --test-positions sequential --name "
                                       "counted\n",
                                       run);
  REQUIRE(holds(parts_in(document_in(html), "kind", "commands")[0]["text"],
                train + eval + "poslab report " + run + "-again -o"));
  for (const std::string& command : {train, eval}) run_in(folder, command.substr(7, command.size() - 8));
  for (const char* file : {"/eval.csv", "/eval-counted.csv"})
    CHECK(read_file(run + file) == read_file(run + "-again" + file));
}

TEST_CASE("files of a run that were changed or cut off are refused by name, by every command that reads them") {
  const TemporaryFolder folder;
  const std::string run = folder / "r";
  const Settings kept = {{"steps", "20"}, {"test_every", "10"}, {"checkpoint_every", "10"}, {"keep_checkpoints", "on"}};
  run_in(folder, "train" + tiny_options(kept) + " --out " + run);
  run_in(folder, "eval " + run + " --lengths 7:12 --name far");
  const auto with = [&](const std::string& name, const std::function<std::string(std::string)>& change,
                        const std::function<void()>& action) {
    const std::string before = read_file(run + "/" + name);
    write_file(run + "/" + name, change(before));
    const std::string said = refusal(action);
    write_file(run + "/" + name, before);
    return said;
  };
  const auto draws = [&] { report::write({run}, folder / "page.html"); };
  const auto without_last_line = [](std::string text) {
    text.pop_back();
    return text.substr(0, text.rfind('\n') + 1);
  };
  const auto replaced = [](std::string from, std::string to) {
    return [=](std::string text) { return text.replace(text.find(from), from.size(), to); };
  };
  CHECK(refusal(draws) == "");
  CHECK(holds(with("config.toml", replaced("d_model = 16", "d_model = 32"), draws),
              "2: " + run + "/config.toml was changed after the run began: it has d_model = 32, but " + run +
                  "/result.json and " + run + "/checkpoint.safetensors have 16; restore it, or train again with"));
  CHECK(holds(with("config.toml", replaced("d_model = 16", "d_model = 32"), [&] { open_run(run); }),
              "2: " + run + "/config.toml was changed after the run began"));
  CHECK(holds(with("eval.csv", without_last_line, draws),
              "1: " + run + "/eval.csv has 8 rows, but its test has 9: it lacks length 9; restore them from a copy, or "
                            "test again with `poslab eval " + run + "`"));
  CHECK(holds(with("eval-far.csv", without_last_line, draws),
              "1: " + run + "/eval-far.csv has 5 rows, but its test has 6: it lacks length 12; restore them from a "
                            "copy, or test again with `poslab eval " + run + " --lengths 7:12 --name far`"));
  CHECK(holds(with("result.json", replaced("\"paper_score\": 0.", "\"paper_score\": 0.9"), draws),
              "1: the paper_score of " + run + "/result.json is 0.9"));
  CHECK(holds(with("metrics.jsonl", without_last_line, draws),
              "1: " + run + "/metrics.jsonl is cut off: its last line is of step 19, but the run had one of step 20"));
  CHECK(holds(with("eval.csv", replaced(",8,", ",80,"), draws),
              "/eval.csv has 80 samples at length 1, but its test has 8; restore them"));
  CHECK(with("metrics.jsonl", [](const std::string&) { return ""; }, draws) == "");  // as with only a checkpoint
  CHECK(holds(with("metrics.jsonl", [](std::string text) { return text + text; }, draws),
              "/metrics.jsonl is damaged: line 21 is of step 1, but the line before of step 20; restore the file"));
  CHECK(holds(with("result.json", replaced("\"steps_per_second\": ", "\"steps_per_second\": 9"), draws),
              "1: the steps_per_second of " + run + "/result.json is 9"));
  CHECK(holds(with("eval-far.json", replaced("\"date\": \"20", "\"date\": \"19"), draws),
              "1: " + run + "/eval-far.json was changed: its checksum is "));
  // No score includes the loss or the accuracy at a trained length: only the checksum shows that the table was changed.
  const auto other_loss = [](std::string text) {
    std::istringstream names(text.substr(0, text.find('\n')));
    size_t at = text.find('\n') + 1;
    for (std::string name; std::getline(names, name, ',') && name != "loss";) at = text.find(',', at) + 1;
    return text.replace(at, text.find_first_of(",\n", at) - at, "0.123456");
  };
  for (const auto& [csv, json] : {std::pair("eval.csv", "result.json"), std::pair("eval-far.csv", "eval-far.json")}) {
    const std::string refused = with(csv, other_loss, draws);
    CHECK(holds(refused, "1: " + run + "/" + csv + " has the checksum "));
    CHECK(holds(refused, run + "/" + json + " describes a table with "));
    const std::string record = read_file(run + "/" + json);
    Json older = parse_json(record, json);  // a record as an older program wrote it
    older.erase("table"), older.erase("checksum");
    write_file(run + "/" + json, older.dump());
    CHECK(with(csv, other_loss, draws) == "");
    write_file(run + "/" + json, record);
  }
  CHECK(holds(run_in(folder, "eval " + run + "/checkpoints/10.safetensors", 2),
              "/checkpoints/10.safetensors is a kept checkpoint of the run "));
  // A run does not go on if earlier lines are missing.
  fs::copy(run, folder / "earlier", fs::copy_options::recursive);
  fs::copy(run + "/checkpoints/10.safetensors", folder / "earlier/checkpoint.safetensors",
           fs::copy_options::overwrite_existing);
  CHECK(holds(run_in(folder, "ask " + folder / "earlier" + " 01"),
              "/checkpoint.safetensors is of step 10, but the run was tested at step 20: `poslab resume "));
  fs::remove(run + "/result.json");
  for (const char* name : {"metrics.jsonl", "tests.jsonl"})
    CHECK(holds(with(name, without_last_line, [&] { resume_run(run, {}); }), fmt::format("{} is cut off", name)));
  CHECK(refusal([&] { resume_run(run, {}); }) == "");
}

TEST_CASE("report: if one of a test's two files is lost, the other is named, and the rest is drawn") {
  const TemporaryFolder folder;
  const std::string run = folder / "r", page = folder / "page.html";
  run_in(folder, "train" + tiny_options({{"steps", "1"}}) + " --out " + run);
  for (const char* name : {"far", "wide"}) run_in(folder, "eval " + run + " --lengths 7:12 --name " + name);
  CHECK(report::write({run}, page).empty());
  fs::remove(run + "/eval-far.json"), fs::remove(run + "/eval-wide.csv");
  const std::string remedy = " beside it; restore that, or repeat the test";
  CHECK(report::write({run}, page) ==
        std::vector<std::string>{run + "/eval-far.csv has no eval-far.json" + remedy,
                                 run + "/eval-wide.json has no eval-wide.csv" + remedy});
}

TEST_CASE("a file of another run in a run's folder is refused by name, with that run's name") {
  const TemporaryFolder folder;
  const std::string run = folder / "r", other = folder / "s", config = run + "/config.toml",
                    result = run + "/result.json", saved = run + "/checkpoint.safetensors";
  const Settings kept = {{"steps", "20"}, {"test_every", "10"}, {"checkpoint_every", "10"}, {"keep_checkpoints", "on"}};
  for (const auto& [path, seed] : {std::pair(run, "0"), std::pair(other, "1")}) {
    run_in(folder, "train" + tiny_options(kept) + " --seed " + seed + " --out " + path);
    run_in(folder, "eval " + path + " --lengths 7:12 --name far");
  }
  const auto with = [&](const std::vector<std::string>& names, const std::function<void()>& action) {
    std::vector<std::string> before;
    for (const std::string& name : names)
      before.push_back(read_file(run + "/" + name)), write_file(run + "/" + name, read_file(other + "/" + name));
    const std::string said = refusal(action);
    for (size_t n = 0; n < names.size(); ++n) write_file(run + "/" + names[n], before[n]);
    return said;
  };
  const auto draws = [&] { report::write({run}, folder / "page.html"); };
  const auto reads = [&] { read_test(run); };
  CHECK(refusal(draws) == "");
  for (const std::string name : {"metrics.jsonl", "tests.jsonl", "pictures.json"}) {
    CAPTURE(name);
    const std::string begins = "1: " + run + "/" + name + " is that of " + other + ": its checksum is ";
    CHECK(holds(with({name}, draws), begins));
    CHECK(holds(with({name}, reads), begins));
  }
  CHECK(holds(with({"pictures.json"}, draws), "or draw it again with `poslab eval " + run + "`"));
  CHECK(with({"config.toml"}, draws) ==
        "2: " + config + " is that of " + other + ": it has seed = 1, but " + result + " and " + saved +
            " have 0; restore it, or train again with --config " + config + " --out ANOTHER");
  CHECK(with({"eval.csv", "result.json"}, draws) ==
        "2: " + result + " is that of " + other + ": it has seed = 1, but " + config + " and " + saved +
            " have 0; restore it and eval.csv from a copy, or test again with `poslab eval " + run + "`");
  CHECK(with({"eval-far.csv", "eval-far.json"}, draws) ==
        "2: " + run + "/eval-far.json belongs to another run: it has seed = 1, but " + config + " and " + saved +
            " have 0; restore it and eval-far.csv from a copy, or test again with `poslab eval " + run +
            " --lengths 7:12 --name far`");
  for (const std::string csv : {"eval.csv", "eval-far.csv"})
    CHECK(holds(with({csv}, draws), ": the table is that of " + other + "; restore them from a copy, or test again"));
  const auto opens = [&] { open_run(run); };
  CHECK(with({"checkpoint.safetensors"}, opens) ==
        "2: " + saved + " is that of " + other + ": it has seed = 1, but " + config + " and " + result +
            " have 0; restore it from a copy, or train again with --config " + config + " --out ANOTHER");
  CHECK(holds(with({"config.toml"}, opens), "2: " + config + " is that of " + other + ": it has seed = 1"));

  // A test copies neither the training time nor the checksum of the log from another run.
  const auto tests = [&] { test_run(run, {}); };
  const std::string mine = read_file(result);
  CHECK(with({"metrics.jsonl"}, tests) == "");
  CHECK(refusal(draws) == "");
  CHECK(read_record(result).seconds.has_value());
  write_file(result, read_file(other + "/result.json"));
  CHECK(refusal(tests) == "");
  CHECK(!read_record(result).seconds);
  CHECK(refusal(draws) == "");
  write_file(result, mine);

  // If the other run was moved away, it is not named. And a stopped training does not go on after another run's lines.
  fs::create_directory(folder / "far"), fs::rename(other, folder / "far/s");
  fs::copy(folder / "far/s/metrics.jsonl", run + "/metrics.jsonl", fs::copy_options::overwrite_existing);
  CHECK(holds(refusal(draws), "1: " + run + "/metrics.jsonl was changed or belongs to another run: its checksum is "));
  fs::remove(result);
  fs::copy(run + "/checkpoints/10.safetensors", saved, fs::copy_options::overwrite_existing);
  CHECK(holds(refusal([&] { resume_run(run, {}); }),
              "1: " + run + "/metrics.jsonl was changed or belongs to another run: up to the checkpoint "));
  fs::copy(folder / "far/s/checkpoint.safetensors", saved, fs::copy_options::overwrite_existing);
  CHECK(holds(refusal(opens), "2: " + config + " was changed after the run began, or " + saved +
                                  " belongs to another run: seed = 0 and 1; restore one of them"));
}

TEST_CASE("other tests: a test of a step from which the run has moved on is left out") {
  const TemporaryFolder folder;
  const std::string run = folder / "r";
  run_in(folder, "train" + tiny_options({{"steps", "4"}}) + " --out " + run);
  run_in(folder, "eval " + run + " --lengths 1:2 --name short");
  RunRecord earlier = read_record(run + "/eval-short.json");
  earlier.steps = 3;
  write_file(run + "/eval-short.json", to_json(earlier, open_run(run).learner->config()));
  const std::vector<std::string> passed = report::write({run}, folder / "page.html");
  REQUIRE(passed.size() == 1);
  CHECK(passed[0] == fmt::format("{0}/eval-short.csv was tested at step 3, but the run is at 4; test it again with "
                                 "`poslab eval {0} --lengths 1:2 --name short`",
                                 run));
  CHECK_FALSE(holds(read_file(folder / "page.html"), "[eval_lengths="));
}

TEST_CASE("other tests: a language model's with another encoding is kept only under a name") {
  const TemporaryFolder folder;
  const std::string run = folder / "lm";
  run_in(folder,
         "lm train --text copy_grammar --layers 1 --heads 1 --key-heads 1 --d-model 8 --d-ff 8 --batch 2 "
         "--train-length 8 --eval-times 1 --eval-samples 2 --steps 2 --encoding rope --out " +
             run);
  const std::string own = own_test_files(run);
  const std::string printed = run_in(folder, "lm eval " + run + " --encoding alibi");
  CHECK(holds(printed, "repeated: accuracy"));
  CHECK(holds(printed, "not kept, because it is another model than the run's: --name NAME keeps it in " + run));
  CHECK(other_tests(run).empty());
  run_in(folder, "lm eval " + run + " --encoding alibi --times 2 --name alibi");
  run_in(folder, "lm eval " + run + " --times 1/2");
  run_in(folder, "lm eval " + run + " --encoding rope");  // the run's own encoding
  CHECK(own_test_files(run) == own);
  CHECK(other_tests(run) == std::vector<std::string>{"alibi", "times-1-2"});
  const std::string html = page_of(folder, {run});
  for (const char* part : {"[test_encoding=alibi eval_times=2]", "[eval_times=1/2]", "/eval-alibi.csv",
                           " --encoding alibi --times 2 --name alibi\\n"})
    CHECK_MESSAGE(holds(html, part), part);
  CHECK(holds(read_file(folder / "page-lengths.csv"), "/eval-alibi.csv,16,plain,2,"));
}

TEST_CASE("other tests: --matmul rounds the products of a T5 and of a decoder's answers, beside their own tests") {
  const TemporaryFolder folder;
  const std::pair<const char*, const char*> all[] = {
      {"t5",
       "--tasks line --layers 1 --decoder-layers 1 --heads 2 --d-model 16 --d-ff 24 --tokens 64 --train-length 24 "
       "--eval-lengths 24 --eval-samples 8 --steps 2"},
      {"decoder",
       "--task even_pairs --layers 1 --heads 2 --d-model 16 --d-ff 24 --batch 2 --eval-lengths 4:6 "
       "--eval-samples 4 --steps 2"}};
  for (const auto& [kind, options] : all) {
    CAPTURE(kind);
    const std::string run = folder / kind;
    run_in(folder, fmt::format("{} train {} --out {}", kind, options, run));
    const std::string own = own_test_files(run);
    run_in(folder, fmt::format("{} eval {} --matmul bf16", kind, run));
    CHECK(own_test_files(run) == own);
    CHECK(other_tests(run) == std::vector<std::string>{"matmul-bf16"});
    CHECK(read_file(run + "/eval-matmul-bf16.csv") != read_file(run + "/eval.csv"));
    CHECK(holds(run_in(folder, fmt::format("{} eval {} --matmul half", kind, run), 2), "unknown matmul \"half\""));
  }
  const std::string write = "t5 generate " + folder / "t5" + " --prompt 'ask line a0' --count 6 --matmul ";
  CHECK(run_in(folder, write + "tf32x3") == run_in(folder, write + "fp32"));
  CHECK(holds(run_in(folder, write + "half", 2), "unknown matmul \"half\""));
}
