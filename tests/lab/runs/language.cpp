// Language models in the commands for runs of tasks: sweeps, reports, inspections, and the record of the program that
// trained a model.
#include <fstream>
#include <sstream>

#include "experiment/language/inside.h"
#include "lab/pages/report/report.h"
#include "lab/runs/run_record.h"
#include "lab/runs/sweep/sweep.h"
#include "lab/runs/text_source.h"
#include "tests/lab/learners.h"
#include "tests/lab/runs/sweep/helpers.h"

using namespace poslab;
using namespace poslab::sweep;
using namespace poslab::test;
namespace fs = std::filesystem;

namespace {

const std::string tiny_models = R"(command = "lm train"
text = "copy_grammar"
layers = 1
heads = 2
key_heads = 2
d_model = 16
d_ff = 24
batch = 4
train_length = 16
eval_times = "1/4"
eval_samples = 2
checkpoint_every = 20
log_every = 5
)";

std::string options() {
  std::string words;
  std::istringstream lines(tiny_models);
  std::string line;
  for (std::getline(lines, line); std::getline(lines, line);) {
    const size_t equals = line.find(" = ");
    words += fmt::format(" {} {}", dashed(line.substr(0, equals)), line.substr(equals + 3));
  }
  return words;
}

std::string without_text() {
  const std::string all = options(), text = " --text \"copy_grammar\"";
  return all.substr(0, all.find(text)) + all.substr(all.find(text) + text.size());
}

void train(const TemporaryFolder& folder, const std::string& name, const std::string& more) {
  Program run(folder, fmt::format("lm train{} --steps 20 {} --out {}", options(), more, folder / name));
  REQUIRE_MESSAGE(run.status() == 0, run.output());
}

}  // namespace

TEST_CASE("a sweep of language models: the plan names their command, and misfits are refused") {
  const Plan plan = make_plan(
      tiny_models + "encoding = [\"rope\", \"alibi\"]\nseeds = 2\nname = \"{encoding}-{seed}\"\n", "sweep.toml");
  REQUIRE(plan.size() == 4);
  CHECK(kind_of(plan) == language_kind());
  CHECK(plan[3].name == "alibi-1");
  CHECK(naming(plan).name(values_of(plan[3].run)) == "encoding=alibi seed=1");
  CHECK(plan[0].id == "09d9348e0a758659");  // unchanged, so that finished sweeps of earlier versions are found
  CHECK(holds(plan_lines(plan), "\",\"command\":\"lm train\",\"name\":\"rope-0\",\"preset\":\"none\""));
  const TemporaryFolder folder;
  write_file(folder / "plan.jsonl", plan_lines(plan));
  CHECK(plan_lines(read_plan(folder / "plan.jsonl")) == plan_lines(plan));
  const Plan tail = make_plan(tiny_models + "eval_tail = [0, 4]\n", "sweep.toml");
  CHECK(tail[0].impossible.empty());
  CHECK(holds(tail[1].impossible, "count 8 or more"));

  const auto refused = [](const std::string& toml) { return refusal([&] { make_plan(toml, "my.toml"); }); };
  CHECK(holds(refused("d_ff = 24\n"),
              "my.toml, line 1: d_ff is an option of `poslab lm train`, not of `poslab train`; leave it out, or use "
              "that command, in a sweep with command = \"lm train\""));
  CHECK(holds(refused(tiny_models + "task = \"even_pairs\"\n"), "line 14: task is an option of `poslab train`"));
  CHECK(holds(refused(tiny_models + "d_f = 3\n"), "unknown option \"d_f\"; did you mean \"d_ff\"?"));
  CHECK(holds(refused(tiny_models + "key_heads = 0\n"), "my.toml, line 14: "));
  CHECK(holds(refused(tiny_models + "out = \"x\"\n"), "out belongs to `poslab sweep run`"));
  CHECK(holds(refused("command = \"lm eval\"\n"),
              "line 1: unknown command \"lm eval\". Known: train, lm train, t5 train"));
  CHECK(holds(refused("command = 3\n"), "line 1: command is \"train\", \"lm train\" or \"t5 train\""));
  CHECK(holds(refused(tiny_models + "[[also]]\ncommand = \"train\"\n"), "command belongs once at the top"));

  const Plan of_tasks = make_plan(tiny_sweep, "tasks.toml");
  write_file(folder / "plan.jsonl", plan_lines(plan) + plan_lines(of_tasks));
  CHECK(
      holds(refusal([&] { read_plan(folder / "plan.jsonl"); }), "line 5: this is a trial of `poslab train`, but"));
  keep_plan(of_tasks, SweepFolder(folder / "out"));
  CHECK(holds(refusal([&] { keep_plan(plan, SweepFolder(folder / "out")); }), "choose another --out"));
}

