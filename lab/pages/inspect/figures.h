// The inspections as parts of a page's document (lab/page/README.md), and as numbers: lines of CSV, arrays of npz. id:
// unique on the page; name: the run's name on the page; run: its name in files.
#pragma once
#include <string>
#include <vector>

#include "experiment/inside.h"
#include "lab/files/npz.h"
#include "lab/pages/page/page.h"

namespace poslab::inspect {

// A cloud for each layer, with the first length in color 0. More than 1000 points are thinned out, with a note.
page::json pca_figure(const Pca&, const std::string& name);
// Above 500 slots a cell is the maximum over a block, with a note.
page::json attention_figure(const std::vector<AttentionMaps>&, const std::string& name, const std::string& id);
page::json coverage_figure(const Coverage&, const std::string& name, const std::string& id);
// Charts against length, of sorted logits and, where a scheme adds any, of biases.
page::json dispersion_figures(const Dispersed&, const Biases&, const std::string& name, const std::string& id);

// A CSV file with lines of every run. Layers and heads count from 1.
struct Csv {
  const char *file = nullptr, *header = nullptr;
  std::string (*lines)(const std::string& run, const Inside&) = nullptr;
  bool of_decoders = false;  // an encoder-decoder has no such lines
};
extern const std::vector<Csv> csv_files;
// RUN/layerN/lengthL (points, 2), RUN/layerN/mean (C), /axes (2, C), /share (C)
std::vector<Array> pca_arrays(const std::string& run, const Pca&);
std::vector<Array> attention_arrays(const std::string& run, const std::vector<AttentionMaps>&);  // RUN/layerN/lengthL

}  // namespace poslab::inspect
