#include "encodings/picture.h"

namespace poslab {

Tensor position_matrix(const Displayed& displayed, const Positions& positions) {
  const int T = positions.time();
  const Distances& distances = positions.distances();
  std::vector<double> m;
  for (int i = 0; i < T; ++i)
    for (int j = 0; j < T; ++j) m.push_back(displayed.value(distances.value[size_t(distances.row(0, i, j, T))], j - i));
  return Tensor::from({T, T}, m);
}

}  // namespace poslab