TEST_CASE("a killed sweep of language models continues to the same bits, and is collected and reported") {
  const TemporaryFolder folder;
  const std::string file = folder / "plan.jsonl", straight = folder / "straight", torn = folder / "torn";
  const Plan plan = make_plan(tiny_models + "encoding = [\"rope\", \"alibi\"]\nsteps = 2000\n", "sweep.toml");
  write_file(file, plan_lines(plan));
  const auto words = [&](const std::string& out) {
    return fmt::format("sweep run {} --out {} --threads 1", file, out);
  };
  Program undisturbed(folder, words(straight) + " --jobs 2");
  REQUIRE(undisturbed.status() == 0);
  {
    Program worker(folder, words(torn));
    const SweepFolder half(torn);
    REQUIRE(eventually([&] { return fs::exists(half.run(plan[0]) + "/clock.jsonl"); }));
    worker.send(SIGKILL);
    CHECK(worker.status() == 128 + SIGKILL);
    CHECK(count(states(plan, half))[TrialState::done] == 0);
  }
  std::string early;
  const bool free = eventually([&] {  // the worker's child has ended too
    Program eval(folder, "lm eval " + SweepFolder(torn).run(plan[0]));
    early = eval.output();
    const bool in_use = holds(early, "is in use");
    CHECK(eval.status() == (in_use ? 1 : 2));
    return !in_use;
  });
  CHECK(free);
  CHECK_MESSAGE(holds(early, "of 2000, but eval.csv is for finished runs; finish it with `poslab lm resume "), early);
  Program again(folder, words(torn));
  CHECK(again.status() == 0);
  CHECK(holds(again.output(), "shard 0/1: 2 done\n"));
  CHECK(holds(read_file(torn + "/journal.jsonl"), "\"done\""));
  for (const Trial& t : plan) CHECK(contents(torn + "/" + t.id) == contents(straight + "/" + t.id));

  const Collected all = collect(plan, SweepFolder(torn));
  const Row last = read_test(torn + "/" + plan[0].id).rows[1];
  REQUIRE(last.length() == 64);
  const auto column = [&](const std::string& name) {
    const auto& names = all.trials.columns;
    return all.trials.rows[0][size_t(std::find(names.begin(), names.end(), name) - names.begin())];
  };
  CHECK(column("encoding") == "rope");
  CHECK(column("longest") == 64);
  CHECK(column("longest_loss").get<double>() == doctest::Approx(last["loss"]).epsilon(1e-9));
  CHECK(column("seconds").get<double>() > 0);
  CHECK(column("steps") == 2000);
  CHECK(all.lengths.rows.size() == 2 * 4);

  const std::string page = folder / "report.html";
  CHECK(report::write({torn}, page).empty());
  const std::string html = read_file(page), csv = read_file(folder / "report-lengths.csv");
  const nlohmann::json document = document_in(html);
  const auto losses = cells_in(document, "All lengths", "loss"), shares = cells_in(document, "All lengths", "accuracy");
  for (const Trial& t : plan) {
    const Results tested = read_test(torn + "/" + t.id).rows;
    for (const Row& at : tested) {
      CHECK(std::count(losses.begin(), losses.end(), at["loss"]));
      CHECK(std::count(shares.begin(), shares.end(), at["accuracy"]));
      CHECK(holds(csv, fmt::format("{},{},{},{}", at["samples"], at["loss"], at["accuracy"],
                                   at["bits_per_byte"])));
    }
  }
  for (const char* part : {"encoding=rope", "encoding=alibi", "2 language models", "copy_grammar", "\"shaded\":16.0",
                           "64 tokens", "poslab lm train", "How positions are encoded"})
    CHECK_MESSAGE(holds(html, part), part);
  for (const char* wrong : {"{{", "src=\"http", ">nan", "paper score"}) CHECK_FALSE_MESSAGE(holds(html, wrong), wrong);
}

