// Trials kept as lines of a file (lab/runs/sweep/kept.h): made-up trials are written and read again.
#include "core/platform/isa.h"
#include "experiment/numerics.h"
#include "lab/files/json.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/run_record.h"
#include "lab/runs/sweep/collect.h"
#include "lab/runs/sweep/kept.h"
#include "lab/runs/sweep/named.h"
#include "lab/runs/sweep/rerun.h"
#include "lab/runs/sweep/run.h"
#include "tests/lab/learners.h"
#include "tests/lab/runs/sweep/helpers.h"

using namespace poslab;
using namespace poslab::sweep;
using namespace poslab::test;

namespace {

// The files of a trial that tables read; accuracies depend on the seed.
void make_up(const SweepFolder& folder, const Trial& t) {
  make_folder(folder.run(t));
  std::vector<AtLength> all;
  for (int length = 1; length <= 9; ++length)
    all.push_back({length,
                   8,
                   0.5 + 0.01 * double(t.config().count("seed") + length),
                   0.25,
                   0.125 * length,
                   {0.5, 0.1 * length, 0.75}});
  RunRecord r;
  r.paper_score = paper_score(t.run, all)->accuracy;
  r.commit = "0123abc", r.numerics = "00c0ffee", r.seconds = 12.5;
  write_file(folder.run(t) + "/eval.csv", to_csv(all));
  write_file(folder.result(t), to_json(r, t.run));
}

}  // namespace

TEST_CASE("sweep kept: finished trials are restored from the file alone, to the digit") {
  const TemporaryFolder folder;
  const Sweep sweep(folder, "seeds = 3\n");
  const SweepFolder before(folder / "before"), after(folder / "after");
  const std::string file = folder / "kept.jsonl";
  make_up(before, sweep.plan[0]);
  CHECK(keep(sweep.plan, before, file) == 1);
  const std::string first = read_file(file);
  make_up(before, sweep.plan[1]);
  CHECK(keep(sweep.plan, before, file) == 1);
  CHECK(keep(sweep.plan, before, file) == 0);
  const std::string both = read_file(file);
  CHECK(both.starts_with(first));
  CHECK(holds(both, fmt::format("\"majority\":\"= {} majority\"", sweep.plan[0].id)));  // once, then by reference
  CHECK(holds(both, fmt::format("\"accuracy\":\"0.520000 ")));
  CHECK(!holds(both, "\"config\""));

  CHECK(restore(sweep.plan, after, file) == 2);
  CHECK(restore(sweep.plan, after, file) == 0);
  for (int i : {0, 1}) {
    const Trial& t = sweep.plan[size_t(i)];
    CHECK(read_file(after.run(t) + "/eval.csv") == read_file(before.run(t) + "/eval.csv"));
    CHECK(read_file(after.result(t)) == read_file(before.result(t)));
  }
  CHECK(to_string(count(states(sweep.plan, after))) == "2 done, 1 to do");
  CHECK(to_csv(collect(sweep.plan, after).trials) == to_csv(collect(sweep.plan, before).trials));
  // Restored folders give the same file.
  CHECK(keep(sweep.plan, after, folder / "again.jsonl") == 2);
  CHECK(read_file(folder / "again.jsonl") == both);
}

TEST_CASE("sweep kept: a score that does not follow from its rows, and rows that are not the test's, are refused") {
  const TemporaryFolder folder;
  const Sweep sweep(folder, "seeds = 1\n");
  const SweepFolder before(folder / "before"), after(folder / "after");
  make_up(before, sweep.plan[0]);
  const std::string file = folder / "kept.jsonl";
  keep(sweep.plan, before, file);
  const std::string good = read_file(file);
  const auto said = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    text.erase(text.find(",\"checksum\""), text.rfind('}') - text.find(",\"checksum\""));  // as in an older file
    write_file(file, text);
    return refusal([&] { restore(sweep.plan, after, file); });
  };
  const std::string begins = fmt::format("1: {} is damaged: trial {}: ", file, sweep.plan[0].id);
  CHECK(said("\"paper_score\":0.", "\"paper_score\":0.9") ==
        begins + "the paper_score of its \"result\" is 0.958000, and that of its \"tested\" is 0.580000; "
                 "restore the file from an earlier commit or a copy");
  CHECK(holds(said(" 9\"", " 10\""), begins + "its \"tested\" has 9 rows, but its test has 9: it lacks length 9"));
  CHECK(!std::filesystem::exists(after.run(sweep.plan[0])));
  CHECK(said("\"0.510000 ", "\"0.510001 ") == "");  // at a trained length, which no score includes
}

