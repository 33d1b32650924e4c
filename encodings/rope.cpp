// RoPE (Su et al. 2021): pairs of channels of q and k rotate with the position, so q . k depends on the distance.
//
//   s_ij = (R(p_i) q_i) . (R(p_j) k_j) / sqrt(D) = q_i . R(p_j - p_i) k_j / sqrt(D)
//   R(p) rotates pair m by p base^(-2m/D)                                           angles: (1 or B, T, D/2)
// ABF (Xiong et al. 2023) only raises the base, so that far keys are rotated less.
#include "encodings/rotary.h"

namespace poslab {
namespace {

RotarySpectrum plain(const HeadAt& t, const Choices& c) { return {frequencies_of(t, c)}; }

}  // namespace

extern const SchemePages rope_pages, abf_pages;
Scheme rope() {
  return rotary_scheme(
      {.name = "rope", .options = {pairing_option(), rope_base()}, .pages = rope_pages},
      plain);
}

Scheme abf() {
  return rotary_scheme({.name = "abf", .options = {rope_base(500000), pairing_option()}, .pages = abf_pages}, plain);
}

// -- for pages
static const OtherNames words_for_rope("rope", {"rotary"}), words_for_base("base", {"theta", "rope-theta"});

const SchemePages rope_pages = {
    .summary = "queries and keys rotated by the position, in pairs of channels",
    .about = R"(Queries and keys are rotated by angles that grow with the position, one speed for each pair of
channels. The product of a query and a key then depends on the angle between them, and so on the
distance of their positions only. Nothing is learned. Beyond the trained length it fails, because
slow pairs of channels then reach angles that training has never shown to queries and keys.)",
    .formula = "s_ij = (R(p_i) q_i) . (R(p_j) k_j) / sqrt(D),   R(p) rotates pair m by p base^(-2m/D)",
    .source = "Su et al. 2021"};

const SchemePages abf_pages = {
    .summary = "RoPE with the base raised from 10000 to 500000",
    .about = R"(RoPE whose base is raised, here from 10000 to 500000, before a model is trained on to longer
inputs. All pairs of channels but the first turn more slowly, so far keys are rotated less. Llama 3
and most models for long texts begin this way.)",
    .formula = "RoPE with f_m = 500000^(-2m/D)", .source = "Xiong et al. 2023", .file = "encodings/rope.cpp"};

}  // namespace poslab
