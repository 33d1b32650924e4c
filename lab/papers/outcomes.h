// The results of an artifact's trials, for its tables and figures.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "experiment/strings.h"
#include "lab/files/statistics.h"
#include "lab/runs/results_csv.h"
#include "lab/runs/run_record.h"
#include "lab/runs/sweep/sweep.h"

namespace poslab::reproduce {

using namespace sweep;  // the trials of a reproduction are a sweep

struct Outcome {
  const Trial* trial;
  std::string folder;  // the run folder
  double score;        // the paper's score: mean accuracy beyond the training lengths; NaN if untested
  std::vector<AtLength> tested;
  RunRecord record;
};
struct Missing {
  const Trial* trial;
  TrialState state;
  std::string reason;
};

using Which = std::function<bool(const Choices&)>;

class Outcomes {
 public:
  // Reads the results of done trials; an unreadable one is missing, with the reason. `plan` must outlive this object.
  Outcomes(const Plan& plan, const SweepFolder&);
  const Plan& plan() const { return plan_; }
  const std::vector<Outcome>& done() const { return done_; }
  const std::vector<Missing>& missing() const { return missing_; }
  size_t planned() const { return done_.size() + missing_.size(); }
  bool plans(const Which&) const;
  // The runs of a setting by rising seed, at the learning rate that tables show (python/poslab/papers/setting.py): the
  // one with the highest mean score, among those with the most finished seeds.
  std::vector<const Outcome*> by_seed(const Which&) const;
  std::vector<std::string> tasks() const;  // the plan's tasks, in its order

 private:
  const Plan& plan_;
  std::vector<Outcome> done_;
  std::vector<Missing> missing_;
  std::vector<std::string> tasks_;
};

// Mean accuracy at the tested lengths from .. to; NaN if there are none.
double mean_at(const Outcome&, int from, int to);

}  // namespace poslab::reproduce