TEST_CASE("sweep kept: exchanged ids and other options are refused, also on an older line, which has no checksum") {
  const TemporaryFolder folder;
  const Sweep sweep(folder, "seeds = 2\n");
  const SweepFolder before(folder / "before"), after(folder / "after");
  const std::string file = folder / "kept.jsonl";
  for (const Trial& t : sweep.plan) make_up(before, t);
  keep(sweep.plan, before, file);
  const std::string good = read_file(file), a = sweep.plan[0].id, b = sweep.plan[1].id;
  std::string swapped = good;
  const size_t first = swapped.find(a), second = swapped.find("{\"id\":\"" + b) + 7;
  swapped.replace(first, a.size(), b), swapped.replace(second, b.size(), a);
  for (size_t at; (at = swapped.find("= " + a)) != std::string::npos;)  // also changes references to its columns
    swapped.replace(at, 2 + a.size(), "= " + b);
  write_file(file, swapped);
  const std::string why = refusal([&] { restore(sweep.plan, after, file); });
  CHECK(holds(why, "1: " + file + " is damaged: line 1: its checksum is "));
  CHECK(holds(why, ": id, result or a table was changed or belongs to another trial; restore the file"));
  std::string digit = good;
  digit.replace(digit.find("\"0.510000 "), 10, "\"0.510001 ");  // at a trained length, which no score includes
  write_file(file, digit);
  CHECK(holds(refusal([&] { read_kept(file); }), "line 1: its checksum is "));

  // An older line has no checksum: the options in its result are compared with the trial's.
  const auto older = [&](const Json& more) {
    Json line = parse_json(good.substr(0, good.find('\n')), "it");
    line.erase("checksum"), line["result"].update(more);
    write_file(file, line.dump() + "\n");
    return refusal([&] { restore(sweep.plan, after, file); });
  };
  CHECK(holds(older({{"encoding", "alibi"}}),
              fmt::format("trial {}: its \"result\" belongs to another trial: it has encoding = alibi, not ", a)));
  CHECK(older(Json::object()) == "");

  // An incomplete line lacks columns, but no lengths.
  std::filesystem::remove_all(after.path());
  const auto shortened = [&](const char* length, const char* accuracy) {
    write_file(file, Json{{"id", a}, {"tested", {{"length", length}, {"accuracy", accuracy}}}}.dump() + "\n");
    return refusal([&] { restore(sweep.plan, after, file); });
  };
  CHECK(holds(shortened("1 2 3 4 5 6 7 8", "1 1 1 1 1 1 1 1"), "its \"tested\" has 8 rows, but its test has 9: it"));
  CHECK(holds(shortened("1 2 3 4 5 6 7 8 9", "1 1 1 1 1 1 1 1 2"), "eval.csv is damaged: line 10 reads \"9,2\""));
  CHECK(shortened("1 2 3 4 5 6 7 8 9", "1 1 1 1 1 1 1 1 1") == "");
}

TEST_CASE("sweep: the two files of another trial's test are refused in a table and in a file for --kept") {
  const TemporaryFolder folder;
  const Sweep sweep(folder, "seeds = 2\n");
  const SweepFolder runs(folder / "runs");
  for (const Trial& t : sweep.plan) make_up(runs, t), write_file(runs.run(t) + "/config.toml", to_toml(t.run));
  const auto& [a, b] = std::tie(sweep.plan[0], sweep.plan[1]);
  for (const char* name : {"eval.csv", "result.json"})
    write_file(runs.run(a) + "/" + name, read_file(runs.run(b) + "/" + name));
  const std::string table = to_csv(collect(sweep.plan, runs).trials);
  CHECK(holds(table, fmt::format("or {}/result.json is that of {}: seed = 0 and 1", runs.run(a), runs.run(b))));
  CHECK(holds(status(sweep.plan, runs), "2 trials: 1 done, 1 failed\n"));
  CHECK(holds(note_of_damage(sweep.plan, runs), "1 trial is damaged and counted as failed, the first " + a.id + ": "));
  CHECK(holds(refusal([&] { keep(sweep.plan, runs, folder / "kept.jsonl"); }), "/result.json is that of "));
}

