// The inspections as parts of a page's document (lab/page/README.md); `id` is unique on the page, `name` is the run's
// name.
#pragma once
#include <string>
#include <vector>

#include "experiment/attention_maps.h"
#include "experiment/coverage.h"
#include "experiment/dispersion.h"
#include "experiment/pca.h"
#include "lab/pages/page/page.h"

namespace poslab::inspect {

// A cloud for each layer, with the first length in color 0. More than 1000 points are thinned out, with a note.
page::json pca_figure(const Pca&, const std::string& name);
// Above 500 slots a cell is the maximum over a block, with a note.
page::json attention_figure(const std::vector<AttentionMaps>&, const std::string& name, const std::string& id);
// Training as areas, tests as lines.
page::Chart coverage_chart(const Coverage&, const std::string& name, const std::string& id);
page::json coverage_figure(const Coverage&, const std::string& name, const std::string& id);

// Charts against length, of sorted logits and, where a scheme adds any, of biases.
page::json dispersion_figures(const Dispersed&, const Biases&, const std::string& name, const std::string& id);

}  // namespace poslab::inspect
