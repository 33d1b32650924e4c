// The options of a run, whichever command made it: of a task (`poslab train`, experiment/config.h), of a language model
// (`poslab lm train`, experiment/language/options.h) or of a T5 (`poslab t5 train`, experiment/t5/options.h). Sweeps,
// names and reports of runs ask here for what all have.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "experiment/config.h"

namespace poslab {

using RunConfig = std::variant<Config, Choices>;
enum class RunKind { task, language, t5 };
RunKind kind_of(const RunConfig&);
RunKind kind_of_folder(const std::string& path);  // by its config.toml; task if it has none
// Of all of them. Throws BadInput, naming the command that is to look at them, if there are runs of several kinds.
RunKind one_kind(const std::vector<std::string>& folders, const char* command);
// The words behind `poslab`: "train", "lm train" or "t5 train", by which plans name the kind; and "resume" likewise.
const char* train_command(RunKind);
const char* resume_command(RunKind);
RunKind kind_of_command(const std::string& train);  // throws BadInput
const char* eval_command(RunKind);                  // "eval", "lm eval" or "t5 eval"
const char* last_file(RunKind);                     // a run that has it is complete: result.json or eval.csv
const char* studied(RunKind);                       // the option that says what is learned: task, text or tasks
const char* format_of_checkpoints(RunKind);
// The options that its eval command can change, in the order in which they name a test (lab/runs/other_test.h).
const std::vector<std::string>& test_options(RunKind);

// An option that is kept in config.toml.
struct KeptOption {
  std::string name;
  Option::Kind kind;               // toggle, whole, number; word for all that is written as text
  std::vector<std::string> words;  // of a toggle, if any: what runs are called without and with it
  std::string unwritten;           // of a newer option its default, with which it is not written; else ""
};
const std::vector<KeptOption>& kept_options(RunKind);  // in the order of config.toml
// Throws BadInput: unknown (did you mean), of another kind of runs, or of no run.
const KeptOption& kept_option(RunKind, const std::string& name);

RunConfig configure(RunKind, const Settings&);  // throws BadInput
void check(const RunConfig&);                   // likewise, if the choices do not fit together
std::string value_of(const RunConfig&, const std::string& option);
using Values = std::map<std::string, std::string>;  // of options, by their names
Values values_of(const RunConfig&);                 // of all kept options

// As JSON: the kept options in their order, each of its own type; as in result.json and in a plan.
nlohmann::ordered_json config_json(const RunConfig&);
nlohmann::ordered_json typed(const KeptOption&, const std::string& value);
// Throws BadInput: not an object, an unknown option, a value that the option does not take.
RunConfig config_of(RunKind, const nlohmann::ordered_json&);

}  // namespace poslab
