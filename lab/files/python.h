// Python that draws for the program: python/poslab/figures and papers, which travel in share/poslab.
#pragma once
#include <string>
#include <vector>

namespace poslab {

// python3 beside this program, or the first on the PATH, if it has these packages; "" if neither has.
std::string python_with(std::vector<std::string> packages);

// Runs python/poslab/MODULE as a program and returns its exit status, or 128 + the signal that ended it. A signal that
// this program gets goes on to it. Throws Failure where this program came without the module.
int run_python(const std::string& python, const std::string& module, const std::vector<std::string>& words);
// The same with `input` to read; returns the output. Throws BadInput where it ends with 2 and Failure where it does
// with another status than 0, with its words; a signal throws Interrupted.
std::string python_output(const std::string& python, const std::string& module, const std::vector<std::string>& words,
                          const std::string& input);

}  // namespace poslab
