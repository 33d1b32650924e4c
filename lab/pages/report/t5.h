// The report of T5s that find things in long contexts. A group is the runs that learned one task, alone or among
// others.
#pragma once
#include "lab/pages/report/sections.h"

namespace poslab::report {

std::string t5_reading(const Group&);  // the numbers in words
json t5_document(const std::vector<Group>&, const std::string& out);

}  // namespace poslab::report
