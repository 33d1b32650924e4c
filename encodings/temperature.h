// HOW SHARP attention is: one factor on all logits of a query, for any scheme.
//
//   a_ij = softmax_j ( f_i s_ij )          f_i > 1: sharper, f_i < 1: flatter
//
// Papers that divide by a temperature tau, s_ij / tau, have f = 1 / tau. With more keys a softmax over logits of the
// same size is flatter, so most policies raise f with the number of keys. Some also normalize queries or keys, whose
// norms are a factor on the logits too.
#pragma once
#include "encodings/encoding.h"

namespace poslab {

// A policy in one layer.
struct Temperature {
  std::function<Tensor(const Heads&, const Positions&, const Span&)> factor{};   // f: (1 or B, Tq, 1 or H); absent: 1
  std::function<Heads(Heads)> prepare{};         // replaces queries and keys before any rotation; absent: no change
  bool absent() const { return !factor && !prepare; }
  Heads operator()(Heads, const Positions&, const Span&) const;                  // the input of the scheme
};

// An entry of the list in encodings/temperature.cpp.
struct TemperaturePolicy {
  std::string name = "none", summary = {}, about = {}, source = {}, formula = {};   // about: at most five lines
  std::vector<Option> options = {};
  bool learned = false;          // it has parameters, so it is the same in training and at test
  std::function<Temperature(Params, const Choices&, const ModelShape&)> make = {};
  // "length = 80" if no query sees that many keys, so that logits do not change
  std::function<std::string(const Choices&, int keys)> unreached = {};
};
const std::vector<TemperaturePolicy>& all_temperatures();
// "log_n:length=80", and with the trained length of `run` "log_n:length=1L". Throws BadInput with did-you-mean.
Chosen<TemperaturePolicy> choose_temperature(const std::string& text, const RunValues& run = {});
// The policy in each layer; parameters are named layer2.NAME.
std::vector<Temperature> temperature_layers(const Params&, const Chosen<TemperaturePolicy>&, const ModelShape&);

}  // namespace poslab