TEST_CASE("sweep: a trial that lost its eval.csv is stopped in every command, and is tested again") {
  const TemporaryFolder folder;
  const Sweep sweep(folder, "seeds = 1\nsteps = 10\n");
  const SweepFolder runs(folder / "runs");
  CHECK(Program(folder, sweep.run(runs.path())).status() == 0);
  const std::string csv = runs.run(sweep.plan[0]) + "/eval.csv", before = read_file(csv);
  std::filesystem::remove(csv);
  CHECK(holds(status(sweep.plan, runs), "1 trial: 1 stopped"));
  CHECK(holds(to_csv(collect(sweep.plan, runs).trials), ",stopped,"));
  Program again(folder, sweep.run(runs.path()));
  CHECK_MESSAGE(again.status() == 0, again.output());
  CHECK(read_file(csv) == before);
  CHECK(to_string(count(states(sweep.plan, runs))) == "1 done");
}

TEST_CASE("sweep: a trial whose eval.csv is cut off has failed in every command, and --retry tests it again") {
  const TemporaryFolder folder;
  const Sweep sweep(folder, "seeds = 2\nsteps = 10\n");
  const SweepFolder runs(folder / "runs");
  CHECK(Program(folder, sweep.run(runs.path())).status() == 0);
  CHECK(note_of_damage(sweep.plan, runs) == "");
  const std::string csv = runs.run(sweep.plan[0]) + "/eval.csv", before = read_file(csv);
  write_file(csv, before.substr(0, before.size() / 2));
  const std::string said = status(sweep.plan, runs);
  CHECK(holds(said, "2 trials: 1 done, 1 failed\n"));
  CHECK(holds(said, csv + " "));
  Program all(folder, "sweep collect " + runs.path());
  CHECK(all.status() == 0);
  CHECK(holds(all.output(), "1 trial is damaged and counted as failed, the first " + sweep.plan[0].id));
  Program again(folder, sweep.run(runs.path()));
  CHECK(again.status() == 1);
  CHECK(holds(again.output(), "--retry tries them again"));
  Program retried(folder, sweep.run(runs.path()) + " --retry");
  CHECK_MESSAGE(retried.status() == 0, retried.output());
  CHECK(read_file(csv) == before);
  const SweepFolder other(folder / "other");  // a trial without weights, as --kept restores it
  make_up(other, sweep.plan[0]);
  write_file(other.run(sweep.plan[0]) + "/eval.csv", before.substr(0, before.size() / 2));
  Program trained(folder, sweep.run(other.path()) + " --retry");
  CHECK_MESSAGE(trained.status() == 0, trained.output());
  CHECK(read_file(other.run(sweep.plan[0]) + "/eval.csv") == before);
}

