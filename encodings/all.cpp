// The only list of schemes. A new one is a file encodings/NAME.cpp and a place in the two lists below.
#include "encodings/own.h"

#include <algorithm>
#include <cctype>

namespace poslab {

// nothing, or added to the embedding
Scheme none(), sincos(), scaled_sincos(), learned_fourier(), learned(), ids(), bipe();

// content meets the distance
Scheme relative(), shaw(), music(), bert_relative(), deberta(), projection_bank(), tupe();

// a bias by the distance
Scheme alibi(), hard_alibi(), kerple(), sandwich(), t5(), relative_bias(), dynamic_bias(), tisa(), fire(),
    scale_invariant(), calibrated();

// queries and keys turned by the position
Scheme rope(), abf(), pi(), ntk(), dynamic_ntk(), yarn(), ntk_by_parts(), llama3(), longrope();
Scheme partial_rope(), p_rope(), hope_hf(), clipped_rope(), resonance(), mobius(), fope();

// windows and pieces
Scheme rerope(), self_extend(), window(), lambda(), sinks(), dual_chunk(), xpos();
Scheme hfwa(), hfwa2(), irope(), rnope(), drope(), nape();

// phases from the content, or learned
Scheme pope(), selective_rope(), carope(), path(), grape(), repo(), lerope(), hope_hyp();

// logits that others have changed, and weights of its own
Scheme cope(), dape(), forgetting(), cable(), stick_breaking(), entmax(), geometric();

namespace {

std::vector<Scheme>& schemes() {
  static std::vector<Scheme> list = {
      none(), sincos(), scaled_sincos(), learned_fourier(), learned(), ids(), bipe(),

      relative(), shaw(), music(), bert_relative(), deberta(), projection_bank(), tupe(),

      alibi(), hard_alibi(), kerple(), sandwich(), t5(), relative_bias(), dynamic_bias(), tisa(), fire(),
      scale_invariant(), calibrated(),

      rope(), abf(), pi(), ntk(), dynamic_ntk(), yarn(), ntk_by_parts(), llama3(), longrope(), partial_rope(), p_rope(),
      hope_hf(), clipped_rope(), resonance(), mobius(), fope(),

      rerope(), self_extend(), window(), lambda(), sinks(), dual_chunk(), xpos(), hfwa(), hfwa2(), irope(), rnope(),
      drope(), nape(),

      pope(), selective_rope(), carope(), path(), grape(), repo(), lerope(), hope_hyp(),

      cope(), dape(), forgetting(), cable(), stick_breaking(), entmax(), geometric()};
  return list;
}

}  // namespace

const std::vector<Scheme>& all_encodings() { return schemes(); }

void add_encoding(Scheme scheme) {
  static const size_t ours = schemes().size();
  const auto spells = [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '_'; };
  if (scheme.name.empty() || !std::all_of(scheme.name.begin(), scheme.name.end(), spells))
    bad_input("\"{}\" is no name of an encoding; give small letters, digits and _", scheme.name);
  std::vector<Scheme>& all = schemes();
  const auto there = std::find_if(all.begin(), all.end(), [&](const Scheme& s) { return s.name == scheme.name; });
  if (there < all.begin() + ptrdiff_t(ours))
    bad_input("there is an encoding {} already; give another name", scheme.name);
  if (there == all.end()) all.push_back(std::move(scheme));
  else *there = std::move(scheme);
}

}  // namespace poslab
