// Checkpoints in Hugging Face format on the GPU, emulated if the machine has none: 16-bit matrices stay 16-bit.
#include <doctest/doctest.h>

#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/memory.h"
#include "encodings/checks/setup.h"
#include "lab/hub/hf_run.h"
#include "lab/hub/t5_hf.h"
#include "nn/generate.h"
#include "nn/t5_generate.h"
#include "tests/cuda/helpers.h"
#include "tests/lab/hub/helpers.h"
#include "tests/support/op_run.h"

namespace poslab::test {
namespace {

PositionSample counted(int slots) {
  return PositionSample(choose_sampler("sequential"), Resample::per_forward, {}, 1, slots);
}

}  // namespace

TEST_CASE("cuda: stored matrices give the CPU's results, for few rows and many, in 16 bits and in 32") {
  REQUIRE(cuda_is_there);
  const OneThread one;
  const Quick quick;
  std::vector<uint32_t> numbers;                           // even as pairs of 16-bit numbers none is NaN, huge or tiny
  for (uint32_t n = 0; n < 1 << 17; ++n) numbers.push_back(0x3C003C00u ^ (n * 2654435761u & 0x83FF83FFu));
  for (const StoredAs as : {StoredAs::float32, StoredAs::bfloat16, StoredAs::float16})
    for (const auto& [in, out] : {std::pair{1, 1}, {33, 7}, {64, 96}, {72, 130}, {520, 65}})
      for (const int rows : {1, 4, 5, 37}) {
        INFO(int(as), ": ", rows, " rows of ", in, " to ", out);
        const StoredMatrix here{as, numbers.data(), out, in}, there = here.to(Device::cuda);
        const Tensor x = checks::random_tensor({rows, in}, 1), b = checks::random_tensor({out}, 2);
        CHECK(checks::difference(linear(x.to(Device::cuda), there, b.to(Device::cuda)).to(Device::cpu),
                                 linear(x, here, b)) < cuda_tolerance);
        const Ids at({3}, {0, out - 1, out / 2});
        CHECK(gather(there, at).values() == gather(here, at).values());
      }
}

TEST_CASE("cuda: a checkpoint has the CPU's logits and text, and its matrices take no more memory than in the file") {
  REQUIRE(cuda_is_there);
  const OneThread one;
  const Quick quick;
  for (const auto& [name, form] : {std::pair{"llama", StoredAs::float32}, {"mistral", StoredAs::float16},
                                   {"qwen2", StoredAs::bfloat16}, {"gemma3", StoredAs::bfloat16}}) {
    INFO(name);
    const HfModel here = open_hf_model(golden_folder + name);
    CHECK(here.matrices.at("embedding").as == form);
    const int64_t before = memory(Device::cuda).bytes_requested;
    const HfModel there = open_hf_model(golden_folder + name, Device::cuda);
    double bytes = 0;
    for (const auto& [parameter, m] : here.matrices)       // the other parameters are vectors
      bytes += double(m.rows) * m.columns * (m.rows > 1 ? bytes_of(m.as) : int(sizeof(real)));
    CHECK(double(memory(Device::cuda).bytes_requested - before) == doctest::Approx(bytes).epsilon(0.02));
    const Ids tokens({2, 9}, std::vector<int>{1, 5, 2, 7, 3, 11, 4, 13, 6, 9, 8, 10, 12, 14, 2, 3, 1, 0});
    const NoGrad still;
    const Tensor cpu = here.net(tokens, 9, {counted(9), {}}), gpu = there.net(tokens, 9, {counted(9), {}});
    CHECK(gpu.device() == Device::cuda);
    CHECK(checks::difference(gpu.to(Device::cpu), cpu) < 1e-4);
    backend(Device::cuda).leave_queue();                   // forgets recorded steps
    const int recorded = cuda::recordings();
    const auto written = [&](const Decoder& net) {
      std::vector<int> text;
      generate(net, {1, 5, 2}, {.count = 26, .choice = {.temperature = 0.8}, .seed = 1},
               [&](int token) { return text.push_back(token), true; });
      return text;
    };
    CHECK(written(there.net) == written(here.net));
    CHECK(cuda::recordings() > recorded);                  // one bucket, with windows too; again if the pool grew
    CHECK(cuda::recordings() <= recorded + 2);
  }
}

TEST_CASE("cuda: a checkpoint whose weights do not fit is refused before any of them is loaded") {
  static Backend small = cuda::as_backend();
  small.free_bytes = [] { return 20e3; };
  add_backend(Device::cuda, small);
  const int64_t before = memory(Device::cuda).bytes_requested;
  const auto refused = [](const std::string& folder, const auto& open) {
    const std::string said = refusal([&] { open(folder, Device::cuda); });     // a BadInput
    INFO(said);
    CHECK(holds(said, fmt::format("the weights of {} take ", folder)));
    CHECK(holds(said, ", but this GPU has 1 MB left; use --device cpu, or a smaller model"));
    CHECK(refusal([&] { open(folder, Device::cpu); }).empty());
  };
  refused(golden_folder + "qwen2", [](const auto&... x) { open_hf_model(x...); });
  refused(golden_folder + "t5/v1_1", [](const auto&... x) { t5::open_hf_model(x...); });
  CHECK(memory(Device::cuda).bytes_requested == before);
  add_backend(Device::cuda, cuda::as_backend());
}

TEST_CASE("cuda: lm eval of a checkpoint has the CPU's losses, also with another encoding") {
  REQUIRE(cuda_is_there);
  const OneThread one;
  const Quick quick;
  const auto losses = [](const char* device, const char* encoding) {
    const language::HfRun run = language::open_hf_run(
        golden_folder + "qwen2",
        {{"text", std::string(source_folder) + "/docs/language.md"}, {"train_length", "16"}, {"eval_samples", "2"},
         {"encoding", encoding}, {"device", device}}, true);
    const std::unique_ptr<language::TextLearner> l = language::learner_of(run);
    CHECK((l->params().device() == Device::cuda) == (device == std::string("cuda")));
    return double(l->test(run.config)[0].row()["loss"]);
  };
  for (const char* encoding : {"rope", "rerope:window=8"})
    CHECK(losses("cuda", encoding) == doctest::Approx(losses("cpu", encoding)).epsilon(1e-4));
}

TEST_CASE("cuda: a T5 checkpoint has the CPU's answers") {
  REQUIRE(cuda_is_there);
  const OneThread one;
  const Quick quick;
  const std::string folder = golden_folder + "t5/v1_0";
  const t5::HfModel here = t5::open_hf_model(folder), there = t5::open_hf_model(folder, Device::cuda);
  const std::vector<int> tokens = {3, 5, 2, 7, 3, 11, 4, 1};
  CHECK(answer(there.net, tokens, {.count = 12, .beams = 2}) == answer(here.net, tokens, {.count = 12, .beams = 2}));
}

}  // namespace poslab::test