TEST_CASE("sweep: a folder of another trial is named, and none of its files is used") {
  const TemporaryFolder folder;
  const Sweep sweep(folder, "seeds = 3\n");
  const SweepFolder runs(folder / "runs");
  for (const Trial& t : sweep.plan) make_up(runs, t), write_file(runs.run(t) + "/config.toml", to_toml(t.run));
  const auto& [a, b, c] = std::tie(sweep.plan[0], sweep.plan[1], sweep.plan[2]);
  CHECK(to_string(count(states(sweep.plan, runs))) == "3 done");
  keep_plan({a, b}, runs);  // as if its last line had been lost
  CHECK(refusal([&] { find_sweep(runs.path()); }) ==
        fmt::format("2: {0}/plan.jsonl lacks the trial {1}, which is in its folder: lines of it were lost; give the "
                    "plan that it was made from to `poslab sweep run PLAN --out {0}` again, or remove the folder {1}",
                    runs.path(), c.id));
  keep_plan(sweep.plan, runs);
  CHECK(find_sweep(runs.path()).plan.size() == 3);
  std::filesystem::rename(runs.run(a), folder / "x");
  std::filesystem::rename(runs.run(b), runs.run(a));
  std::filesystem::rename(folder / "x", runs.run(b));
  CHECK(to_string(count(states(sweep.plan, runs))) == "1 done, 2 failed");
  const std::string why = fmt::format(
      "{} belongs to another trial, {}: seed = 1, but this one has 0; put the folder of trial {} there, or remove this "
      "one and run the sweep again", runs.run(a), b.id, a.id);
  CHECK(holds(status(sweep.plan, runs), why));
  CHECK(refusal([&] { collect(sweep.plan, runs); }) == "2: " + why);
  CHECK(keep(sweep.plan, runs, folder / "kept.jsonl") == 1);
  Program trains(folder, sweep.run(runs.path(), "--retry"));
  CHECK(trains.status() == 1);
  CHECK(holds(trains.output(), "1 done, 2 failed"));

  // The folder has only the configuration; at first that cannot be read.
  const std::string config = runs.run(c) + "/config.toml", text = read_file(config);
  write_file(config, text + "\nlr = 3\n");
  CHECK(holds(refusal([&] { runs.must_fit(c); }), "config.toml, line "));
  std::string edited = text;
  edited.replace(edited.find("seed = 2"), 8, "seed = 7");
  write_file(config, edited);
  CHECK(holds(refusal([&] { runs.must_fit(c); }), "seed = 7, but this one has 2; put"));
  std::filesystem::remove(config);  // as after --kept: result.json says which trial it is
  CHECK(refusal([&] { runs.must_fit(c); }) == "");
  std::filesystem::copy(runs.run(a) + "/result.json", runs.run(c) + "/result.json",
                        std::filesystem::copy_options::overwrite_existing);
  CHECK(holds(refusal([&] { runs.must_fit(c); }), "belongs to another trial, " + b.id));
}

TEST_CASE("sweep kept: a trial that has begun is left as it is") {
  const TemporaryFolder folder;
  const Sweep sweep(folder, "seeds = 3\n");
  const SweepFolder before(folder / "before"), after(folder / "after");
  for (const Trial& t : sweep.plan) make_up(before, t);
  keep(sweep.plan, before, folder / "kept.jsonl");
  make_folder(after.run(sweep.plan[0]));  // stopped
  const std::optional<Claim> claim = Claim::take(after.path(), sweep.plan[1].id);
  REQUIRE(claim);
  CHECK(restore(sweep.plan, after, folder / "kept.jsonl") == 1);
  CHECK(to_string(count(states(sweep.plan, after))) == "1 done, 1 running, 1 stopped");
}

TEST_CASE("sweep kept: a damaged file is refused with its line") {
  const TemporaryFolder folder;
  const std::string file = folder / "kept.jsonl";
  const auto said = [&](const std::string& text) {
    write_file(file, text);
    return refusal([&] { read_kept(file); });
  };
  const std::string good = R"({"id":"a","result":{},"tested":{"length":"1 2","accuracy":"0.5 0.25"}})"
                           "\n";
  CHECK(said(good) == "");
  CHECK(holds(said(good + good), "line 2: its trial a has an earlier line"));
  CHECK(holds(said(good + "{\"id\":"), "line 2"));
  CHECK(holds(said(R"({"id":"b","result":{},"tested":{"length":"1 2","accuracy":"0.5"}})"
                   "\n"),
              "accuracy has another number"));
  const auto line = [&](const char* text) { return said(text + std::string("\n")); };
  CHECK(line(R"({"id":"b","result":{},"tested":{"length":"1","majority":"= a majority"}})") ==
        "1: " + file + " is damaged: line 1: it takes the column majority from trial a, which no earlier line has; "
                       "restore the file from an earlier commit or a copy");
  for (const char* reference : {"= ", "= a", "=  "})
    CHECK(holds(line(fmt::format(R"({{"id":"b","result":{{}},"tested":{{"length":"{}"}}}})", reference).c_str()),
                "it takes the"));
  CHECK(holds(line("[]"), "line 1: it is not an object with an \"id\";"));
  CHECK(holds(line(R"({"id":3,"tested":{"length":"1"}})"), "line 1: it is not an object with an \"id\";"));
  CHECK(holds(line(R"({"id":"b","result":{},"tested":{}})"), "line 1: its \"tested\" is not an object with columns;"));
  CHECK(holds(line(R"({"id":"b","result":{},"tested":{"length":1}})"), "line 1: its column length is not a text;"));
  CHECK(holds(line(R"({"id":"b","result":7,"tested":{"length":"1"}})"), "line 1: its \"result\" is 7, not an object;"));
  CHECK(holds(refusal([&] { read_kept(folder / "none"); }), "2: "));
}

