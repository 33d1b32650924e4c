// The effects of schemes and samplers as matrices, curves and tables, without any model or training. `poslab show`
// prints, draws or saves them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiment/footprint.h"
#include "lab/pages/page/page.h"

namespace poslab::show {

struct Options {
  std::vector<std::string> encodings;  // one or more, as spelled, to compare
  std::string positions = "sequential";
  std::vector<std::string> views;  // empty: all available views
  int length = 32;                 // slots
  int train_length = 40;           // slots of the longest training string
  int heads = 8, d_model = 64, layer = 1;
  bool causal = false;
  uint64_t seed = 0;   // for random positions and learned parameters
  int text = 0;        // bytes written for each number, if all are written
  bool force = false;  // even if the memory seems too small
};

// The matrix of one head of one scheme, or of the difference of two schemes. (rows, cols)
struct Matrix {
  std::string of;  // "rerope:window=8", "difference"
  int rows, cols;
  std::vector<std::vector<double>> heads;  // all different heads; NaN: the pair is masked
};

// Pairs of channels as clock hands: for a key d slots back, the hand of pair m points at frequencies[m] * relative[d].
struct Hands {
  std::string of;                   // "rope", or "none*4+rope*4, heads 5 to 8"
  std::vector<double> frequencies;  // radians a position, (D/2)
  std::vector<double> relative;     // distance of a key d slots back, key minus query: (T); NaN: masked
};

struct View {
  std::string name, title, reading;        // reading: how to read it, in a sentence or two
  std::string row = "query", col = "key";  // the meaning of its matrices' rows and columns
  int first_row = 0;                       // the number of the first row; columns count from 0
  std::vector<Matrix> matrices = {};
  std::vector<page::Chart> charts = {};
  page::Grid table = {};
  std::vector<Hands> hands = {};        // the hands that a page moves
  std::vector<std::string> lacks = {};  // lines on schemes that it leaves out, also in `reading`
  bool one_scale = false;               // whether equal numbers have equal colours in its matrices
};

struct Subject;
struct ViewName {
  std::string name, summary;
  std::optional<View> (*make)(const Subject&);
  std::string lack;  // why a scheme has no such view
};
const std::vector<ViewName>& all_views();

// A named set of encodings to compare: "rerope", the matrices of Su's article (spec C.3). Windows depend on the length
// of the pictures.
struct Set {
  std::string name, summary;
  std::vector<std::string> (*encodings)(int length);
};
const std::vector<Set>& all_sets();

// The memory that these views take.
Taken views_take(const Options&);
// Throws BadInput for an unknown view, one that is empty for these schemes, more slots than positions and, unless
// `force`, too much memory.
std::vector<View> views(const Options&);

// The range of the colours of these cells of `m`: from their smallest to their largest number; with one_scale, of all
// matrices of the view except their difference.
std::pair<double, double> scale_of(const View&, const Matrix& m, const std::vector<double>& cells);

// `m` in at most `most` rows and columns: the mean of blocks of cells, without the masked ones.
Matrix reduced(const Matrix& m, int most);

// For a terminal: a cell is a coloured space, or a shade without colours.
std::string text(const View&, int head, int columns, bool colours, bool utf8);
// view,of,head,row,column,value: in matrices rows and columns count slots from 0, and pairs of channels from 1; in
// curves `column` is the x.
std::string csv(const std::vector<View>&);
page::json figures(const std::vector<View>&, int head);  // the content of a picture (lab/pages/page/print.h)
std::string html(const Options&, const std::vector<View>&, const std::string& command, bool slides = false);

}  // namespace poslab::show
