#include "lab/runs/run_record.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/files/version.h"
#include "lab/runs/other_test.h"
#include "lab/runs/own_files.h"

namespace poslab {
namespace {

using json = nlohmann::ordered_json;

// The fields in the order of the file, for the writer and the reader.
template <class Record, class Visit>
void each_field(Record& r, const Visit& visit) {
  visit("task", r.task), visit("encoding", r.encoding), visit("positions", r.positions);
  visit("parameters", r.parameters), visit("steps", r.steps);
  visit("paper_score", r.paper_score), visit("released_score", r.released_score), visit("baselines", r.baselines);
  visit("version", r.version), visit("commit", r.commit), visit("scalar", r.scalar), visit("isa", r.isa);
  visit("numerics", r.numerics), visit("processor", r.processor), visit("date", r.date);
  visit("products", r.products);
  visit("threads", r.threads), visit("cuda", r.cuda);
  visit("seconds", r.seconds), visit("steps_per_second", r.steps_per_second);
  visit("table", r.table), visit("files", r.files), visit("repeats", r.repeats), visit("test", r.test);
}

struct Write {
  json& result;
  template <class T>
  void operator()(const char* name, const std::optional<T>& value) const {
    result[name] = value ? json(*value) : json(nullptr);
  }
  void operator()(const char* name, const std::optional<Baselines>& b) const {
    if (b) result[name] = {{"chance", b->chance}, {"majority", b->majority}, {"content_only", b->content_only}};
  }
  void operator()(const char* name, const Values& said) const {
    if (!said.empty()) result[name] = said;
  }
};

struct Read {
  const json& result;
  template <class T>
  void operator()(const char* name, std::optional<T>& value) const {
    if (const auto found = result.find(name); found != result.end() && !found->is_null()) value = found->get<T>();
  }
  void operator()(const char* name, std::optional<Baselines>& b) const {
    const auto found = result.find(name);
    if (found == result.end() || found->is_null()) return;
    b = Baselines{found->at("chance"), found->at("majority"), found->at("content_only")};
  }
  void operator()(const char* name, Values& said) const {
    if (const auto found = result.find(name); found != result.end()) said = found->get<Values>();
  }
};

}  // namespace

void add_origin(RunRecord& r, Engine products, Rounding how) {
  const auto list = about();
  const std::map<std::string, std::string> words(list.begin(), list.end());
  r.version = words.at("version"), r.commit = words.at("commit"), r.scalar = words.at("scalar"),
  r.isa = words.at("isa"), r.processor = processor(), r.date = today();
  if (const std::string& number = words.at("numerics"); !number.empty() && products == Engine::own) r.numerics = number;
  r.products = engine_in_full(products, how);
  r.threads = std::stoi(words.at("threads")), r.cuda = words.at("cuda");
}

void add_clock(RunRecord& r, double seconds) {
  r.seconds = seconds, r.steps_per_second = double(r.steps.value_or(0)) / seconds;
}

RunRecord record_before(const std::string& folder, const Choices& own) {
  const std::string path = folder + "/result.json";
  const std::vector<std::string>& tested = kind_of(own).tested;
  try {
    if (!std::filesystem::exists(path)) return {};
    RunRecord record = read_record(path);
    const json config = config_json(own);
    for (const auto& [name, value] : record.config.items())
      if (name != "device" && std::find(tested.begin(), tested.end(), name) == tested.end() && config.contains(name) &&
          config[name] != value)
        return {};
    return record;
  } catch (const Failure&) { return {}; }
}

void keep_origin(RunRecord& r, const RunRecord& old) {
  const auto keep = [](auto& now, const auto& before) {
    if (before) now = before;
  };
  keep(r.version, old.version), keep(r.commit, old.commit), keep(r.scalar, old.scalar), keep(r.isa, old.isa);
  keep(r.numerics, old.numerics), keep(r.processor, old.processor), keep(r.date, old.date);
  keep(r.products, old.products), keep(r.threads, old.threads), keep(r.cuda, old.cuda);
  keep(r.seconds, old.seconds), keep(r.steps_per_second, old.steps_per_second);
}

std::string to_json(const RunRecord& record, const Choices& c) {
  json result;
  each_field(record, Write{result});
  result["config"] = config_json(c);
  return result.dump(2) + "\n";
}

std::string with_own_checksum(const std::string& record) {
  json all = try_json(record);
  all["checksum"] = checksum_of_bytes(record);
  return all.dump(2) + "\n";
}

RunRecord read_record(const std::string& path) {
  const std::string text = read_file(path);
  const std::filesystem::path file(path);
  try {
    json result = try_json(text);
    if (result.is_object() && result.contains("checksum")) {
      const json own = result["checksum"];
      result.erase("checksum");
      if (const std::string sum = checksum_of_bytes(result.dump(2) + "\n"); own != sum)
        failure("{} was changed: its checksum is {}, but it says {}; restore it from a copy, or remove it and {} and "
                "test again", path, sum, own.dump(), other_half(file.filename()));
    }
    RunRecord record;
    if (result.is_object()) {
      each_field(record, Read{result});
      record.config = result.value("config", json());
      return record;
    }
  } catch (const json::exception&) {  // reported below
  }
  failure("{} is damaged; test {} again, by `poslab eval`, lm eval or t5 eval{}", path, file.parent_path().string(),
          file.filename() == "result.json" ? "" : " with the options that it had");
}

}  // namespace poslab
