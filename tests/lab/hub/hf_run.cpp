// Commands for runs with checkpoints in Hugging Face format: one model under several encodings, inspect, view, report,
// and open_model, which these and Python call.
#include "lab/pages/inspect/inspect.h"
#include "lab/pages/report/report.h"
#include "lab/pages/view/view.h"
#include "lab/runs/results_csv.h"
#include "lab/runs/run.h"
#include "tests/lab/helpers.h"
#include "tests/lab/hub/helpers.h"

using namespace poslab;
using namespace poslab::test;

namespace {

const std::string qwen = golden_folder + "qwen2", a_text = std::string(source_folder) + "/docs/language.md";

std::string told_by(const TemporaryFolder& folder, const std::string& words) {
  Program p(folder, words);
  CHECK_MESSAGE(p.status() == 0, p.output());
  return p.output();
}

std::string test_of_qwen(const std::string& encoding, const std::string& more) {
  return fmt::format("lm eval --hf {} --text {} --length 16 --times 1/4 --samples 2 --encoding {} {}", qwen, a_text,
                     encoding, more);
}

// The lines of a CSV without their first columns.
std::vector<std::string> lines_without(const std::string& csv, int columns) {
  std::vector<std::string> lines = split(csv, '\n');
  for (std::string& line : lines)
    for (int n = 0; n < columns && !line.empty(); ++n) line = line.substr(line.find(',') + 1);
  return {lines.begin() + 1, lines.end()};
}

std::string copy_of_qwen(const TemporaryFolder& folder) {
  std::filesystem::copy(qwen, folder / "qwen");
  return folder / "qwen";
}

}  // namespace

TEST_CASE("lm eval: several encodings have the losses that each has alone, of a checkpoint and of a run") {
  const TemporaryFolder folder;
  const std::string said = told_by(folder, test_of_qwen("rope,rerope:window=8", "-o " + folder / "both.csv"));
  std::vector<std::string> alone;
  for (const char* encoding : {"rope", "rerope:window=8"}) {
    told_by(folder, test_of_qwen(encoding, "-o " + folder / "one.csv"));
    for (const std::string& line : lines_without(read_file(folder / "one.csv"), 0))
      if (!line.empty()) alone.push_back(line);
    const Results rows = read_results(folder / "one.csv", language_kind());
    for (const Row& at : rows) CHECK(holds(said, fmt::format("{:.4f} ({:.2f})", at["loss"], std::exp(at["loss"]))));
    CHECK(holds(said, fmt::format("{:.4f} ({:.2f})", rows.back()["loss_8"], std::exp(rows.back()["loss_8"]))));
  }
  std::vector<std::string> both = split(read_file(folder / "both.csv"), '\n');
  REQUIRE(both.size() == 10);
  CHECK(holds(both[1], a_text + ",encoding=rope:pairing=half,0," + qwen + ",16,plain,2,"));
  CHECK(holds(both[5], "encoding=rerope:window=8,pairing=half"));
  for (size_t n = 0; n < alone.size(); ++n) CHECK(both[n + 1].ends_with("," + alone[n]));

  const std::string run = folder / "run";
  told_by(folder,
          "lm train --text copy_grammar --layers 1 --heads 2 --d-model 16 --d-ff 24 --batch 4 --train-length 16 "
          "--eval-times 1/4 --eval-samples 2 --steps 5 --out " +
              run);
  const std::string before = read_file(run + "/eval.csv");
  told_by(folder, "lm eval " + run + " --encoding rope,none -o " + folder / "run.html");
  CHECK(lines_without(read_file(folder / "run-lengths.csv"), 0)[0].ends_with("," + lines_without(before, 0)[0]));
  CHECK(read_file(run + "/eval.csv") == before);  // only the user's page is written: the run is unchanged
  const std::string page = read_file(folder / "run.html");
  CHECK(holds(page, "\"title\":\"A language model, tested with 2 encodings\""));
  CHECK(holds(page, "[encoding=none]{c1}"));
  CHECK(holds(page, "\"text\":\"poslab lm eval " + run + " --encoding rope,none -o " + folder / "run.html\\n"));
  CHECK(!holds(page, "Training loss"));
  CHECK(holds(page, "Loss by position"));
}

