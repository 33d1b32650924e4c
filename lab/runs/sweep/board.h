// Shows a running sweep: a table that is redrawn on a terminal, or a line for each event elsewhere. It reads the files,
// so it also shows the trials of other workers.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "lab/runs/sweep/state.h"

namespace poslab::sweep {

class Board {
 public:
  Board(const Plan&, const SweepFolder&, std::string title);      // both must outlive the board
  void event(TrialState, const Trial&, const std::string& note);  // how one of our trials ended
  void show(const std::vector<const Trial*>& ours);               // the running trials; call it often
  void last();                                                    // for the last table, when no trial runs any more

 private:
  using Clock = std::chrono::steady_clock;
  void look();
  std::string headline() const;
  std::string name_of(const Trial&) const;  // readable
  void draw(const std::vector<const Trial*>& ours);

  const Plan& plan_;
  const SweepFolder& folder_;
  std::string title_;
  Naming naming_;
  std::vector<TrialState> states_;
  int64_t before_;  // steps of trials that were done at the start
  bool terminal_;
  size_t lines_ = 0;  // lines of the table on the terminal
  Clock::time_point start_ = Clock::now(), next_ = start_;
};

}  // namespace poslab::sweep
