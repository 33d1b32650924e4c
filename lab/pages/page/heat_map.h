// A matrix in colours, as static SVG and as its range of colours.
#pragma once
#include <string>
#include <vector>

namespace poslab::page {

// The numbers at the ends of the colour scale. Of a matrix with numbers on both sides of 0, 0 is in the middle.
struct Shades {
  double low, high;
  bool two_sided() const { return low < 0 && high > 0; }
  double share(double v) const;  // from 0 to 1
};

struct HeatMap {
  std::string name;      // "rerope:window=8, head 3"; unescaped
  std::string row, col;  // the units of its rows and columns: "query", "key"
  int rows, cols;
  int block;                  // how many slots a cell is the mean of, on a side
  std::vector<double> cells;  // (rows, cols); nothing is drawn of a NaN, as of a masked pair
  Shades shades;
  int first_row = 0;    // the number of the first row; columns count from 0
  double tall() const;  // how many times as high as wide a cell is: of a few long rows, so that they can be told
};

// A path for each colour, with a line as wide as a row for each run of neighbours. A cell is so many units wide.
std::string cells_of(const HeatMap&, double wide);

}  // namespace poslab::page
