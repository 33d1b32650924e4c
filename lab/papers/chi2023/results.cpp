// Reading what trainings, alignments and tests have left.
#include <filesystem>
#include <optional>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/papers/chi2023/chi2023.h"
#include "lab/runs/align.h"

namespace poslab::reproduce::chi2023 {
using nlohmann::json;

BySeed Results::accuracy(const Test& t, int length, int part) const {
  const std::string column = part < 0 ? "accuracy" : fmt::format("accuracy_{}", part + 1);
  return trained_.tested(steps(setup_, t).back(), length, short_task(t.task), column);
}

BySeed Results::loss(const Test& t, int length) const {
  return trained_.tested(steps(setup_, t).back(), length, "plain", "loss");
}

const json& Results::alignment(const Trial& t, const std::string& path) const {
  if (!read_.count(path)) {
    read_alignment(path);  // throws for what `poslab align` did not write
    const json all = parse_json(read_file(path), path);
    const std::string run = all.value("run", "");
    if (std::filesystem::path(run).filename() != t.id)
      failure("{} is of the run {}, and this is trial {}; remove it, and the run is aligned again", path, run, t.id);
    read_[path] = all;
  }
  return read_.at(path);
}

BySeed Results::figure(const Test& t, int length, const std::string& name, bool first_layer) const {
  return trained_.found(t.model, t.alignment(), [&](const Trial& trial, const std::string& path) -> std::optional<double> {
        const json& a = alignment(trial, path);
        const json* measured = length == 0 ? &a.at("short").at("measured") : nullptr;
        for (const json& one : a.at("long"))
      if (one.at("length") == length) measured = &one.at("before");
        if (!measured) return {};
        const json& x = measured->at(name).at(first_layer ? 1 : 0);
        return x.is_number() ? std::optional<double>(x) : std::nullopt;
  });
}

BySeed Results::temperature(const Test& t, int length) const {
  return trained_.found(t.model, t.alignment(), [&](const Trial& trial, const std::string& path) -> std::optional<double> {
        for (const json& one : alignment(trial, path).at("long"))
      if (one.at("length") == length) return one.at("temperature").at(0).get<double>();
        return {};
  });
}

}  // namespace poslab::reproduce::chi2023
