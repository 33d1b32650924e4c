// The inspections as HTML for a page that embeds page.css and figures.js. Each returns whole <figure>s and adds
// to `data`, the page's JSON, the values for its script; `id` is unlike all others of the page, `name` is the run's
// name.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/attention_maps.h"
#include "experiment/coverage.h"
#include "experiment/dispersion.h"
#include "experiment/pca.h"
#include "lab/pages/page/page.h"

namespace poslab::inspect {

// A static picture for each layer, first length in color 0. Above 1000 points a cloud is thinned out, and it says so.
std::string pca_figure(const Pca&, const std::string& name);
// Drawn by figures.js: data["maps"][id...]. Above 500 slots a cell is the maximum over a block, and it says so.
std::string attention_figure(const std::vector<AttentionMaps>&, const std::string& name, const std::string& id,
                             nlohmann::json& data);
// A chart with a read-out: data["charts"]. Training filled, tests as lines.
page::Chart coverage_chart(const Coverage&, const std::string& name, const std::string& id);
std::string coverage_figure(const Coverage&, const std::string& name, const std::string& id, nlohmann::json& data);

// Charts against length, of sorted logits and, where a scheme adds any, of biases: data["charts"].
std::string dispersion_figures(const Dispersed&, const Biases&, const std::string& name, const std::string& id,
                               nlohmann::json& data);

}  // namespace poslab::inspect
