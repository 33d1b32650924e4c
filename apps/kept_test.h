// Where `poslab lm eval` and `t5 eval` put the figures of a run: into a file that the user names, into eval.csv if it
// is the run's own test, beside it if it is another (lab/runs/other_test.h), and nowhere if the model is another
// without a name.
#pragma once
#include <string>

#include "lab/runs/other_test.h"

namespace poslab {

class KeptTest {
 public:
  // What was typed behind -o and --name. Throws BadInput before anything is tested: both, a name or a file that cannot
  // be written, the own test of a run that is not trained to its end.
  KeptTest(const RunFolder&, const Choices& own, const Choices& tested, int64_t step, const std::string& file,
           const std::string& name);
  std::string again() const;  // the command that does it again
  void keep(const std::string& csv, const std::string& table) const;  // and prints the table

 private:
  RunFolder run_;
  Choices tested_;
  int64_t step_;
  std::string file_;  // "": none
  OtherTest other_;
  bool nowhere_ = false;
};

}  // namespace poslab
