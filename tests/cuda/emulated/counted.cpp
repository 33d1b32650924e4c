// The FLOPs, bytes and launches of a decoder's training step, counted without computing it, and the most tokens a
// second that they allow on an H200: the table of docs/gpu.md.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/debug.h"
#include "core/profile.h"
#include "experiment/language/learner.h"
#include "experiment/step.h"
#include "tests/cuda/helpers.h"
#include "tests/experiment/small_kinds.h"
#include "tests/support/op_run.h"
#include "tests/support/places.h"

namespace poslab::test {

#ifdef POSLAB_EMULATE
namespace {

// From the H200's data sheet: FLOP/s of CUDA cores, of tensor cores in TF32 and in bf16; bytes a second.
constexpr double plain = 67e12, tf32 = 494.5e12, bf16 = 989e12, bandwidth = 4.8e12;
// Measured steps a second of the paper's encoder, run op by op (none, 40+40): bench/results/h200/rates.json.
constexpr double measured = 642;

// The counts of a step.
struct Counts {
  int64_t launches = 0;
  Cost all{};
  std::vector<ProfileTotals> kernels{};
  // The least seconds: each kernel takes the time of its FLOPs or of its bytes. In fp32, attention is 3 x TF32.
  double least(Rounding how) const {
    double seconds = 0;
    for (const ProfileTotals& k : kernels) {
      const double exact = k.kernel.starts_with("attention") ? tf32 / 3 : plain;
      const double rate = how == Rounding::bf16 ? bf16 : how == Rounding::tf32 ? tf32 : exact;
      seconds += std::max(k.cost.flops / rate, k.cost.bytes / bandwidth);
    }
    return seconds;
  }
};

Counts count(const std::function<void()>& step) {
  step(), step();                                           // the second is recorded, later ones are replayed
  const int64_t before = cuda::given().launches;
  step();
  Counts c{cuda::given().launches - before};
  set_debug_level(2), clear_profile_totals();
  step();
  set_debug_level(0);
  c.kernels = profile_totals();
  for (const ProfileTotals& k : c.kernels) c.all.flops += k.cost.flops, c.all.bytes += k.cost.bytes;
  return c;
}

}  // namespace

TEST_CASE("cuda: counted FLOPs, bytes and launches of decoders, and what they allow on an H200") {
  if (sizeof(real) > sizeof(float)) return;                 // the table is of floats
  const OneThread one;
  const cuda::NothingRuns nothing;
  std::ostringstream page;
  page << std::ifstream(fmt::format("{}/docs/gpu.md", source_folder)).rdbuf();
  const auto on_page = [&](const std::string& row) {
    fmt::print("{}\n", row);
    CHECK_MESSAGE(page.str().find(row) != std::string::npos, "docs/gpu.md lacks ", row);
  };
  double share = 0;                                         // measured steps a second, as a share of the most possible
  {
    const BlockKernels op_by_op(false);
    State s(RunSpec(configure({{"task", "reverse_string"}, {"encoding", "none"}, {"device", "cuda"},
                               {"curriculum", "fixed"}, {"train_length", "40"}})));
    const Counts c = count([&] { finish_step(s.config, start_step(s, draw_step(s.config, s.adam.step))); });
    share = measured * c.least(Rounding::fp32);
    on_page(fmt::format("{:.2f} ms, a sixth of the {:.2f} ms that were measured", 1e3 * c.least(Rounding::fp32),
                        1e3 / measured));
    CHECK(share == doctest::Approx(1. / 6).epsilon(0.1));
  }
  struct Line { const char* encoding; int layers, d_model, d_ff, heads, tokens, batch; };
  for (const Line& l : {Line{"rope", 6, 256, 688, 8, 256, 16}, {"rope", 12, 768, 2048, 12, 512, 32},
                        {"rerope:window=512", 12, 768, 2048, 12, 4096, 4}}) {
    const auto words = [](int n) { return fmt::format("{}", n); };
    language::State s(RunSpec(language_kind().configure(
                          {{"text", "copy_grammar"}, {"device", "cuda"}, {"encoding", l.encoding},
                           {"layers", words(l.layers)}, {"d_model", words(l.d_model)}, {"d_ff", words(l.d_ff)},
                           {"heads", words(l.heads)}, {"key_heads", words(l.heads)}, {"batch", words(l.batch)},
                           {"train_length", words(l.tokens)}})), DecoderSpec().vocabulary);
    const Ids tokens({l.batch, l.tokens}, std::vector<int>(size_t(l.batch * l.tokens), 1));
    const Counts c = count([&] { language::train_step(s, language::Batch{tokens, tokens}); });
    // Forward: a multiply-add for each weight and token, and, with one piece, two for each channel and each pair that
    // the mask leaves. Backward: twice as many.
    const double C = l.d_model, V = DecoderSpec().vocabulary, trained = double(l.batch) * l.tokens;
    const double weights = l.layers * (4 * C * C + 3 * C * l.d_ff) + C * V, pairs = (l.tokens + 1) / 2.;
    CHECK(c.all.flops == 3 * 2 * trained * (weights + l.layers * 2 * C * pairs));
    std::string row = fmt::format("| {} | {} | {} | {} | {} | {} | {:.0f} | {:.1f} |", l.encoding, l.layers, l.d_model,
                                  l.tokens, l.batch, c.launches, c.all.flops / 1e9, c.all.bytes / 1e9);
    for (const Rounding how : {Rounding::fp32, Rounding::tf32, Rounding::bf16})
      row += fmt::format(" {:.0f} |", trained / c.least(how) / 1e3);
    on_page(row + fmt::format(" {:.0f} |", share * trained / c.least(Rounding::fp32) / 1e3));
  }
}
#endif

}  // namespace poslab::test
