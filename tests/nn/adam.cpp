// AdamW and the learning rate schedules against PyTorch: tests/data/adamw.json (tests/torch/test_adamw.py).
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "experiment/kind.h"
#include "nn/adam.h"
#include "tests/support/places.h"

using namespace poslab;

TEST_CASE("adam: 100 steps with weight decay and every schedule equal PyTorch's") {
  std::ifstream file(std::string(test::source_folder) + "/tests/data/adamw.json");
  const auto golden = nlohmann::json::parse(file);
  for (const auto& [name, wanted] : golden.items())
    for (const Kind* kind : all_kinds()) {
      CAPTURE(name + ", " + kind->name);
      const std::vector<double> rates = wanted["rates"], weights = wanted["weights"];
      Settings all = {{"steps", "100"}, {"warmup", "10"}, {"lr", "0.01"}, {"weight_decay", "0.1"}, {"cooling", "0"}};
      if (name != "constant") all = {all[0], all[1], all[2], all[3], {"cooling", "1"}, {"lr_floor", "0.1"}};
      if (name != "constant") all.emplace_back("schedule", name);
      const Choices c = kind->configure(all);
      const Params p(0);
      const Tensor matrix = p.full("matrix", {3, 4}, 0), vector = p.full("vector", {5}, 0);
      p.pack();
      for (int i = 0; i < 17; ++i) p.values()[i] = real(std::cos(i < 12 ? i : i - 12));
      Adam adam(p, 1);
      adam.decay = c.number("weight_decay");
      for (; adam.step < 100; ++adam.step) {
        adam.lr = learning_rate(c, adam.step);
        CHECK(adam.lr == doctest::Approx(rates[size_t(adam.step)]).epsilon(1e-12));
        for (int i = 0; i < 17; ++i)
          p.grads()[i] = real(std::sin(0.7 * i + 0.3 * double(adam.step) * (1 + i % 3)) * 0.03 * (1 + i % 5));
        adam.update(p);
      }
      for (int i = 0; i < 17; ++i)
        CHECK(std::abs(double(p.values()[i]) - weights[size_t(i)]) <
              (sizeof(real) == 8 ? 1e-12 : 3e-6));
    }
}

TEST_CASE("adam: weight decay changes only matrices, and no weight where the gradient is not finite") {
  const Params p(0);
  const Tensor gain = p.full("gain", {4}, 1), by_head = p.full("s", {1, 1, 4}, 1), matrix = p.full("w", {2, 2}, 1),
               bias = p.full("bias", {3}, 1);
  p.pack();
  Adam adam(p, 0.5);
  adam.decay = 0.1;
  p.clear_grads();
  adam.update(p);
  for (int i = 0; i < 15; ++i) CHECK(p.values()[i] == (i >= 8 && i < 12 ? real(0.95) : real(1)));
  p.grads()[0] = real(std::nan(""));
  adam.update(p);
  CHECK(p.values()[8] == real(0.95));
  adam.decay = 2;
  CHECK_THROWS_WITH(adam.update(p), doctest::Contains("adam: decay is 2 at lr 0.5; give 0 or more, such as 0.1, with"));
}