TEST_CASE("report: language models that read different texts at one path are drawn separately") {
  const TemporaryFolder folder;
  std::string text;
  for (int n = 0; n < 400; ++n) text += fmt::format("line {} of the text\n", n);
  const std::string file = folder / "t.txt";
  const auto train_on = [&](const std::string& content, const std::string& name, int seed) {
    write_file(file, content);
    Program run(folder, fmt::format("lm train{} --text {} --merges 0 --steps 2 --seed {} --out {}", without_text(),
                                    file, seed, folder / name));
    REQUIRE_MESSAGE(run.status() == 0, run.output());
  };
  train_on(text, "0", 0), train_on(text, "1", 1);
  const std::string page = folder / "page.html", csv = folder / "page-lengths.csv";
  report::write({folder / "0", folder / "1"}, page);
  CHECK(holds(read_file(page), "seeds 0 to 1"));
  CHECK(!holds(read_file(csv), "(checksum "));
  train_on(text + "the end\n", "2", 2);
  report::write({folder / "0", folder / "1", folder / "2"}, page);
  CHECK(!holds(read_file(page), "seeds 0 to 2"));
  for (const char* name : {"0", "2"})
    CHECK(holds(read_file(csv), fmt::format("{} (checksum {}),", file, text_of(folder / name).checksum())));
}

TEST_CASE("a sweep of language models stops if its text changes, and its kept lines know the text") {
  const TemporaryFolder folder;
  std::string text;
  for (int n = 0; n < 400; ++n) text += fmt::format("line {} of the text\n", n);
  const std::string file = folder / "t.txt", plan_file = folder / "plan.jsonl", out = folder / "runs",
                    kept = folder / "kept.jsonl", differs = "differs from the one that trial ";
  write_file(file, text);
  std::string toml = tiny_models;
  toml.replace(toml.find("copy_grammar"), 12, file);
  const Plan plan = make_plan(toml + "merges = 0\nsteps = 2\nseeds = 2\n", "sweep.toml");
  write_file(plan_file, plan_lines(plan));
  const auto does = [&](int status, const std::string& words) {
    Program p(folder, words);
    CHECK_MESSAGE(p.status() == status, p.output());
    return p.output();
  };
  const auto sweep = [&](const std::string& to) { return fmt::format("sweep run {} --out {} ", plan_file, to); };
  does(0, sweep(out) + "--shard 0/2");
  does(0, fmt::format("sweep collect {} --out {} --kept {}", plan_file, out, kept));
  const std::string sum = checksum_of_text(file), id = plan[0].id;
  CHECK(text_read(read_kept(kept).at(id)) == sum);

  write_file(file, text + "the end\n");
  does(1, sweep(out));
  CHECK(holds(read_file(SweepFolder(out).failed(plan[1])), differs + id + " has read: its checksum is "));
  CHECK(holds(does(2, sweep(folder / "other") + "--kept " + kept), differs + id + " of " + kept));
  CHECK(holds(does(2, fmt::format("rerun {}#{} --out {}", folder.path, id, folder / "again")), differs + id));

  // Two folders were merged.
  fs::remove(SweepFolder(out).failed(plan[1]));
  does(0, sweep(folder / "other") + "--shard 1/2");
  fs::rename(folder / "other/" + plan[1].id, SweepFolder(out).run(plan[1]));
  CHECK(holds(does(2, fmt::format("sweep collect {} --out {} --csv {}", plan_file, out, folder / "all.csv")),
              " have read different texts at the path " + file));

  write_file(file, text);
  fs::remove_all(SweepFolder(out).run(plan[1]));
  does(0, sweep(out));
  fs::remove_all(folder / "other");
  does(0, sweep(folder / "other") + "--kept " + kept);
  CHECK(text_read(read_kept(kept).at(id)) == SweepFolder(folder / "other").input_read(plan[0], all_inputs()[0]));
}

