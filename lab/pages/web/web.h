// `poslab web`: the page that trains in the browser (docs/web.md) with runs as its lanes. Their curves are there at
// once, and their models can be asked, looked into and trained on. Leaves out how the page is made: web/assemble.py.
#pragma once
#include <string>
#include <vector>

namespace poslab::web {

constexpr size_t most_runs = 4;        // lanes of the page
constexpr double most_bytes = 32e6;    // of a run's checkpoint, which the page holds as text

// The page without runs: in build/web, where `tools/web` makes it, of a program that lies in build/PRESET; else in
// share/poslab of the nearest folder above an installed one that has it. Throws Failure, which names both places.
std::string page_file();

// Writes that page with these runs to `out`. BadInput: more than most_runs, runs of several tasks or not tested yet, a
// checkpoint of more than most_bytes, what RunFolder::open refuses. Failure: the page has no place for runs.
void write(const std::vector<std::string>& runs, const std::string& out);

}  // namespace poslab::web
