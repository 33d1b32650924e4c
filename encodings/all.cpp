// The only list of schemes. A new scheme needs a file encodings/NAME.cpp and its name in both lists below.
#include "encodings/own.h"

namespace poslab {

// no position, or a vector added to the embedding
Scheme none(), sincos(), scaled_sincos(), learned_fourier(), learned(), ids(), bipe();

// logits from content and distance together
Scheme relative(), shaw(), music(), bert_relative(), deberta(), projection_bank(), tupe();

// a bias for each distance
Scheme alibi(), hard_alibi(), kerple(), sandwich(), t5(), relative_bias(), dynamic_bias(), tisa(), fire(),
    scale_invariant(), calibrated();

// queries and keys rotated by the position
Scheme rope(), abf(), pi(), ntk(), dynamic_ntk(), yarn(), ntk_by_parts(), llama3(), longrope();
Scheme partial_rope(), p_rope(), hope_hf(), clipped_rope(), resonance(), mobius(), fope();

// rotations in windows and pieces
Scheme rerope(), self_extend(), window(), lambda(), sinks(), dual_chunk(), xpos();
Scheme hfwa(), hfwa2(), irope(), rnope(), drope(), nape();

// phases from the content, or learned
Scheme pope(), selective_rope(), carope(), path(), grape(), repo(), lerope(), hope_hyp();

// schemes that change another scheme's logits, or have weights of their own
Scheme cope(), dape(), forgetting(), cable(), stick_breaking(), entmax(), geometric();

std::vector<Scheme>& list_of_encodings() {
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

const std::vector<Scheme>& all_encodings() { return list_of_encodings(); }

}  // namespace poslab