TEST_CASE("lm eval and lm generate: --matmul rounds the products of a checkpoint") {
  if (sizeof(real) == 8) return;  // doubles are not rounded
  const TemporaryFolder folder;
  const std::string model = copy_of_qwen(folder);
  const auto losses = [&](const char* how) {
    told_by(folder, fmt::format("lm eval --hf {} --text {} --length 16 --times 1/4 --samples 2 --matmul {} --name {}",
                                model, a_text, how, how));
    return read_results(fmt::format("{}/eval-{}.csv", model, how), language_kind());
  };
  const Results exact = losses("fp32"), rounded = losses("bf16"), three = losses("tf32x3");
  REQUIRE(exact.size() == rounded.size());
  for (size_t n = 0; n < exact.size(); ++n) {
    const double loss = exact[n]["loss"];
    CHECK(rounded[n]["loss"] != loss);
    CHECK(rounded[n]["loss"] == doctest::Approx(loss).epsilon(0.01));
    CHECK(three[n]["loss"] == doctest::Approx(loss).epsilon(1e-4));
  }
  const auto written = [&](const char* more) {
    return told_by(folder, fmt::format("lm generate --hf {} --prompt the --count 8 --temperature 0 {}", model, more));
  };
  CHECK(written("--matmul tf32x3") == written(""));
  Program wrong(folder, fmt::format("lm generate --hf {} --matmul half", model));
  CHECK(wrong.status() == 2);
  CHECK(holds(wrong.output(), "bf16"));
}

TEST_CASE("lm eval and lm generate: an option without effect on a checkpoint is refused or reported") {
  const TemporaryFolder folder;
  const auto refused_as = [&](const std::string& words, const std::string& why) {
    Program p(folder, words);
    CHECK(p.status() == 2);
    CHECK_MESSAGE(holds(p.output(), why), p.output());
  };
  const std::string write = fmt::format("lm generate --hf {} --prompt the --count 2 ", qwen);
  refused_as(test_of_qwen("'rope|alibi|none'", ""), "changes nothing: layers take its 3 parts in turn");
  refused_as(test_of_qwen("none,'rope|alibi|none'", ""), "changes nothing: layers take its 3 parts in turn");
  refused_as(test_of_qwen("none", "--positions 'sequential|evenly_spread|sequential'"),
             "changes nothing: layers take its 3 parts");
  refused_as(write + "--encoding 'rope|alibi|none'", "changes nothing: layers take its 3 parts in turn");
  refused_as(write + "--length 16", "--length 16 changes nothing: the model's own encoding and counted positions ");
  told_by(folder, write + "--length 16 --encoding rerope");
  const std::string model = copy_of_qwen(folder), generation = model + "/generation_config.json";
  write_file(generation, "{\"repetition_penalty\": 1.5}");
  CHECK(holds(told_by(folder, fmt::format("lm generate --hf {} --prompt the --count 2", model)),
              generation + ": repetition_penalty would change the text, but poslab ignores it\n"));
  CHECK(holds(told_by(folder, test_of_qwen("rope", "--temperature log_n:length=4096,only_longer")),
              "length = 4096 is not reached, because the longest string has 64 slots, so it changes nothing here"));
}

TEST_CASE("lm eval and lm generate: --threads 0 takes all cores, and an invalid number of threads is refused") {
  const TemporaryFolder folder;
  const std::string write = fmt::format("lm generate --hf {} --prompt 'the end' --count 2 --threads ", qwen);
  told_by(folder, test_of_qwen("none", "--threads 0"));
  told_by(folder, write + "0");
  for (const auto& [threads, wrong] : {std::pair{"abc", "\"abc\" is not a whole number"},
                                       {"4x", "\"4x\" is not a whole number"},
                                       {"99999999999", "99999999999 is out of range"}})
    for (const std::string& words : {test_of_qwen("none", "--threads "), write}) {
      Program p(folder, words + threads);
      CHECK(p.status() == 2);
      CHECK(holds(p.output(), fmt::format("--threads {}; it takes 0 .. 256", wrong)));
    }
}

