// The Python programs that draw: python/poslab/figures and papers, installed in share/poslab.
#pragma once
#include <string>
#include <vector>

namespace poslab {

// The python3 next to this program, or else the first on the PATH, if it has these packages; "" if neither has them.
std::string python_with(std::vector<std::string> packages);

// Throws Failure if the module is not installed; for a check before the work whose results it would draw.
void check_installed(const std::string& module);
// Runs python/poslab/MODULE as a program and returns its exit status, or 128 + the signal that ended it. Signals to
// this program are passed on. Throws Failure if the module is not installed.
int run_python(const std::string& python, const std::string& module, const std::vector<std::string>& words);
// The same with `input` as standard input; returns the output. Throws BadInput with the module's message if the status
// is 2, Failure if it is any other than 0, and Interrupted for a signal.
std::string python_output(const std::string& python, const std::string& module, const std::vector<std::string>& words,
                          const std::string& input);

}  // namespace poslab
