// The analysis of a source in Python, python/poslab/papers: it draws from FOLDER/about.json, which has the request,
// and FOLDER/kept.jsonl (lab/runs/sweep/kept.h), which has the results.
#pragma once
#include <string>

namespace poslab::reproduce {

struct FigureFiles;

// An interpreter with the packages that the analysis imports: the one next to this program, or the first on the PATH.
// Throws BadInput with a remedy, so call it before anything is trained.
std::string python_for_papers();
// Draws the contents of a folder. Throws Failure for another status than 0; a signal throws Interrupted.
void draw_in_python(const std::string& python, const std::string& folder, const FigureFiles&);

}  // namespace poslab::reproduce
