// Checkpoints of a model on the GPU, here an emulated one where there is none.
#include <doctest/doctest.h>

#include "cuda/backend.h"
#include "experiment/step.h"
#include "lab/checkpoint.h"
#include "tests/lab_helpers.h"

namespace poslab::test {

TEST_CASE("cuda: checkpoints move between devices") {
  add_backend(Device::cuda, cuda::as_backend());
  const auto step = [](State& s) { return finish_step(s.config, start_step(s, draw_step(s.config, s.adam.step))); };
  State gpu(tiny_config({{"positions", "sequential"}, {"device", "cuda"}, {"batch", "4"}, {"train_length", "3"}}));
  for (int n = 0; n < 3; ++n) step(gpu);
  const std::string bytes = checkpoint_bytes(gpu);
  State cpu = checkpoint_state(bytes, "test", "cpu"), again = checkpoint_state(bytes, "test");
  CHECK(cpu.params.device() == Device::cpu);
  CHECK(again.params.device() == Device::cuda);
  CHECK(checkpoint_bytes(again) == bytes);
  CHECK(step(again).loss == doctest::Approx(step(cpu).loss).epsilon(1e-5));
}

}  // namespace poslab::test
