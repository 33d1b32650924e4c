#include "bench/all.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "autograd/tape.h"
#include "bench/clock.h"
#include "core/backend.h"
#include "core/error.h"
#include "core/platform/isa.h"
#include "core/platform/parallel.h"
#include "lab/files/version.h"
#include "lab/hub/hf_model.h"
#include "lab/hub/t5_hf.h"
#include "nn/generate.h"
#include "tests/support/formula.h"

namespace poslab {
namespace {

void say(const nlohmann::json& answer) { std::cout << answer.dump() << '\n' << std::flush; }

void say_program(Rounding rounded, Device where) {
  say({{"program", "poslab"},
       {"device", backend(where).name()},
       {"threads", threads()},
       {"isa", isa()},
       {"blas", "its own products"},
       {"products", engine_in_full(Engine::own, rounded)}});
}

}  // namespace

void serve_generate(const std::string& checkpoint, Rounding rounded, Device where) {
  const MatmulPrecision as_asked(where, rounded);
  const HfModel model = open_hf_model(checkpoint, where);
  say_program(rounded, where);
  for (std::string line; std::getline(std::cin, line);) {
    int read = 0, count = 0;
    if (std::sscanf(line.c_str(), "write %d+%d", &read, &count) != 2)
      bad_input("bench: unknown line `{}`; known: write 32+256", line);
    const std::vector<int> prompt = formula::integers("prompt", read, model.net.spec().vocabulary);
    std::vector<int> text;
    const double seconds = timed([&] {
      generate(model.net, prompt, {.count = count, .choice = {.temperature = 0}},
               [&](int token) { return text.push_back(token), true; });
    });
    const PositionSample at(choose_sampler("sequential"), Resample::per_forward, {}, 1, read);
    const NoGrad still;
    const Tensor logits = model.net(Ids({1, read}, prompt), 1, {at, {}});
    say({{"ms", {1e3 * seconds}}, {"tokens", text}, {"logits", logits.values()}});
  }
}

void serve_t5(const std::string& checkpoint, Rounding rounded, Device where) {
  const MatmulPrecision as_asked(where, rounded);
  const t5::HfModel model = t5::open_hf_model(checkpoint, where);
  const NoGrad still;
  say_program(rounded, where);
  for (std::string line; std::getline(std::cin, line);) {
    int T = 0;
    if (std::sscanf(line.c_str(), "encode %d", &T) != 1) bad_input("bench: unknown line `{}`; known: encode 512", line);
    const Ids tokens({1, T}, formula::integers("prompt", T, model.net.spec().vocabulary));
    const PositionSample positions(choose_sampler("sequential"), Resample::per_forward, {}, 1, T);
    Tensor states;
    const double seconds = timed([&] {
      states = model.net.encode(tokens, {}, {positions, {}});
      backend(where).wait();
    });
    const std::vector<real> all = states.values();
    const auto width = std::ptrdiff_t(model.net.spec().d_model);
    std::vector<real> ends(all.begin(), all.begin() + width);
    ends.insert(ends.end(), all.end() - width, all.end());
    say({{"ms", {1e3 * seconds}}, {"states", ends}});
  }
}

}  // namespace poslab