TEST_CASE("sweep kept: the command trains what the file does not have") {
  const TemporaryFolder folder;
  const Sweep sweep(folder, "seeds = 2\nsteps = 10\n");
  const SweepFolder before(folder / "before");
  make_up(before, sweep.plan[0]);
  const std::string file = folder / "kept.jsonl", out = folder / "after";
  Program writes(folder, fmt::format("sweep collect {} --out {} --kept {}", sweep.file, before.path(), file));
  CHECK(writes.status() == 0);
  CHECK(holds(writes.output(), "1 trial more"));
  Program trains(folder, sweep.run(out, "--kept " + file));
  CHECK(trains.status() == 0);
  CHECK(holds(trains.output(), "2 done"));
  CHECK(read_file(SweepFolder(out).result(sweep.plan[0])) == read_file(before.result(sweep.plan[0])));
  CHECK(read_record(SweepFolder(out).result(sweep.plan[1])).numerics.has_value() == !numerics(isa()).empty());
}

TEST_CASE("sweep kept: rerun says whether a trial equals that of the file, and what differs") {
  const TemporaryFolder folder;
  const Sweep sweep(folder, "seeds = 2\nsteps = 10\n");
  Program trains(folder, sweep.run(folder / "runs"));
  REQUIRE(trains.status() == 0);
  keep(sweep.plan, SweepFolder(folder / "runs"), folder / "kept.jsonl");
  const std::string id = sweep.plan[1].id,
                    words = fmt::format("rerun {}#{} --out {}", folder.path, id.substr(0, 6), folder / "again");
  Program same(folder, words);
  CHECK(same.status() == 0);
  CHECK(holds(same.output(), "All 9 tested lengths are equal to the digit."));

  Program repeated(folder, words);
  CHECK(repeated.status() == 2);
  CHECK(holds(repeated.output(), "again/" + id + " exists already and is trained; remove it, or choose"));
  std::filesystem::remove_all(folder / "again/" + id);
  write_file(folder / "again/" + id + ".failed", "memory was short\n");
  Program retried(folder, words);
  CHECK_MESSAGE(retried.status() == 0, retried.output());

  // Another accuracy at length 3, and another commit.
  Kept other = read_kept(folder / "kept.jsonl").at(id);
  const Kept kept = other;
  const size_t line = other.tested.find("\n3,") + 3;
  other.tested.replace(line, other.tested.find(',', line) - line, "0.123456");
  other.result = R"({"commit":"0123abc","isa":"cpu/mmx"})";
  const Repeated differs = held_to(other, kept);
  CHECK_FALSE(differs.equal);
  CHECK(holds(differs.said, "1 of 9 tested lengths differ"));
  CHECK(holds(differs.said, "then 3,0.123456"));
  CHECK(holds(differs.said, "commit     0123abc, now "));
  CHECK(holds(differs.said, "isa        cpu/mmx, now cpu/"));
  CHECK(holds(differs.said, "another draw"));

  Program none(folder, fmt::format("rerun {}#zz", folder.path));
  CHECK(none.status() == 2);
  CHECK(holds(none.output(), "no trial of"));
  Program nameless(folder, "rerun " + folder.path);
  CHECK(nameless.status() == 2);
  CHECK(holds(nameless.output(), "write FOLDER#ID"));
}
