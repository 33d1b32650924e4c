// The current state of a plan's trials, from the files and locks of FOLDER alone:
//
//   ID/           a run folder (lab/runs/run_folder.h); the trial is done once the files of its own test and of its
//                 other tests are there
//   plan.jsonl, named/  the plan and readable names (lab/runs/sweep/named.h)
//   ID.log        the output of its process; removed when it is done
//   ID.failed     why it failed; a trial whose folder ID is another trial's counts as failed without this file
//   claims        which trials are being worked on (lab/runs/sweep/claim.h)
//   journal.jsonl what every worker did: {"at", "worker", "event": start | done | failed | stopped, "id", "reason"}
#pragma once
#include <array>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "lab/runs/sweep/claim.h"
#include "lab/runs/sweep/plan.h"

namespace poslab::sweep {

enum class TrialState { done, running, stopped, todo, failed, impossible };  // stopped: unfinished; `run` continues it
constexpr std::array<const char*, 6> state_names = {"done", "running", "stopped", "to do", "failed", "impossible"};
const char* name_of(TrialState);

// A file or folder outside a trial's folder that its training reads, named by an option: its text, or its origin.
struct Input {
  const char *option, *key, *file;                     // key: in the files of result.json, and in messages
  std::string (*then)(const std::string& run);         // checksum of the version that was read
  std::string (*now)(const Trial&);                    // checksum of the present one, "": none; throws BadInput
};
const std::array<Input, 2>& all_inputs();

class SweepFolder {
 public:
  explicit SweepFolder(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }
  std::string run(const Trial& t) const { return path_ + "/" + t.id; }
  std::string result(const Trial& t) const { return run(t) + "/result.json"; }
  bool trained(const Trial&) const;  // trained and tested, with the files of its own test
  // Why its folder is not this trial's, with the remedy: another one was moved there, or its configuration was changed.
  // "" if it is this trial's, or missing.
  std::string misfit(const Trial&) const;
  // For a trial that is done, why its own test is damaged or of another trial; "" if it is neither.
  std::string damage(const Trial&) const;
  bool settled(const Trial&) const;  // done, failed or a misfit, so that no worker takes it
  std::vector<const TrialTest*> untested(const Trial&) const;  // commands whose file is missing
  size_t steps_left(const Trial& t) const { return size_t(!trained(t)) + untested(t).size(); }  // 0: it is done
  std::string log(const Trial& t) const { return run(t) + ".log"; }
  std::string failed(const Trial& t) const { return run(t) + ".failed"; }
  std::string journal() const { return path_ + "/journal.jsonl"; }

  TrialState state(const Trial&, const Claims&) const;
  std::string reason(const Trial&, TrialState) const;  // the reason for a failed or impossible trial; "" for others
  void must_fit(const Trial&) const;                   // throws BadInput for a misfit
  // Checksum of an input that a trial has read; "" if it is not trained, older than this record, or reads none.
  std::string input_read(const Trial&, const Input&) const;
  // Why this unfinished trial cannot continue: an input differs from the one that a trained trial of the plan has read
  // at the same path; "" if it can.
  std::string other_input(const Plan&, const Trial&) const;

 private:
  std::string path_;
};

// Throws BadInput if trained trials have read different inputs at one path.
void check_inputs(const Plan&, const SweepFolder&);

// The rows of a further test of a trial, in its run folder. Throws as read_results(), and Failure if they are of
// another test.
Results read_test(const Trial&, const TrialTest&, const std::string& run);

struct Counts {
  std::array<int, state_names.size()> of{};
  int& operator[](TrialState s) { return of[size_t(s)]; }
  int operator[](TrialState s) const { return of[size_t(s)]; }
};
Counts count(const std::vector<TrialState>&);
std::string to_string(const Counts&);  // "12 done, 2 running, 16 to do", without zeros

// The states of a plan, and the table of `poslab sweep status`. Without a folder all trials are still to do. states()
// only looks for the files of a test; damaged() reads them.
std::vector<TrialState> states(const Plan&, const SweepFolder&);
std::map<size_t, std::string> damaged(const Plan&, const SweepFolder&);  // by index: why
// "2 trials are damaged, the first 4a8dbb: ...; --retry ..." with a newline, or "".
std::string note_of_damage(const Plan&, const SweepFolder&);
std::string status(const Plan&, const SweepFolder&);

}  // namespace poslab::sweep
