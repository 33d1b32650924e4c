// A source whose models are trained and tested by commands of this program, one chain of commands for each model.
#pragma once
#include <optional>

#include "lab/papers/artifact.h"
#include "lab/papers/chains.h"
#include "lab/runs/values.h"

namespace poslab::reproduce {

struct CommandRequest {
  std::string size;
  std::vector<std::string> sets;  // KEY=VALUE
  std::string folder;             // runs stand in FOLDER/runs
  int threads;                    // of each command
};

class ByCommands {
 public:
  virtual ~ByCommands() = default;
  // The trainings and tests that these artifacts need, by rising seed; the first step of a chain is a training. Throws
  // BadInput where a run was begun with other settings.
  virtual std::vector<Chain> chains(const std::vector<const Artifact*>&) const = 0;
  virtual Section draw(const Artifact&) const = 0;
  virtual std::string how() const = 0;  // "3 seeds of a decoder of 4 gated attention units ..."
};

// What the texts KEY=VALUE set: the number of seeds (seeds=N), or an option of the runs. Options whose names begin with
// `prefix` are those of other runs, and come without it.
struct Sets {
  std::optional<int> seeds;
  Settings options, prefixed;
};
// chosen: options which the tables choose for themselves, beside those that they choose in all sources. Throws BadInput
// for these, and for a text that is not KEY=VALUE.
Sets read_sets(const std::vector<std::string>& texts, std::vector<std::string> chosen, const std::string& prefix = "");
Settings joined(Settings first, const Settings& second);  // where both name an option, the second counts

// The first step of a chain: it trains a run of `poslab lm` or `poslab t5`, or goes on with it. work: as in Step.
// Throws BadInput where the run was begun with other settings.
Step training(const Kind&, const Settings&, const std::string& run, int threads, double work);

// Writes what lab/papers/reproduce.h's write() does, from what is done. Returns how much that is.
std::string write(const std::vector<const Artifact*>&, const ByCommands&, const std::string& size,
                  const std::string& folder, const std::string& command);

}  // namespace poslab::reproduce
