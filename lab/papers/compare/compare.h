// Many schemes side by side: trained on the same tasks, tested on lengths beyond training, ranked. A comparison is
// planned, trained and written like the artifacts of a reproduction; this file selects and orders the trials.
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
  bool causal = false;                  // all schemes in one comparison, with a causal mask
  int seeds = 0;                        // 0: the size's
  reproduce::ValueLists settings = {};  // options of every trial, in place of the size's
};

// The rankings that these options need: one without a mask, and one with a causal mask for the schemes that work only
// with it and for `references`, so that like is compared with like. Throws BadInput for an unknown name, or if no trial
// is left.
std::vector<reproduce::Planned> plan(const Options&);
extern const std::vector<std::string> references;

// Every trial that can run, without repeats, in an order that leaves a complete comparison when it is cut short: by
// seed; then schemes of fused attention before schemes that write out their logits, which take up to seven times as
// long; then by task.
reproduce::Plan in_order(const std::vector<reproduce::Planned>&);

// "rope,alibi:mode=paper,symmetric" -> "rope", "alibi:mode=paper,symmetric": commas separate spellings, and the options
// of one. Throws BadInput for an empty one.
std::vector<std::string> read_spellings(const std::string& text);

// The request to write() of lab/papers/reproduce.h.
reproduce::Request request(const Options&);

}  // namespace poslab::compare
