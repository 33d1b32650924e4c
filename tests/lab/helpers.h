// For tests of lab/: a folder that is removed again, a run that is trained in a moment, the program as users start it.
#pragma once
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "core/error.h"
#include "experiment/config.h"
#include "lab/files/files.h"
#include "tests/support/places.h"

namespace poslab::test {

struct TemporaryFolder {
  std::string path = (std::filesystem::temp_directory_path() / "poslab_test_XXXXXX").string();
  TemporaryFolder() { REQUIRE(mkdtemp(path.data()) != nullptr); }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string& name) const { return path + "/" + name; }
};

// Waits until the condition holds, however busy the machine; gives up after ten minutes.
inline bool eventually(const std::function<bool()>& so) {
  for (int i = 0; i < 120000 && !so(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return so();
}

// The exception's message as the program prints it, "2: heads = 3 does not ..."; "" if the action throws nothing.
inline std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const BadInput& e) { return fmt::format("2: {}", e.what()); } catch (const Failure& e) {
    return fmt::format("1: {}", e.what());
  }
  return "";
}

// The document of a page (lab/page/README.md).
inline nlohmann::json document_in(const std::string& html) {
  const std::string begin = "id=\"data\">";
  const size_t from = html.find(begin) + begin.size();
  return nlohmann::json::parse(html.substr(from, html.find("</script>", from) - from));
}
// The parts of a page's sections whose entry `name` has this value, such as "kind", "chart".
inline std::vector<nlohmann::json> parts_in(const nlohmann::json& document, const char* name,
                                            const std::string& value) {
  std::vector<nlohmann::json> found;
  for (const auto& section : document["sections"])
    for (const auto& part : section["parts"])
      if (part.is_object() && part.value(name, "") == value) found.push_back(part);
  return found;
}
// The cells of one column of the table with this label.
inline std::vector<nlohmann::json> cells_in(const nlohmann::json& document, const std::string& label,
                                            const std::string& column) {
  const std::vector<nlohmann::json> tables = parts_in(document, "label", label);
  REQUIRE_MESSAGE(tables.size() == 1, label);
  std::vector<nlohmann::json> cells;
  for (size_t n = 0; n < tables[0]["columns"].size(); ++n)
    if (tables[0]["columns"][n]["name"] == column)
      for (const auto& row : tables[0]["rows"]) cells.push_back(row[n]);
  return cells;
}

const Settings tiny = {{"task", "reverse_string"},
                       {"encoding", "relative"},
                       {"positions", "randomized"},
                       {"max_position", "64"},
                       {"layers", "2"},
                       {"heads", "2"},
                       {"d_model", "16"},
                       {"batch", "16"},
                       {"steps", "40"},
                       {"train_length", "6"},
                       {"checkpoint_every", "10"},
                       {"log_every", "1"},
                       {"eval_lengths", "1:9"},
                       {"eval_samples", "8"}};

inline RunSpec tiny_config(const Settings& more = {}) {
  return RunSpec(configure(overlaid(all_choices(), tiny, more)));
}

inline std::string tiny_options(const Settings& more = {}) {
  std::string text;
  for (auto& [name, value] : overlaid(all_choices(), tiny, more)) text += fmt::format(" {} {}", dashed(name), value);
  return text;
}

// The program in a shell, both its outputs in a file of the folder; two programs at once need two files.
class Program {
 public:
  Program(const TemporaryFolder& folder, const std::string& arguments, const std::string& before = "",
          const std::string& output = "output")
      : output_(folder / output) {
    const std::string line = fmt::format("{} exec '{}' {} > '{}' 2>&1", before, program, arguments, output_);
    child_ = fork();
    if (child_ == 0) execl("/bin/sh", "sh", "-c", line.c_str(), nullptr), _exit(127);
  }
  pid_t process() const { return child_; }
  double processor_seconds() const {  // so far, while it runs
    clockid_t clock{};
    timespec used{};
    clock_getcpuclockid(child_, &clock), clock_gettime(clock, &used);
    return double(used.tv_sec) + double(used.tv_nsec) / 1e9;
  }
  void send(int signal) const { kill(child_, signal); }
  bool running() { return status_ < 0 && waitpid(child_, &raw_, WNOHANG) == 0; }
  int status() {  // waits; 128 + signal if a signal ended it
    if (status_ < 0) {
      if (raw_ < 0) waitpid(child_, &raw_, 0);
      status_ = WIFEXITED(raw_) ? WEXITSTATUS(raw_) : 128 + WTERMSIG(raw_);
    }
    return status_;
  }
  std::string output() { return status(), read_file(output_); }

 private:
  std::string output_;
  pid_t child_ = -1;
  int raw_ = -1, status_ = -1;
};

}  // namespace poslab::test
