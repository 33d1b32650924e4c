// What schemes and samplers do, as matrices, curves and tables: no model, no training. `poslab show` prints, draws or
// saves them.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "experiment/footprint.h"
#include "lab/pages/page/page.h"

namespace poslab::show {

struct Options {
  std::vector<std::string> encodings;        // one or more to be compared, as they are spelled
  std::string positions = "sequential";
  std::vector<std::string> views;            // empty: all that there is to see
  int length = 32;                           // slots
  int train_length = 40;                     // slots of the longest string in training
  int heads = 8, d_model = 64, layer = 1;
  bool causal = false;
  uint64_t seed = 0;                         // of random positions and of learned parameters
  int text = 0;                              // bytes that are written for each number, where all of them are
  bool force = false;                        // even if it seems too large for the memory
};

// Of one head of one scheme, or of both schemes' difference.                                          (rows, cols)
struct Matrix {
  std::string of;                            // "rerope:window=8", "difference"
  int rows, cols;
  std::vector<std::vector<double>> heads;    // all that differ; NaN: the pair is masked
};

// Pairs of channels as clock hands: d slots back the hand of pair m points at frequencies[m] * relative[d].
struct Hands {
  std::string of;                            // "rope", or "none*4+rope*4, heads 5 to 8"
  std::vector<double> frequencies;           // radians a position, (D/2)
  std::vector<double> relative;              // distance of a key d slots back, key minus query: (T); NaN: masked
};

struct View {
  std::string name, title, reading;          // reading: how it is read, in a sentence or two
  std::string row = "query", col = "key";    // the meaning of its matrices' rows and columns
  int first_row = 0;                         // the number of the first; columns count from 0
  std::vector<Matrix> matrices = {};
  std::vector<page::Chart> charts = {};
  page::Grid table = {};
  std::vector<Hands> hands = {};             // the hands that a page moves
  bool one_scale = false;                    // its matrices have the same colours for the same numbers
};

struct ViewName { std::string name, summary; };
const std::vector<ViewName>& all_views();    // relative, bias, similarity, frequencies, rotation, ...

// Encodings that belong beside one another, under a name: "rerope", the matrices of Su's article (spec C.3). Windows go
// by the length of the pictures.
struct Set {
  std::string name, summary;
  std::vector<std::string> (*encodings)(int length);
};
const std::vector<Set>& all_sets();

// The memory that these views take.
Taken views_take(const Options&);
// Throws BadInput: no such view, nothing to see there of these schemes, more slots than positions; unless `force`, more
// than fits into the memory.
std::vector<View> views(const Options&);

// The lowest and the highest number of its matrices, their difference left out.
std::pair<double, double> range_of(const View&);

// `m` in at most `most` rows and columns: the mean of blocks of cells, without the masked ones.
Matrix reduced(const Matrix& m, int most);

// For a terminal: a cell is a coloured space, or a shade where there are no colours.
std::string text(const View&, int head, int columns, bool colours, bool utf8);
// view,of,head,row,column,value: of matrices rows and columns count slots from 0, and pairs of channels from 1; of
// curves `column` is the x.
std::string csv(const std::vector<View>&);
page::json figures(const std::vector<View>&, int head);  // what a picture shows (lab/pages/page/print.h)
std::string html(const Options&, const std::vector<View>&, const std::string& command, bool slides = false);

}  // namespace poslab::show
