#include "bench/t5.h"

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "autograd/tape.h"
#include "bench/clock.h"
#include "core/backend.h"
#include "core/error.h"
#include "core/platform/isa.h"
#include "core/platform/parallel.h"
#include "lab/files/version.h"
#include "lab/hub/t5_hf.h"
#include "tests/formula.h"

namespace poslab {

void serve_t5(const std::string& checkpoint, Matmul rounded) {
  const MatmulPrecision as_asked(Device::cpu, rounded);
  using json = nlohmann::json;
  const t5::HfModel model = t5::open_hf_model(checkpoint);
  const NoGrad still;
  const auto say = [](const json& answer) { std::cout << answer.dump() << std::endl; };
  say({{"program", "poslab"},
       {"threads", threads()},
       {"isa", isa()},
       {"blas", "its own products"},
       {"products", engine_in_full(Engine::own, rounded)}});
  for (std::string line; std::getline(std::cin, line);) {
    int T = 0;
    if (std::sscanf(line.c_str(), "encode %d", &T) != 1) bad_input("bench: unknown line `{}`; known: encode 512", line);
    const Ids tokens({1, T}, formula::integers("prompt", T, model.net.spec().vocabulary));
    const PositionSample positions(choose_sampler("sequential"), Resample::per_forward, {}, 1, T);
    Tensor states;
    const double seconds = timed([&] { states = model.net.encode(tokens, {}, {positions, {}}); });
    const std::vector<real> all = states.values();
    const auto width = std::ptrdiff_t(model.net.spec().d_model);
    std::vector<real> ends(all.begin(), all.begin() + width);
    ends.insert(ends.end(), all.end() - width, all.end());
    say({{"ms", {1e3 * seconds}}, {"states", ends}});
  }
}

}  // namespace poslab
