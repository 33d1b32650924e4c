// Positions drawn by a sampler, for tests.
#pragma once
#include <string>
#include <vector>

#include "encodings/samplers.h"

namespace poslab::testing {

using Numbers = std::vector<double>;

// spelled: "randomized:max_position=6", for example. Each step has its own draw.
inline Positions sample(const std::string& spelled, int sequences, int time, uint32_t step) {
  Rng rng(stream(1, Purpose::positions, step));
  return poslab::sample(choose_sampler(spelled, trained_on(80)), {sequences, time}, rng);
}
inline Numbers one(const std::string& spelled, int time, uint32_t step = 0) {
  return sample(spelled, 1, time, step).tokens("test");
}
inline Numbers count_from(double first, int time) {
  Numbers p;
  for (int i = 0; i < time; ++i) p.push_back(first + i);
  return p;
}

// rows: of digits, signs and empty slots, such as "00+11_"
inline Ids classes(const std::vector<std::string>& rows) {
  std::vector<int> all;
  for (const std::string& row : rows)
    for (const char c : row)
      all.push_back(int(c == '_' ? TokenClass::empty : c == '+' ? TokenClass::sign : TokenClass::digit));
  return {{int(rows.size()), int(rows[0].size())}, all};
}

}  // namespace poslab::testing