TEST_CASE("a language model records the program that trained it, and is tested before it is complete") {
  const TemporaryFolder folder;
  train(folder, "new", "--seed 1"), train(folder, "old", "");
  const RunRecord r = read_record(folder / "new/result.json");
  CHECK(r.commit.value().size() >= 7);
  CHECK_FALSE(r.isa.value().empty());
  CHECK(r.threads.value() >= 1);
  CHECK(r.seconds.value() > 0);
  CHECK(r.steps == 20);
  CHECK(r.encoding == "rope");
  const auto result = nlohmann::json::parse(read_file(folder / "new/result.json"));
  CHECK(result["config"]["text"] == "copy_grammar");
  CHECK(result["config"]["tied"] == false);

  const std::string page = folder / "report.html";
  report::write({folder / "old"}, folder / "curves.json");
  CHECK(holds(read_file(folder / "curves.json"), "tokens of the window"));

  fs::remove(folder / "old/result.json"), fs::remove(folder / "old/eval.csv");  // as if stopped after training
  Program tested(folder, "lm resume " + folder / "old");
  CHECK(tested.status() == 0);
  CHECK(read_record(folder / "old/result.json").steps == 20);
  CHECK(fs::exists(folder / "old/eval.csv"));

  make_folder(folder / "half"), write_file(folder / "half/config.toml", read_file(folder / "old/config.toml"));
  CHECK(report::write({folder / "old", folder / "half"}, page) ==
        std::vector<std::string>{
            fmt::format("{0} has no eval.csv; finish it with `poslab lm resume {0}`", folder / "half")});
  Program task(folder, "train" + tiny_options({{"steps", "2"}, {"eval_lengths", "1:3"}}) + " --out " + folder / "task");
  REQUIRE(task.status() == 0);
  CHECK(holds(refusal([&] {
                report::write({folder / "old", folder / "task"}, page);
              }),
              "/old is of `poslab lm train`, and "));
}

TEST_CASE("lm eval: requesting more samples than the text has windows is reported, and kept with the test") {
  const TemporaryFolder folder;
  std::string words;
  for (int n = 0; n < 400; ++n) words += fmt::format("{:04} ", n);  // 2,000 bytes; the last tenth is for the test
  write_file(folder / "text.txt", words);
  Program run(folder, fmt::format("lm train{} --text {} --set eval_times=1/2 --steps 2 --out {}", without_text(),
                                  folder / "text.txt", folder / "run"));
  REQUIRE_MESSAGE(run.status() == 0, run.output());
  CHECK(!holds(run.output(), "some repeat"));
  CHECK(read_record(folder / "run/result.json").repeats.empty());
  Program many(folder, "lm eval " + folder / "run" + " --samples 5000 --name many");
  REQUIRE_MESSAGE(many.status() == 0, many.output());
  CHECK(holds(many.output(), "length 16: 5000 samples of at most 184 windows, so some repeat"));
  CHECK(holds(many.output(), "length 32: 5000 samples of at most 168 windows, so some repeat"));
  const RunRecord kept = read_record(folder / "run/eval-many.json");
  CHECK(kept.repeats == Values{{"length 16", "5000 samples of at most 184 windows"},
                               {"length 32", "5000 samples of at most 168 windows"}});
  Program as_many(folder, "lm eval " + folder / "run" + " --samples 168 --times 2 --name as-many");
  CHECK(!holds(as_many.output(), "some repeat"));
  for (const char* name : {"vocabulary.json", "text.json"}) {
    fs::remove(folder / "run/" + name);
    Program lost(folder, "lm eval " + folder / "run" + " --times 2 --name lost");
    CHECK(lost.status() == 1);
    CHECK(holds(lost.output(), fmt::format("run/{} is missing; restore it from a copy", name)));
  }
}

