// The estimate of memory against what training and testing really take.
#include "experiment/footprint.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/memory.h"
#include "experiment/evaluate.h"
#include "experiment/step.h"

using namespace poslab;

namespace {

Config sized(const std::string& encoding, int layers, int d_model, int length, int batch) {
  return configure({{"task", "reverse_string"},
                    {"encoding", encoding},
                    {"max_position", "512"},
                    {"layers", std::to_string(layers)},
                    {"d_model", std::to_string(d_model)},
                    {"train_length", std::to_string(length)},
                    {"batch", std::to_string(batch)},
                    {"eval_lengths", fmt::format("{}:{}", 2 * length, 2 * length)},
                    {"eval_samples", "16"}});
}

}  // namespace

TEST_CASE("footprint: the estimate is within a factor of what a run takes") {
  for (const char* encoding : {"none", "learned", "relative", "alibi", "rope", "geometric"})
    for (const auto& [layers, d_model, length, batch] : {std::array{4, 64, 40, 64}, std::array{2, 256, 20, 32}}) {
      const Config c = sized(encoding, layers, d_model, length, batch);
      const int64_t before = memory().bytes_in_use;
      State state(c);
      const double count = double(state.params.count());
      const Footprint f = footprint(c);
      finish_step(c, start_step(state, draw_step(c, 0, length)));
      const double used = double(memory().bytes_peak - before);
      fmt::print("footprint {:10} parameters {:.2f}   memory {:.2f} of what is used ({:.0f} MB)\n", encoding,
                 f.parameters / count, (f.state + f.step) / used, used / 1e6);
      CHECK(f.parameters / count == doctest::Approx(1).epsilon(0.1));
    }
}

TEST_CASE("footprint: it grows with every size, and takes no memory itself") {
  const int64_t before = memory().bytes_in_use;
  const Config small = sized("relative", 2, 64, 20, 32), huge = sized("relative", 256, 65536, 100000, 1 << 20);
  CHECK(footprint(huge).bytes() > 1e15);
  CHECK(footprint(small).bytes() < 1e8);
  CHECK(memory().bytes_in_use == before);
  for (const auto& [name, value] :
       {std::pair{"layers", "3"}, {"d_model", "128"}, {"batch", "64"}, {"train_length", "30"}}) {
    Config larger = small;
    set(larger, option(name), value);
    CHECK(footprint(larger).bytes() > footprint(small).bytes());
    CHECK(work(larger).step > work(small).step);
  }
}