TEST_CASE("lm eval and lm generate: positions and biases for a checkpoint may be in files") {
  const TemporaryFolder folder;
  std::string slots;
  for (int n = 0; n < 200; ++n) slots += fmt::format("{}\n", n);
  write_file(folder / "slots.txt", slots), write_file(folder / "heads.txt", "all -1:0.5 0:1\n");
  const std::string positions = " --positions given:at=@" + folder / "slots.txt",
                    encoding = "calibrated:of=@" + folder / "heads.txt";
  told_by(folder, test_of_qwen(encoding, positions));
  told_by(folder, fmt::format("lm generate --hf {} --prompt 'the end' --count 2 --encoding {}", qwen, encoding) +
                      positions);
}

TEST_CASE("compared: a row for each length, and for each eighth of the longest windows") {
  std::vector<Column> list = {Column::length(), Column::word("set"), Column::number("loss")};
  for (int p = 1; p <= 8; ++p) list.push_back(Column::number(fmt::format("loss_{}", p)));
  const Columns all = columns(list);
  const auto row = [&](int length, double loss) {
    std::vector<Row::Cell> cells = {double(length), "plain", loss};
    for (int p = 1; p <= 8; ++p) cells.push_back(loss + p);
    return Row(all, cells);
  };
  const Results one = {row(12, 1), row(20, 2)}, other = {row(12, std::log(8.)), row(20, std::nan(""))};
  const std::vector<page::Grid> c = report::compared({"rope", "none"}, {&one, &other}, 0);
  const std::vector<std::string> none = {"20", "plain", "2.0000 (7.39)", "nan (–)"};
  CHECK(c[0].head == std::vector<std::string>{"tokens", "set", "rope", "none"});
  REQUIRE(c[0].rows.size() == 2);
  CHECK(c[0].rows[0] == std::vector<std::string>{"12", "plain", "1.0000 (2.72)", "2.0794 (8.00)"});
  CHECK(c[0].rows[1] == none);
  CHECK(holds(c[1].caption, "windows of 20 tokens"));
  REQUIRE(c[1].rows.size() == 8);
  CHECK(c[1].rows[0][0] == "1-3");  // tokens 0 .. 2, whose part 8 t / 20 is 0
  CHECK(c[1].rows[7][0] == "19-20");
  CHECK(holds(c[1].rows[7][2], "10.0000"));
  CHECK(holds(page::markdown(c[0]), "\n| 20     | plain | 2.0000 (7.39) | nan (–)       |\n"));
  CHECK(report::compared({"rope"}, {&one}, 8)[1].rows[0][0] == "13-13");  // only the last 8 tokens: eval_tail
}

TEST_CASE("hf: a checkpoint is a language model's run that can only be read, with the logits of transformers") {
  for (const Json& of : hf_cases()) {
    if (of["name"] != "qwen2" && of["name"] != "gemma3") continue;
    INFO(of["name"]);
    const std::string model = golden_folder + of["model"].get<std::string>();
    const Opened opened = open_model(model);
    CHECK(!opened.run);
    CHECK(kind_of_folder(model) == language_kind());
    const std::vector<int> tokens = of["tokens"];
    const int T = int(tokens.size());
    const Reader reader = opened.learner->reader();
    const Tensor logits = reader.logits({Ids({1, T}, tokens), T}, nullptr);
    double worst = 0, largest = 0;
    for (size_t n = 0; n < of["slots"].size(); ++n)
      for (int i = 0; i < reader.vocabulary; ++i) {
        const double expected = of["logits"][n][size_t(i)];
        worst = std::max(worst, std::abs(logits.data()[int64_t(of["slots"][n]) * reader.vocabulary + i] - expected));
        largest = std::max(largest, std::abs(expected));
      }
    CHECK(worst < 1e-4 * largest);
  }
  CHECK(open_model(qwen, "", "the end").text == "the end");  // a text to be shown
  const Opened file = open_model(qwen, "", a_text);          // a text file to be read
  CHECK(file.text.empty());
  CHECK(file.learner->config()["text"] == a_text);
  CHECK(holds(refusal([] { open_model(golden_folder + "t5/v1_1"); }), "2: "));
}