TEST_CASE("a language model with another encoding at test reads positions that are drawn for that encoding") {
  const TemporaryFolder folder;
  train(folder, "run", "--encoding none --positions randomized:max_position=256");
  const std::string other = "alibi:mode=offset_table";
  std::string expected;
  {
    const auto run = open_lm(folder / "run").learner;
    RunSpec c(run->state.config);
    c.set("encoding", other);
    const Chosen<Sampler> drawn = choose_sampler(c["positions"]);
    REQUIRE(drawn->name == "randomized");
    REQUIRE(sampler_for(choose_encoding(other), drawn)->name == "randomized_offsets");
    expected = poslab::to_csv(
        evaluate(language::test_of(run->state.net.with_encoding(choose_encoding(other)), c, run->source), ""));
  }
  Program eval(folder, "lm eval " + folder / "run" + " --encoding " + other + " -o " + folder / "o.csv");
  REQUIRE_MESSAGE(eval.status() == 0, eval.output());
  CHECK(read_file(folder / "o.csv") == expected);
}

TEST_CASE("a length that --encoding leaves open is the run's trained one, also in an export") {
  const TemporaryFolder folder;
  train(folder, "run", "--encoding rope");
  const int trained = open_lm(folder / "run").learner->config().whole("train_length");
  REQUIRE(trained != 40);
  const auto tested = [&](const std::string& encoding) {
    Program eval(folder, "lm eval " + folder / "run" + " --encoding " + encoding + " -o " + folder / "o.csv");
    REQUIRE_MESSAGE(eval.status() == 0, eval.output());
    return read_file(folder / "o.csv");
  };
  for (const char* open : {"yarn:factor=4", "dynamic_ntk:factor=4", "pi:dynamic"})
    CHECK(tested(open) == tested(fmt::format("{},length={}", open, trained)));
  CHECK(tested("pi:dynamic") != tested("pi:dynamic,length=3"));
  const std::string log_n = tested("rope --temperature log_n");
  CHECK(log_n == tested(fmt::format("rope --temperature log_n:length={}", trained)));
  CHECK(log_n != tested("rope --temperature log_n:length=512"));
  train(folder, "yarn", "--encoding yarn:factor=4");
  CHECK(holds(read_file(folder / "yarn/config.toml"), "encoding = \"yarn:factor=4,length=1L\""));
  Program exported(folder, "lm export " + folder / "yarn" + " --to " + folder / "hf");
  REQUIRE_MESSAGE(exported.status() == 0, exported.output());
  CHECK(holds(read_file(folder / "hf/config.json"),
              fmt::format("\"original_max_position_embeddings\": {}", trained)));
}

