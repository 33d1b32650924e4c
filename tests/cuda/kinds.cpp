// Runs of every kind on the CUDA backend against the CPU: losses with each scheme, steps that are recorded once, and
// generation. Emulated if there is no GPU, as in tests/cuda/backend.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "autograd/tape.h"
#include "core/backend.h"
#include "encodings/temperature.h"
#include "experiment/language/learner.h"
#include "experiment/t5/learner.h"
#include "nn/generate.h"
#include "nn/t5_generate.h"
#include "tests/cuda/helpers.h"
#include "tests/experiment/small_kinds.h"
#include "tests/lab/helpers.h"
#include "tests/support/op_run.h"

namespace poslab::test {
namespace {

// every: 3 takes every third scheme of the list.
void trained_alike(const std::string& name, int steps = 5, const Settings& more = {}, int every = 1) {
  const OneThread one;
  const Quick quick;
  const std::vector<SmallKind> all = small_kinds();
  const SmallKind& k = *std::find_if(all.begin(), all.end(), [&](auto& x) { return x.name == name; });
  int trained = 0, at = 0;
  for (const Scheme& scheme : all_encodings()) {
    if (at++ % every) continue;
    INFO(name << " " << scheme.name);
    std::unique_ptr<Learner> cpu, gpu;
    Settings own = {{"encoding", scheme.name}};
    own.insert(own.end(), more.begin(), more.end());
    const std::string refused = refusal([&] { cpu = learner_of(k, own); });
    if (!refused.empty()) continue;  // such as a causal scheme in a T5
    own.emplace_back("device", "cuda");
    gpu = learner_of(k, own);
    CHECK(gpu->params().device() == Device::cuda);
    for (int n = 0; n < steps; ++n) {
      const StepResult a = step(*cpu), b = step(*gpu);
      CHECK(b.loss == doctest::Approx(a.loss).epsilon(1e-4));
      CHECK(b.grad_norm == doctest::Approx(a.grad_norm).epsilon(1e-3));
      CHECK(b.scored == a.scored);
    }
    const Row here = cpu->test(cpu->config())[0].row(), there = gpu->test(gpu->config())[0].row();
    CHECK(there["loss"] == doctest::Approx(here["loss"]).epsilon(1e-3));
    ++trained;
  }
  MESSAGE(name << ": " << trained << " schemes");
  CHECK(trained > 30 / every);
}

}  // namespace

TEST_CASE("cuda: five steps of a LLaMA with every scheme equal the CPU's") { trained_alike("llama"); }
TEST_CASE("cuda: five steps of gated attention units with every scheme equal the CPU's") { trained_alike("gau"); }
// A T5 has 4184 symbols, which take most of the time. --no-skip runs the case with five steps of all schemes, too.
const Settings little_text = {{"tokens", "16"}, {"eval_samples", "1"}};
TEST_CASE("cuda: a step of a T5 with every scheme equals the CPU's, and five with every fourth") {
  trained_alike("t5", 1, little_text);
  trained_alike("t5", 5, little_text, 4);
}
TEST_CASE("cuda: five steps of a T5 with every scheme equal the CPU's" * doctest::skip()) {
  trained_alike("t5", 5, little_text);
}
TEST_CASE("cuda: five steps of a decoder for a task with every scheme equal the CPU's") { trained_alike("decoder"); }
// Packed documents and loops only give the same kernels other numbers: one step of one layer is enough.
TEST_CASE("cuda: a step with packed documents and every scheme equals the CPU's") {
  trained_alike("llama", 1, {{"documents", "packed"}, {"layers", "1"}});
}
TEST_CASE("cuda: a step of a looped model equals the CPU's with every scheme; with some also if loops = length") {
  trained_alike("strings", 1, {{"loops", "2"}, {"layers", "1"}, {"dropout", "0"}, {"eval_samples", "2"}});
  trained_alike("strings", 1, {{"loops", "length"}, {"layers", "1"}, {"dropout", "0"}, {"eval_samples", "2"}}, 6);
}

TEST_CASE("cuda: a batch in parts gives the losses and weights of the CPU, computed in parts and as a whole") {
  const OneThread one;
  const Quick quick;
  for (const SmallKind& k : small_kinds()) {
    const auto trained = [&](const char* device, const char* parts) {
      const bool by_tokens = k.kind.table().standard.has("tokens");
      const std::unique_ptr<Learner> l = learner_of(k, {{by_tokens ? "tokens" : "batch", by_tokens ? "48" : "3"},
                                                        {k.kind == strings_kind() ? "dropout" : "seed", "0"},
                                                        {"accumulate", parts}, {"device", device}});
      std::vector<real> all;
      for (int n = 0; n < 5; ++n) all.push_back(step(*l).loss);
      for (const Params::Entry& e : l->params().entries())
        for (const real w : e.tensor.values()) all.push_back(w);
      return all;
    };
    const std::vector<real> there = trained("cuda", "2");
    for (const char* parts : {"2", "1"}) {
      INFO(k.name << " beside the CPU's " << parts);
      const std::vector<real> here = trained("cpu", parts);
      REQUIRE(there.size() == here.size());
      for (size_t n = 0; n < here.size(); ++n)
        CHECK(double(there[n]) == doctest::Approx(double(here[n])).epsilon(n < 5 ? 1e-4 : 5e-3));
    }
  }
}

TEST_CASE("cuda: a step of any kind is recorded once, and then replayed") {
  const OneThread one;
  for (const SmallKind& k : small_kinds())
    for (const char* parts : {"1", "2"}) {
      INFO(k.name << " in " << parts);
      const std::unique_ptr<Learner> l = learner_of(
          k, {{"device", "cuda"}, {"steps", "100"}, {"weight_decay", "0.1"}, {"accumulate", parts}});
      const bool many_lengths = k.kind == strings_kind() || k.kind == answering_kind();    // each length is recorded
      while (l->adam().step < (many_lengths ? 24 : 5)) step(*l);
      const int before = cuda::recordings(), last = l->adam().step + 4;
      while (l->adam().step < last) step(*l);
      CHECK(cuda::recordings() == before);
    }
}

TEST_CASE("cuda: steps by cuBLAS are recorded once, too, and their losses equal those of our own kernels") {
  const OneThread one;
  for (const SmallKind& k : small_kinds()) {
    INFO(k.name);
    const std::unique_ptr<Learner> own = learner_of(k, {{"device", "cuda"}}),
                                   by_library = learner_of(k, {{"device", "cuda"}, {"products", "cublas"}});
    for (int n = 0; n < 3; ++n)
      CHECK(step(*by_library).loss == doctest::Approx(step(*own).loss).epsilon(1e-4));
  }
}

TEST_CASE("cuda: a language model writes the same 200 tokens as on the CPU, a T5 the same answer") {
  const OneThread one;
  const Quick quick;
  for (const SmallKind& k : small_kinds()) {
    if (k.kind != language_kind() && k.kind != t5_kind()) continue;
    for (const std::string encoding : {"rope", "rerope:window=8", "t5:unscaled"}) {
      INFO(k.name << " " << encoding);
      const auto written = [&](const char* device) {
        const std::unique_ptr<Learner> l = learner_of(k, {{"encoding", encoding}, {"device", device}});
        if (const auto* t5 = dynamic_cast<const t5::QuestionLearner*>(l.get())) {
          const t5::Batch b = t5::draw_batch(l->config(), 0);
          const int T = b.context.shape()[1];
          const NoGrad still;
          const Tensor states = t5->state.net.encode(
              b.context, {}, {PositionSample(choose_sampler("sequential"), Resample::per_forward, {}, 1, T), {}});
          return answer(t5->state.net, states, {}, {.count = 20})[0];
        }
        std::vector<int> tokens;
        const Generation wanted{.count = 200, .choice = {.temperature = 0.8}, .seed = 1};
        generate(dynamic_cast<const language::TextLearner&>(*l).state.net, {16}, wanted, [&](int token) {
          tokens.push_back(token);
          return true;
        });
        return tokens;
      };
      backend(Device::cuda).leave_queue();                 // forgets recorded steps
      const int before = cuda::recordings();
      CHECK(written("cuda") == written("cpu"));
      const int recorded = cuda::recordings() - before;    // two buckets, and each again if the pool has grown
      const bool by_bucket = k.kind == language_kind();
      CHECK(recorded >= (by_bucket ? 2 : 0));
      CHECK(recorded <= (by_bucket ? 4 : 0));
    }
  }
}

TEST_CASE("cuda: with every scheme and temperature a text equals the CPU's, and tokens of a bucket share one step") {
  const OneThread one;
  const Quick quick;
  const std::set<std::string> alone = {       // schemes that count slots or depend on the length
      "bipe", "hard_alibi", "calibrated", "dynamic_ntk", "longrope", "selective_rope", "carope", "path", "cope",
      "forgetting", "cable", "stick_breaking", "geometric"};
  std::vector<Settings> all;
  for (const Scheme& scheme : all_encodings()) all.push_back({{"encoding", scheme.name}});
  for (const TemperaturePolicy& policy : all_temperatures())
    if (policy.name != "aligned") all.push_back({{"encoding", "rope"}, {"temperature", policy.name}});
  for (const SmallKind& k : small_kinds()) {
    if (k.kind != language_kind()) continue;
    int written = 0;
    for (Settings own : all) {
      INFO(k.name << " " << own[0].second << " " << own.back().second);
      std::unique_ptr<Learner> here, there;
      if (!refusal([&] { here = learner_of(k, own); }).empty()) continue;
      own.emplace_back("device", "cuda");
      there = learner_of(k, own);
      const auto text = [](const Learner& l) {           // a low temperature shows small differences
        std::vector<int> tokens;
        const Generation wanted{.count = 12, .choice = {.temperature = 0.05}, .seed = 2, .bucket = 4};
        generate(dynamic_cast<const language::TextLearner&>(l).state.net, {16, 3, 5}, wanted,
                 [&](int token) { return tokens.push_back(token), true; });
        return tokens;
      };
      backend(Device::cuda).leave_queue();               // forgets recorded steps
      const int before = cuda::recordings();
      CHECK(text(*there) == text(*here));
      const int recorded = cuda::recordings() - before;  // 11 lengths in 4 buckets, and again if the pool has grown
      const bool by_bucket = !alone.contains(own[0].second);
      CHECK(recorded >= (by_bucket ? 4 : 0));
      CHECK(recorded <= (by_bucket ? 8 : 0));
      ++written;
    }
    MESSAGE(k.name << ": " << written << " schemes and temperatures");
    CHECK(written > 40);
  }
}

}  // namespace poslab::test
