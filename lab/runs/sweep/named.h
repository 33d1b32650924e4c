// The readable part of a sweep's folder: its plan, and links with names.
//
//   plan.jsonl     the plans that were run here, put together
//   named/NAME     a link to the trial's folder
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "lab/runs/sweep/state.h"

namespace poslab::sweep {

// Makes the folder, and keeps the plan in it. Throws Failure if it cannot be written, and BadInput if the folder has a
// sweep of another kind of run.
void keep_plan(const Plan&, const SweepFolder&);
std::string kept_plan(const std::string& folder);  // its path, which may not exist

// Finds a sweep by its folder, or by a plan whose trials are in the plan's folder or up to two levels below, where
// compare and reproduce put them. Throws BadInput if there is no plan, if its trials are in no folder or in several, or
// if the folder has a trial that the plan lacks.
struct PlacedPlan {
  Plan plan;
  std::string folder;
};
PlacedPlan find_sweep(const std::string& path);
std::vector<std::filesystem::path> folders_in(const std::filesystem::path&);  // in order, without links

// Gives each trial that can be run a name from a template: {option} becomes the option's value or word. Characters that
// do not suit a file's name become "_". Throws BadInput if there is no such option, or for equal names.
void name_trials(Plan&, const std::string& text);
bool names_a_file(const std::string&);  // whether name_trials() could have given it

using TrialNames = std::map<std::string, const Trial*>;
TrialNames names_of(const Plan&);  // the names in the plan; throws BadInput if two trials have the same name
// Makes links named/NAME -> ../ID for the trials that have a folder. Throws Failure.
void link_names(const TrialNames&, const SweepFolder&);

}  // namespace poslab::sweep
