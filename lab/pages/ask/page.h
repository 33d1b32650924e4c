// Questions and answers as an HTML page: each string with its answer, probabilities and attention maps.
#pragma once
#include <string>
#include <vector>

#include "lab/pages/ask/ask.h"

namespace poslab::asking {

std::string page_of(const std::string& run, const Respondent&, const std::string& heading,
                    const std::vector<Exchange>&);

}  // namespace poslab::asking
