// Run folders of made-up results, for the tests of tables.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "lab/files/files.h"
#include "lab/papers/artifact.h"

namespace poslab::test {

using namespace reproduce;

// A run folder with the files that tables read: all right at trained lengths, the accuracy `beyond` after them.
inline void make_run(const std::string& folder, const Trial& t, double beyond) {
  const std::string run = SweepFolder(folder).run(t);
  std::filesystem::create_directories(run);
  std::string eval = "length,accuracy,unmasked_accuracy,loss,samples,chance,majority,content_only\n";
  for (int length = 1; length <= t.config().lengths("eval_lengths").to; ++length)
    eval += fmt::format("{0},{1},{1},0.25,32,0.5,0.5,0.6\n", length,
                        length <= t.config().whole("train_length") ? 1. : beyond);
  write_file(run + "/eval.csv", eval);
  write_file(run + "/result.json",
             fmt::format(R"({{"paper_score":{},"baselines":{{"chance":0.5,"majority":0.5,"content_only":0.6}},)"
                         R"("seconds":10.0,"isa":"cpu/avx2","threads":1}})",
                         beyond));
}

// The same with these accuracies at lengths 21 to 40 and from 41 on.
inline void make_run(const std::string& folder, const Trial& t, double near, double far) {
  make_run(folder, t, (20 * near + 60 * far) / 80);
  const std::string path = SweepFolder(folder).run(t) + "/eval.csv";
  std::string eval = "length,accuracy,unmasked_accuracy,loss,samples,chance,majority,content_only\n";
  for (int length = 1; length <= 100; ++length)
    eval += fmt::format("{0},{1},{1},0.25,32,0.5,0.5,0.6\n", length, length <= 20 ? 1. : length <= 40 ? near : far);
  write_file(path, eval);
}

inline const Artifact& artifact(const std::string& name) { return *artifacts({name}).front(); }

// The row of a table that begins with these cells.
inline std::vector<nlohmann::json> row(const Table& table, const std::vector<nlohmann::json>& begin) {
  for (const auto& row : table.rows)
    if (std::equal(begin.begin(), begin.end(), row.begin())) return row;
  return {};
}

}  // namespace poslab::test
