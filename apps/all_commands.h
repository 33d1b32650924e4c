// Commands that have files of their own. Each function adds the options and the help of one command, and returns the
// function that runs it after parsing.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "apps/commands.h"

namespace poslab {

using Action = std::function<void()>;

Action add_align(CLI::App*);        // temperatures that keep attention over long inputs as peaked as over short ones
Action add_ask(CLI::App*);          // asks a trained run about the user's strings
Action add_calibrate(CLI::App*);    // the mean attention of a run's heads, as another run's bias
Action add_check(CLI::App*);        // the laws of a scheme; throws Failure if one is broken
Action add_compare(CLI::App*);      // many encodings on the same tasks
Action add_completion(CLI::App*);   // the script for completion in a shell
Action add_explain(CLI::App*);
Action add_graph(CLI::App*);        // the tape of a training step as a picture
Action add_inspect(CLI::App*);      // positions in training, activations, attention
Action add_lm(CLI::App*);           // the commands of language models
void add_lm_eval(Commands&);
Action add_reproduce(CLI::App*);    // the tables and figures of a source
Action add_rerun(CLI::App*);        // repeats one trial of a committed table
Action add_show(CLI::App*);         // pictures of schemes and samplers
Action add_sweep(CLI::App*);        // plan | run | status | collect | submit
Action add_t5(CLI::App*);           // the commands of encoder-decoders
Action add_t5_generate(CLI::App*), add_t5_export(CLI::App*);
Action add_view(CLI::App*);         // attention maps at full resolution
Action add_web(CLI::App*);          // the page that trains in the browser, with runs in it

// Prints the possible completions of the last of `words`, which may be empty: one per line, with its help text after a
// tab. Prints nothing where a file or a number belongs. The scripts of add_completion() call it.
void complete(std::vector<std::string> words, const CLI::App& program);

// Whether --hf is given in place of a run. Throws BadInput for both, neither, a missing run, and a checkpoint as run.
// command: its name for the message, "eval".
bool external(const std::string& run, const std::string& hf, const char* command);
void use_threads(const std::string& word);  // word: the value of --threads; "" and 0 change nothing. Throws BadInput

}  // namespace poslab
