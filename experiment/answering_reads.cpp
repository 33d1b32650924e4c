// The input tokens of an answering decoder, and their positions.
#include <algorithm>

#include "encodings/samplers.h"
#include "experiment/answering.h"
#include "experiment/build.h"
#include "tasks/task.h"

namespace poslab::answering {

Ids read_by(const Questions& q, const Ids& answer, int separator) {
  const int B = q.sequences(), O = q.outputs(), T = q.strings.tokens.shape()[1];
  std::vector<int> all;
  for (int64_t b = 0; b < B; ++b) {
    const int *string = q.strings.tokens.data() + b * T, *said = answer.data() + b * O;
    all.insert(all.end(), string, string + T - O);
    all.push_back(separator);
    all.insert(all.end(), said, said + O - 1);
  }
  return Ids({B, T}, all);
}

namespace {

PositionSample drawn(const RunSpec& c, Purpose purpose, int64_t step, int slots, int number, const Ids& classes) {
  const Stream random = stream(uint64_t(c.count("seed")), purpose, uint64_t(step), uint32_t(number) << 10);
  const Chosen<Sampler> by = purpose == Purpose::positions ? at_step(sampler(c), step, slots) : sampler(c);
  return {by, Resample::per_forward, random, classes ? classes.shape()[0] : 1, slots, classes};
}

}  // namespace

PositionSample positions(const RunSpec& c, Purpose purpose, int64_t step, int slots, int number) {
  return drawn(c, purpose, step, slots, number, {});
}

PositionSample positions(const RunSpec& c, Purpose purpose, int64_t step, const Questions& q, int number) {
  const Ids& tokens = q.strings.tokens;
  const int T = tokens.shape()[1];
  if (!sampler(c)->reads_classes) return positions(c, purpose, step, T, number);
  const Ids of_strings = token_classes(task(c["task"]), tokens);
  std::vector<int> classes(of_strings.data(), of_strings.data() + of_strings.size());
  for (int b = 0; b < q.sequences(); ++b) classes[size_t(b * T + T - q.outputs())] = int(TokenClass::sign);
  return drawn(c, purpose, step, T, number, Ids(tokens.shape(), classes));
}

Ids free_running(Ids answer, const std::function<Ids(const Ids&)>& said) {
  for (int n = 1; n < answer.shape()[1]; ++n) {
    const Ids next = said(answer);
    if (std::equal(next.data(), next.data() + next.size(), answer.data())) break;
    answer = next;
  }
  return answer;
}

}  // namespace poslab::answering
