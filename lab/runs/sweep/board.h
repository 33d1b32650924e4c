// The whole sweep while it runs: a table that is drawn again and again on a terminal, a line for each event anywhere
// else. It looks at the files, so it also sees what other workers do.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "lab/runs/sweep/state.h"

namespace poslab::sweep {

class Board {
 public:
  Board(const Plan&, const SweepFolder&, std::string title);      // both must outlive it
  void event(TrialState, const Trial&, const std::string& note);  // what came of one of ours
  void show(const std::vector<const Trial*>& ours);               // that are running; call it often
  void last();                                                    // none runs any more

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
  int64_t before_;  // steps of trials that were done when we began
  bool terminal_;
  size_t lines_ = 0;  // of the table on the terminal
  Clock::time_point start_ = Clock::now(), next_ = start_;
};

}  // namespace poslab::sweep