TEST_CASE("a language model's text is expected at its path; without it a run still generates and is exported") {
  const TemporaryFolder folder;
  std::string numbers;
  for (int n = 0; n < 2000; ++n) numbers += fmt::format("{}\n", n);
  write_file(folder / "numbers.txt", numbers);
  const std::string here = fmt::format("cd '{}';", folder.path), relative = folder / "relative",
                    whole = folder / "whole";
  for (const auto& [text, run] : {std::pair{std::string("numbers.txt"), relative}, {folder / "numbers.txt", whole}}) {
    Program trains(folder, fmt::format("lm train{} --set text={} --steps 1 --out {}", options(), text, run), here);
    REQUIRE_MESSAGE(trains.status() == 0, trains.output());
    CHECK(holds(trains.output(), "warmup = 100 is longer than steps = 1, so the learning rate does not reach lr = "));
  }
  const std::string others = options() + " --set steps=1 --set ";
  Program merges(folder, fmt::format("lm train{}text=numbers.txt --set merges=60000 --out merged", others), here);
  CHECK(holds(merges.output(), "merges = 60000: no further pair of tokens recurs in the text after "));
  make_folder(folder / "copies");
  for (int n = 0; n < 20; ++n) write_file(fmt::format("{}/copies/{}.txt", folder.path, n), numbers);
  Program copies(folder, fmt::format("lm train{}text=copies --out copied", others), here);
  CHECK(holds(copies.output(), " files of the test are also in the training text, such as "));
  Program beside(folder, "lm eval " + relative, here);
  CHECK_MESSAGE(beside.status() == 0, beside.output());
  const auto refused = [&](const std::string& words) {
    Program p(folder, words);
    CHECK(p.status() == 2);
    return p.output();
  };
  CHECK(refused("lm eval " + whole + " --times 128").starts_with("poslab: no file has "));  // before the first test
  CHECK(refused("lm eval " + relative) ==
        "poslab: " + relative +
            " was trained on the text numbers.txt, and this path does not exist here; go to the folder where the "
            "training was begun, or restore the text there\n");
  create_run(RunSpec(language::configure({{"text", folder / "numbers.txt"}, {"out", folder / "unfinished"},
                                          {"d_model", "8"}, {"d_ff", "8"}, {"heads", "1"}, {"key_heads", "1"},
                                          {"train_length", "8"}, {"eval_times", "1"}})));
  const std::string generate = "lm generate " + whole + " --prompt 12 --count 20 --seed 3";
  Program before(folder, generate);
  REQUIRE_MESSAGE(before.status() == 0, before.output());
  const std::string written = before.output();
  write_file(folder / "numbers.txt", numbers + "2000\n");
  CHECK(holds(refused("lm eval " + whole), "numbers.txt is not the text with which " + whole + " began"));
  write_file(folder / "numbers.txt", std::string(numbers.size(), '7'));  // equally many bytes
  for (const std::string& words : {"lm eval " + whole, "lm eval --encoding rope " + whole, "inspect -o unmade " + whole,
                                   "lm resume " + folder / "unfinished"})
    CHECK_MESSAGE(holds(refused(words), ": numbers.txt has as many bytes, but other ones; restore it, or train again"),
                  words);
  fs::remove(folder / "numbers.txt");
  for (const std::string& words :
       {std::string("lm eval "), "inspect -o " + folder / "inside ", "view -o " + folder / "view "})
    CHECK_MESSAGE(holds(refused(words + whole), "numbers.txt, and it is gone; restore it, or train again"),
                  words);
  for (const char* page : {"inside", "view"}) CHECK_FALSE(fs::exists(folder / page));
  Program after(folder, generate);
  CHECK(after.output() == written);
  for (const std::string& words :
       {"view " + whole + " --text 1234 -o " + folder / "view", "lm export " + whole + " --to " + folder / "hf"}) {
    Program p(folder, words);
    CHECK_MESSAGE(p.status() == 0, p.output());
  }
}

TEST_CASE("lm generate: rows of the embedding beyond the tokens are never generated") {
  const TemporaryFolder folder;
  write_file(folder / "a.txt", std::string(4000, 'a'));
  const std::string run = folder / "run";
  create_run(RunSpec(language::configure({{"text", folder / "a.txt"}, {"out", run}, {"vocabulary", "4000"},
                                          {"d_model", "8"}, {"d_ff", "8"}, {"heads", "1"}, {"key_heads", "1"},
                                          {"train_length", "8"}, {"eval_times", "1"}})));
  for (int seed = 0; seed < 4; ++seed) {
    Program p(folder, fmt::format("lm generate {} --prompt a --count 3 --temperature 1 --seed {}", run, seed));
    CHECK_MESSAGE(p.status() == 0, p.output());
    CHECK(p.output().size() >= 5);               // the prompt, three bytes or escapes, the line's end
  }
}

