// Answers of varying size in a fixed number of slots: the result, the terminator 2, then zeros. The zeros count in the
// loss but not in the accuracy (spec B.1 and finding 5).
#pragma once
#include <algorithm>

#include "tasks/task.h"

namespace poslab {

inline constexpr int terminator = 2;

inline Tokens terminated(Tokens result, int slots) {
  result.push_back(terminator);
  result.resize(size_t(slots), 0);
  return result;
}
inline int through_terminator(const Tokens& answer) {
  return int(std::find(answer.begin(), answer.end(), terminator) - answer.begin()) + 1;
}

}  // namespace poslab
