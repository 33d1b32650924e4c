// Reading what trainings, alignments and tests have left.
#include <cmath>
#include <filesystem>
#include <optional>

#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/papers/chi2023/chi2023.h"
#include "lab/runs/align.h"
#include "lab/runs/results_csv.h"

namespace poslab::reproduce::chi2023 {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;

// Of each seed whose file is there, what `find_in` finds in it, if anything.
template <class Path, class FindIn>
BySeed found(int seeds, const Path& path_of, const FindIn& find_in) {
  BySeed all;
  for (int seed = 0; seed < seeds; ++seed)
    if (const std::string path = path_of(seed); fs::exists(path))
      if (const std::optional<double> x = find_in(path)) all[seed] = *x;
  return all;
}

}  // namespace

std::string Results::run(const std::string& model, int seed) const {
  return fmt::format("{}/runs/{}-{}", folder_, model, seed);
}
std::string Results::aligned(const Test& t, int seed) const {
  return fmt::format("{}/aligned/{}-{}/{}.json", folder_, t.model, seed, word_of(t));
}
std::string Results::test(const Test& t, int seed) const {
  return t.mode == Mode::original ? run(t.model, seed) + "/eval.csv"
                                  : fmt::format("{}/tests/{}-{}/{}.csv", folder_, t.model, seed, word_of(t));
}

BySeed Results::accuracy(const Test& t, int length, int part) const {
  const std::string task = short_task(t.task);
  return found(
      setup_.seeds, [&](int seed) { return test(t, seed); },
      [&](const std::string& path) -> std::optional<double> {
        for (const poslab::Row& at : read_results(path, t5_kind()))
          if (at.word("task") == task && at.length() == length)
            if (const double x = at[part < 0 ? "accuracy" : fmt::format("accuracy_{}", part + 1)]; !std::isnan(x))
              return x;
        return {};
      });
}

BySeed Results::loss(const Test& t, int length) const {
  return found(
      setup_.seeds, [&](int seed) { return test(t, seed); },
      [&](const std::string& path) -> std::optional<double> {
        for (const poslab::Row& at : only(read_results(path, language_kind()), "set", "plain"))
          if (at.length() == length) return at["loss"];
        return {};
      });
}

const json& Results::alignment(const std::string& path) const {
  if (!read_.count(path)) {
    read_alignment(path);  // throws for what `poslab align` did not write
    read_[path] = parse_json(read_file(path), path);
  }
  return read_.at(path);
}

BySeed Results::figure(const Test& t, int length, const std::string& name, bool first_layer) const {
  return found(
      setup_.seeds, [&](int seed) { return aligned(t, seed); },
      [&](const std::string& path) -> std::optional<double> {
        const json& a = alignment(path);
        const json* measured = length == 0 ? &a.at("short").at("measured") : nullptr;
        for (const json& one : a.at("long"))
          if (one.at("length") == length) measured = &one.at("before");
        if (!measured) return {};
        const json& x = measured->at(name).at(first_layer ? 1 : 0);
        return x.is_number() ? std::optional<double>(x) : std::nullopt;
      });
}

BySeed Results::temperature(const Test& t, int length) const {
  return found(
      setup_.seeds, [&](int seed) { return aligned(t, seed); },
      [&](const std::string& path) -> std::optional<double> {
        for (const json& one : alignment(path).at("long"))
          if (one.at("length") == length) return one.at("temperature").at(0).get<double>();
        return {};
      });
}

}  // namespace poslab::reproduce::chi2023