TEST_CASE("a language model whose text is gone is not trained further") {
  const TemporaryFolder folder;
  write_file(folder / "a.txt", std::string(4000, 'a'));
  const std::string run = folder / "run";
  const RunSpec c(language::configure(
      {{"preset", "tiny"}, {"text", folder / "a.txt"}, {"out", run}, {"train_length", "16"}, {"eval_times", "1"}}));
  create_run(c);
  fs::remove(folder / "a.txt");
  const std::string before = read_file(run + "/checkpoint.safetensors");
  Program resume(folder, "lm resume " + run);
  CHECK(resume.status() == 2);
  CHECK(holds(resume.output(), "a.txt, and it is gone; restore it, or train again"));
  CHECK(read_file(run + "/checkpoint.safetensors") == before);
  CHECK_FALSE(fs::exists(run + "/result.json"));
}

TEST_CASE("inspect: a language model, its text on the page and the numbers beside it") {
  const TemporaryFolder folder;
  train(folder, "rope", ""), train(folder, "random", "--positions randomized:max_position=64");
  const std::string out = folder / "inside";
  Program both(folder, fmt::format("inspect {0}/rope {0}/random --samples 2 -o {1}", folder.path, out));
  REQUIRE_MESSAGE(both.status() == 0, both.output());
  const std::string html = read_file(out + "/index.html"), csv = read_file(out + "/coverage.csv");
  for (const char* part :
       {"Inside 2 runs", "copy_grammar, positions=sequential", "of the next tokens right at length 32",
        "\"symbols\":[\"", "the last 16 tokens of 2 texts, one dot per token",
        "A token sees itself and those before it.", "How positions are encoded"})
    CHECK_MESSAGE(holds(html, part), part);
  for (const char* wrong : {"{{", "answer slots", ">nan"}) CHECK_FALSE_MESSAGE(holds(html, wrong), wrong);
  // Trained on 16 tokens, tested on 32: distances from -16 on are new, unless positions are drawn from 64.
  CHECK(holds(csv, "\nrope,distance,training,-15,"));
  CHECK_FALSE(holds(csv, "\nrope,distance,training,-16,"));
  CHECK(holds(csv, "\nrope,distance,length 32,-31,1,0\n"));
  CHECK(holds(csv, "\nrandom,distance,training,-40,"));
  CHECK(holds(read_file(out + "/pca.csv"), "\nrope,1,32,32,"));  // the last 16 tokens of 2 texts
  CHECK(holds(read_file(out + "/attention.npz"), "random/layer1/length32.npy"));

  // One head's attention in a text: rows sum to 1, and no token sees a later one.
  const auto run = open_lm(folder / "rope").learner;
  const std::vector<int> text = language::test_window(run->state.config, *run->source, 12, 0);
  const AttentionMaps maps = language::attention_maps(run->state, *run->source, text);
  REQUIRE(maps.slots == 13);
  CHECK(maps.symbols[3] == fmt::format("{}", text[3]));
  REQUIRE(maps.heads[0].size() == 2 * 13 * 13);
  for (int i = 0; i < 2 * 13; ++i) {
    double sum = 0;
    for (int j = 0; j < 13; ++j) {
      const float a = maps.heads[0][size_t(i * 13 + j)];
      sum += a;
      if (j > i % 13) CHECK(a == 0);
      CHECK(maps.layers[0][size_t(i % 13 * 13 + j)] >= a);
    }
    CHECK(sum == doctest::Approx(1).epsilon(1e-5));
  }
}
