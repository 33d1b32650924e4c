// An answer for the eye and for programs.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "lab/pages/ask/ask.h"

namespace poslab::asking {

// Up to 16 answer slots as a table with percentages, more as lines with tenths of the probability.
std::string text_of(const Respondent&, const Exchange&);
// {"task", "encoding", "positions", "temperature", "input", "length", "expected", "answer", "scored", "right", "share",
//  "draws", "share_of_each_draw", "probabilities": (O, V), "baselines": {"chance", "majority", "content_only"}}
nlohmann::ordered_json json_of(const Respondent&, const Exchange&);

}  // namespace poslab::asking