TEST_CASE("hf: inspect and view draw a checkpoint, and report draws its kept tests") {
  const TemporaryFolder folder;
  inspect::write({qwen}, {32, 128}, 2, folder / "inside", "", a_text);
  const std::string inside = read_file(folder / "inside/index.html");
  CHECK(holds(inside, "**" + qwen + ", rope:pairing=half (sequential)**, an external checkpoint: "));
  CHECK(!holds(inside, "after 0 steps"));
  // Trained on 64 tokens, it has seen distances 1 .. 63: 63 * 64 / 2 + 64 * 63 of the 127 * 64 pairs of 128 tokens.
  const double met = 100. * (63. * 64 / 2 + 64 * 63) / (127 * 64);
  CHECK(holds(inside, fmt::format("distances seen in training in {:.1f}\u202f% of the pairs", met)));
  view::Options options;
  options.text = "the end of the";
  CHECK(view::write({qwen}, options, folder / "maps").maps == 8);
  CHECK(holds(read_file(folder / "maps/index.html"), "\"elsewhere\":true"));

  const std::string model = copy_of_qwen(folder);
  const auto words = [&](const char* more) {
    return fmt::format("lm eval --hf {} --text {} --length 16 --times 1/4 --samples 2 {}", model, a_text, more);
  };
  told_by(folder, words("--name own"));
  told_by(folder, words("--encoding rerope --temperature log_n:length=16 --name rerope"));
  Program taken(folder, words("--encoding none --name rerope"));
  CHECK(taken.status() == 2);
  CHECK(holds(taken.output(), "is a test under other options or of another text; choose another name"));
  report::write({model}, folder / "page.html");
  const std::string page = read_file(folder / "page.html");
  CHECK(holds(page, "[encoding=rope:pairing=half]"));
  CHECK(holds(page, "[encoding=rerope:window=8,pairing=half temperature=log_n:length=16]"));
  CHECK(holds(page, fmt::format("poslab lm eval --hf {0} --encoding rerope --temperature log_n:length=16 --times 1/4 "
                                "--samples 2 --length 16 --text {1} --name rerope\\nposlab report {0} -o ",
                                model, a_text)));
  const Results kept = read_results(model + "/eval-rerope.csv", language_kind());
  const auto losses = cells_in(document_in(page), "All lengths", "loss");
  CHECK(std::count(losses.begin(), losses.end(), kept[1]["loss"]));
}

TEST_CASE("hf: a kept test belongs to its checkpoint and its text") {
  const TemporaryFolder folder;
  const std::string model = copy_of_qwen(folder), text = folder / "t.txt", page = folder / "page.html";
  write_file(text, read_file(a_text));
  const std::string words =
      fmt::format("lm eval --hf {} --text {} --length 16 --times 1 --samples 2 --name ", model, text);
  told_by(folder, words + "one"), told_by(folder, words + "one");
  write_file(text, read_file(a_text) + "The end.\n");
  Program other(folder, words + "one");
  CHECK(other.status() == 2);
  CHECK(holds(other.output(), "--name one: " + model + "/eval-one.csv is a test under other options or of another "));
  told_by(folder, words + "two");
  CHECK(report::write({model}, page).empty());
  CHECK(holds(read_file(folder / "page-lengths.csv"), text + " (checksum "));

  std::string weights = read_file(model + "/model.safetensors");
  weights[weights.size() - 2] ^= 1;
  write_file(model + "/model.safetensors", weights);
  CHECK(holds(refusal([&] { report::write({model}, page); }),
              model + "/eval-one.csv is a test of another checkpoint: the checksum of its weights is "));
  told_by(folder, words + "three");
  const std::string tokens = read_file(model + "/tokenizer.json");
  write_file(model + "/tokenizer.json", tokens + " ");
  CHECK(holds(refusal([&] { report::write({model}, page); }), ": the checksum of its tokenizer is "));
  write_file(model + "/tokenizer.json", tokens);
  const std::vector<std::string> passed = report::write({model}, page);
  REQUIRE(passed.size() == 2);
  CHECK(holds(passed[1], "/eval-two.csv is a test of another checkpoint"));

  auto record = nlohmann::json::parse(read_file(model + "/eval-one.json"));  // a file as an older program wrote it
  record.erase("files"), record.erase("checksum");
  write_file(model + "/eval-one.json", record.dump());
  CHECK(report::write({model}, page).size() == 1);
}
