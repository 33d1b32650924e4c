// Principal components of a cloud of points: mean, covariance, and its eigenvectors by cyclic Jacobi rotations in
// double. Not whitened: distances in the plane are distances in the space.
#pragma once
#include <vector>

namespace poslab {

// The eigenvectors of a symmetric matrix. Each has length 1 and its largest entry positive, so that reruns agree.
struct Eigen {
  std::vector<double> values;   // (C), falling
  std::vector<double> vectors;  // (C, C), row c belongs to value c
};
Eigen eigen(std::vector<double> symmetric, int C);

struct Principal {
  std::vector<double> mean;   // (C)
  std::vector<double> axes;   // (2, C)
  std::vector<double> share;  // (C): of the variance, falling; all zero if all points are equal
};
Principal principal(const std::vector<double>& points, int C);  // points (N, C), N and C at least 2

// ((x - mean) . axis0, (x - mean) . axis1) for each point                                  (N, C) -> (N, 2)
std::vector<double> project(const Principal&, const std::vector<double>& points);

// Share of points (N, 2) in squares of the plane that hold no point of a cloud (M, 2). Their side is 1/20 of the
// cloud's longer side.
double share_outside(const std::vector<double>& points, const std::vector<double>& cloud);

}  // namespace poslab
