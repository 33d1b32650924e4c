// The ranking of a comparison: tables, pictures and what they say in sentences, from whatever trials are done.
#pragma once
#include "lab/papers/artifact.h"

namespace poslab::compare {

// A scheme with its results. Scores are fractions, means over the lengths beyond training.
struct Entry {
  std::string name;                                      // as it is spelled
  const reproduce::Trial* trial;                         // one of its trials
  std::map<std::string, reproduce::Summary> tasks = {};  // by task
  BySeed scores = {};                                    // means over the tasks that the ranking counts
  double mean = std::nan("");                            // over the seeds
  Interval interval = {};                                // of that mean
  Paired ahead = {};                                     // of `none`, over the seeds that both have
  double trained = std::nan(""), time = std::nan("");    // as below: has it learned at all? beside `none`
  bool ties = false;                                     // its interval overlaps that of the best
};

struct Ranking {
  std::vector<std::string> tasks;  // that the ranking counts: those on which every scheme with a result was tested,
                                   // save such as failed on one
  std::vector<Entry> ranked;       // the best first
  std::vector<Entry> unranked;     // without a result on each of these tasks, in the order of the plan
};
Ranking rank(const reproduce::Outcomes&);
// Of the runs on these tasks, means of tasks: the accuracy on the lengths of training, and the time of a training step
// in that of another scheme. NaN where a task has no run.
double trained(const Entry&, const std::vector<std::string>& tasks);
double time_of(const Entry&, const Entry& other, const std::vector<std::string>& tasks);

reproduce::Section ranking(const reproduce::Outcomes&, const Choices&);

}  // namespace poslab::compare
