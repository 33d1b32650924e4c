// The inspections as numbers: lines of pca.csv and coverage.csv, arrays of pca.npz and attention.npz. `run` is the name
// of the run in them.
#pragma once
#include <string>
#include <vector>

#include "experiment/attention_maps.h"
#include "experiment/coverage.h"
#include "experiment/dispersion.h"
#include "experiment/pca.h"
#include "lab/files/npz.h"

namespace poslab::inspect {

// run,layer,length,points,accuracy,outside,share1,share2: a line for each layer and length; layers count from 1.
extern const char* const pca_csv_header;
std::string pca_csv(const std::string& run, const Pca&);
// RUN/layerN/lengthL (points, 2), RUN/layerN/mean (C), /axes (2, C), /share (C)
std::vector<Array> pca_arrays(const std::string& run, const Pca&);

std::vector<Array> attention_arrays(const std::string& run, const std::vector<AttentionMaps>&);  // RUN/layerN/lengthL

// run,layer,head,length,keys,largest_weight,entropy,largest_logit,variance: a line for each layer, head and length
extern const char* const dispersion_csv_header;
std::string dispersion_csv(const std::string& run, const Dispersed&);
extern const char* const logits_csv_header;  // run,length,normal,logit: quantiles of the sorted logits of layer 1
std::string logits_csv(const std::string& run, const Dispersed&);
extern const char* const biases_csv_header;  // run,head,query,key,bias: in layer 1, for visible keys
std::string biases_csv(const std::string& run, const Biases&);

extern const char* const coverage_csv_header;  // run,kind,met_in,value,count,seen_in_training
std::string coverage_csv(const std::string& run, const Coverage&);

}  // namespace poslab::inspect
