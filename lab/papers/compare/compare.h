// Many schemes side by side: trained on the same tasks, tested on lengths beyond training, ranked. A comparison is
// planned, trained and written as the artifacts of a reproduction are; which trials, and in which order, is here.
// python/poslab/papers/compare.py ranks and draws them.
#pragma once
#include <string>
#include <vector>

#include "lab/papers/reproduce.h"

namespace poslab::compare {

struct Options {
  std::vector<std::string> tasks;                // none: the size's
  std::vector<std::string> encodings = {"all"};  // spelled as in core/choices.h, or "all"
  std::string size = "tiny";                     // lab/papers/size.h
  std::string positions = "sequential";
  bool causal = false;                  // all in one comparison, with a causal mask
  int seeds = 0;                        // 0: as the size has them
  reproduce::ValueLists settings = {};  // of every trial, in place of the size's
};

// The rankings that these options need: one without a mask and, of schemes that work only with a causal one, another
// beside `references` with that mask, so that like is compared with like. Throws BadInput: an unknown name, no trial
// left.
std::vector<reproduce::Planned> plan(const Options&);
extern const std::vector<std::string> references;

// Every trial that can be run once, in the order in which they should: whatever a cut leaves should be a whole
// comparison. By seed; then schemes that fused attention runs before schemes that write out their logits, which take
// up to seven times as long; then by task.
reproduce::Plan in_order(const std::vector<reproduce::Planned>&);

// "rope,alibi:mode=paper,symmetric" -> "rope", "alibi:mode=paper,symmetric": commas part spellings, and the options of
// one. Throws BadInput for an empty one.
std::vector<std::string> read_spellings(const std::string& text);

// The same for write() of lab/papers/reproduce.h.
reproduce::Request request(const Options&);

}  // namespace poslab::compare
