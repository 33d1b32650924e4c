// The plan of a sweep: the configurations to train, a line of JSON each. It is made once, from a TOML file whose values
// may be lists; run, status and collect read only the plan. lab/runs/sweep/state.h has the states of trials.
//
//   {"id": "9c51f0...", "preset": "none", "task": "even_pairs", ..., "log_every": 10, "device": "cpu"}
//   {"id": "0a77e1...", "name": "even_pairs-rope-1", ..., "log_every": 10, "device": "cpu"}       of a sweep with names
//   {"id": "5d20b9...", ..., "impossible": "heads = 5 does not divide d_model = 64; try heads = 4"}
//   {"id": "77aa01...", "command": "lm train", "preset": "tiny", ..., "log_every": 10}            of language models
#pragma once
#include <map>
#include <string>
#include <vector>

#include "lab/runs/naming.h"

namespace poslab::sweep {

// A command of this program that runs after a trial's training, and leaves a file in the run folder. Only this program
// plans tests: a plan's file contains none, because it may come from anywhere and must not start commands.
struct TrialTest {
  std::string file;                // "tests/yarn.csv"
  std::vector<std::string> words;  // {"lm", "eval", "{run}", "--out={run}/tests/yarn.csv"}; {run} is that folder.
                                   // Empty: drawing measures the record in this file (lab/papers/measured.h)
};

struct Trial {
  std::string id;  // 16 hex digits, from the configuration and the format of checkpoints
  Choices run;
  std::string impossible;  // why check() refuses it; "": it can run
  std::string name = {};   // readable, for a link to its folder (lab/runs/sweep/named.h); "": none
  std::vector<TrialTest> tests = {};
  const Choices& config() const { return run; }
};
using Plan = std::vector<Trial>;  // all trials of one kind
const Kind& kind_of(const Plan&);

// The id does not depend on the commit, so that a rerun after a pull continues old trials (result.json names the commit
// of the training), nor on options at their defaults, so that a new option changes no id. It depends on the format of
// checkpoints.
std::string trial_id(const Choices&);

// The values of some options in a sweep: names and values for configure() (lab/runs/values.h).
using ValueLists = std::map<std::string, std::vector<std::string>>;
ValueLists overlaid(ValueLists lists, const ValueLists& above);  // values of `above` replace those of `lists`
std::vector<std::string> seeds(int64_t n);                       // 0 to n - 1, as a list of seeds

// The product of all lists, with the last option (in the order of kept_options()) varying fastest, and another product
// for each of `also`, whose lists replace those above. Equal configurations appear once. Throws BadInput; `source` is
// for messages.
Plan make_plan(const ValueLists&, const std::vector<ValueLists>& also, const std::string& source,
               const Kind& = strings_kind());
// Makes a plan from TOML: the lists at its top, and `also` from its [[also]] tables. `seeds = 10` is seed = [0, ...,
// 9], name = "{task}-{seed}" names the trials, and command = "lm train" or "t5 train" makes them language models or
// T5s. Throws BadInput with file and line.
Plan make_plan(const std::string& toml, const std::string& source);
// Reads lists of options of tasks, without [[also]].
ValueLists read_lists(const std::string& toml, const std::string& source);

std::string plan_lines(const Plan&);
// A line for each setting that has no effect in the trials (lab/runs/unreached.h), without repeats.
std::vector<std::string> unreached(const Plan&);
// Throws BadInput with file and line if it is not a plan, or an id does not match its configuration.
Plan read_plan(const std::string& path);
Plan plan_of(const std::string& lines, const std::string& source);  // the same for a plan's text

// Names of the trials: "encoding=rope positions=randomized seed=3". `without`: options to ignore.
Naming naming(const Plan&, const std::set<std::string>& without = {});

struct Shard {
  int index = 0, of = 1;  // 0 .. of - 1; written 2/8
};
Shard read_shard(const std::string& text);                // throws BadInput
std::vector<const Trial*> trials_of(const Plan&, Shard);  // lines `index`, `index + of`, ... that can run

}  // namespace poslab::sweep
