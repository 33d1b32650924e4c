// One table or figure of a source: which trials it takes, and how it is drawn from their results. all.cpp has the only list.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/reproduce/grid.h"
#include "lab/reproduce/outcomes.h"
#include "lab/reproduce/size.h"
#include "lab/sweep/collect.h"

namespace poslab::reproduce {

// The trials of an exhibit: lists in place of those of the size, and further products whose lists replace these.
struct Trials {
  ValueLists lists;
  std::vector<ValueLists> also = {};
};

struct Picture {
  std::string html = {};
  nlohmann::json data = {};  // for lab/page/figures.js: {"charts": [...], "maps": {...}}, either may be absent
};

struct Section {
  std::vector<std::string> readings;  // what came out, in sentences
  std::vector<Grid> grids;
  std::vector<Picture> pictures;   // on the page only
  std::vector<std::string> notes;  // how it was made, and what it does not say
  std::string arrays;              // NAME.npz: what is too large for a table, or nothing
  Table data;                      // NAME.csv
};

struct Exhibit {
  std::string name;  // seed1:table1
  std::string title;
  std::string source;  // where in the paper, and what stands there
  // `usual`: what trials are like at this size (size.h).
  Trials (*trials)(const Config& usual);  // null: nothing is trained for it
  Section (*draw)(const Outcomes&, const Config& usual);
};
const std::vector<Exhibit>& all_exhibits();
std::string source_title(const Exhibit&);  // of the paper
// Those that `words` name: seed1:table1, or seed1:all for all of a source. In the order of the list, each once.
// Throws BadInput with did-you-mean.
std::vector<const Exhibit*> exhibits(const std::vector<std::string>& words);

}  // namespace poslab::reproduce
