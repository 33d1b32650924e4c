// `poslab web`: the page that trains in the browser (docs/web.md) with runs as its lanes. Their curves are shown at
// once, and their models can answer, be inspected and be trained further. web/assemble.py makes the page itself.
#pragma once
#include <string>
#include <vector>

namespace poslab::web {

constexpr size_t most_runs = 4;        // lanes of the page
constexpr double most_bytes = 32e6;    // bytes of a run's checkpoint, which the page contains as text

// The page without runs: for a program in build/PRESET the one in build/web, made by `tools/web`; for an installed
// program the one in share/poslab of the nearest folder above. Throws Failure, which names both places.
std::string page_file();

// Writes that page with these runs to `out`. Throws BadInput for more than most_runs, for several tasks, untested runs,
// and a checkpoint of more than most_bytes, and as RunFolder::open(); Failure if the page has no place for runs.
void write(const std::vector<std::string>& runs, const std::string& out);

}  // namespace poslab::web
