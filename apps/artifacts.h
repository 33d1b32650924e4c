// The common part of `poslab reproduce` and `poslab compare`, with its options: keep a plan, run its trials, draw.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "lab/papers/reproduce.h"
#include "lab/runs/output.h"

namespace poslab {

struct Making {
  std::string out, kept;
  std::vector<std::string> sets;
  reproduce::FigureFiles figures;
  int jobs = 1, threads = 0;
  bool only_plan = false, only_draw = false, retry = false, force = false;
};
void add_making(CLI::App*, Making&);  // the Making must outlive the command
Output earlier_artifacts();           // the README.md of a folder that may be drawn again

sweep::ValueLists settings(const Making&);  // the values of --set, as lists for trials; throws BadInput
void check_figures(const Making&);          // checks --figures and --width; throws BadInput
// --set, --kept, --figures and --out in the form of a command line
std::string words_again(const Making&);
// Writes the plan into a file. Slurm's tasks read that file at their start, so it never loses a trial. Throws BadInput
// if the file is another plan.
void keep_plan(const sweep::Plan&, const std::string& path, const sweep::SweepFolder& runs);
// Prints the state of the folder: progress, its pages, and figures if any artifact has one.
void say_what_is_drawn(const Making&, const std::string& summary);

// trials: all trials of the artifacts, in the order in which they run; trials of second stages come last. what: the
// artifact's name, for the error that it needs no runs.
void make(std::vector<reproduce::Planned>, sweep::Plan trials, const reproduce::Request&, const Making&,
          const std::string& what, const std::string& command);

}  // namespace poslab
