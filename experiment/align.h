// Attention alignment (Chi, Fan, Rudnicky 2023; spec C.2): temperatures at which attention over a long input is as
// peaked as over one of the trained length. Nothing is trained.
//
//   pmax, entropy   Algorithm 1. S(L, tau): the mean over rows of the largest weight, or of the entropy, on inputs of
//                   length L with all logits divided by tau. Picks the tau of a grid with the least
//                   |S(L, tau) - S(short, 1)|, the larger of two equally near. tau acts in all layers at once, so each
//                   candidate takes a pass.
//   log             tau = ln short / ln L, in numbers of keys
//   prop1, prop2    Propositions 1 and 2, from the row statistics of the first layer
//
// By layer or head, the same is done for one layer after another, on the layer's own statistics, with earlier layers
// at the temperatures already found; the heads of a layer do not affect each other. Each length is aligned as if it
// were the only long one; a query with fewer keys gets a temperature between the short length's and its own.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "encodings/aligned.h"
#include "experiment/dispersion.h"

namespace poslab {

enum class AlignMode { pmax, entropy, log, prop1, prop2 };
enum class AlignPer { model, layer, head };
const std::vector<std::string>& align_modes();   // "pmax", ... in the order of AlignMode
const std::vector<std::string>& align_groups();  // "model", "layer", "head"

// Temperatures are chosen on strings that tests do not use. Language models use their training text.
constexpr Purpose aligned_on = Purpose::align_tokens;

struct Aligning {
  AlignMode mode = AlignMode::pmax;
  AlignPer per = AlignPer::model;
  int shortest = 0;         // a trained length
  std::vector<int> longer;  // ascending
  std::vector<double> grid = {1, .95, .9, .85, .8, .75, .7, .65, .6, .55, .5};
};

struct AlignedAt {
  int length = 0;
  AlignedLength found;       // its length is a number of keys
  int unreachable = 0;       // how many temperatures cannot reach the target
  Dispersion before, after;  // before: at temperature 1
};
struct Alignment {
  Dispersion target;  // the statistic at the short length
  std::vector<AlignedAt> lengths;
  AlignedTemperatures temperatures;  // without the checksum of the weights
};
// step(passes done, passes in all, length) is called after each pass, or when a known result replaces a pass; it may be
// absent. Throws BadInput for lengths that do not rise from the short one, a grid without positive numbers,
// propositions for a layer without logits, and attention that is not a number.
void check(const Probed&, const Aligning&);  // throws the first three of these
Alignment align(const Probed&, const Aligning&, const std::function<void(int, int, int)>& step);

// The cost of the passes of align(), known in advance.
Taken alignment_takes(const Probed&, const Aligning&);

double log_rule(double short_keys, double long_keys);
// Assumes logits N(0, variance) and one largest logit that stays the same. `weight` is the mean of the largest weights
// at the short length. If no temperature gives this weight at the long length, returns the one that comes nearest.
struct Proposition1 {
  double tau;
  bool reachable;
};
Proposition1 proposition1(double weight, double short_keys, double short_variance, double long_keys,
                          double long_variance);
double proposition2(double short_keys, double short_variance, double long_keys, double long_variance);

// Identifies the model in a file of temperatures: core/checksum.h over all parameters.
std::string weights_checksum(const Params&);
// Throws BadInput if the policy is `aligned` to other weights than the model's. weights() computes the checksum of the
// model's weights, if it is needed.
void check_aligned(const Chosen<TemperaturePolicy>&, const Params&);
void check_aligned(const Chosen<TemperaturePolicy>&, const std::function<std::string()>& weights);

}  // namespace poslab
