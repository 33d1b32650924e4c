#include "experiment/numerics.h"

#include "core/checksum.h"
#include "experiment/evaluate.h"
#include "experiment/language/language.h"
#include "experiment/step.h"
#include "experiment/t5/t5.h"

namespace poslab {
namespace {

constexpr int64_t steps = 3;

void add(Checksum& sum, const Params& p) { sum.add(p.values(), size_t(p.count()) * sizeof(real)); }
void add(Checksum& sum, double x) { sum.add(&x, sizeof x); }

void train_encoder(Checksum& sum, const std::string& task, const std::string& encoding, const std::string& positions) {
  State s(RunSpec(configure({{"preset", "tiny"},
                     {"task", task},
                     {"encoding", encoding},
                     {"positions", positions},
                     {"layers", "2"},
                     {"batch", "4"},
                     {"eval_samples", "4"}})));
  while (s.adam.step < steps) add(sum, finish_step(s.config, start_step(s, draw_step(s.config, s.adam.step))).loss);
  add(sum, s.params);
  add(sum, evaluate(s, 30).loss);
}

void train_decoder(Checksum& sum) {
  language::Source source;
  source.grammar = CopyGrammar{.symbols = 6, .clause = 4, .back = 2};
  const RunSpec c(language::configure({{"text", "copy_grammar"},
                                         {"layers", "1"},
                                         {"heads", "2"},
                                         {"key_heads", "1"},
                                         {"d_model", "32"},
                                         {"d_ff", "48"},
                                         {"batch", "2"},
                                         {"train_length", "32"}}));
  language::State s(c, source.tokens());
  while (s.adam.step < steps) add(sum, language::train_step(s, language::draw_batch(c, source, s.adam.step)).loss);
  add(sum, s.params);
}

void train_t5(Checksum& sum) {
  const RunSpec c(t5::configure({{"layers", "1"},
                                   {"decoder_layers", "1"},
                                   {"heads", "2"},
                                   {"d_model", "32"},
                                   {"d_ff", "48"},
                                   {"tokens", "128"},
                                   {"train_length", "32"}}));
  t5::State s(c);
  while (s.adam.step < steps) add(sum, t5::train_step(s, t5::draw_batch(c, s.adam.step)).loss);
  add(sum, s.params);
}

struct Known {
  std::string compiler, isa, number;
};

const Known known[] = {
#include "experiment/numerics.def"
};

}  // namespace

std::string measured_numerics() {
  Checksum sum;
  train_encoder(sum, "even_pairs", "none", "sequential");
  train_encoder(sum, "bucket_sort", "sincos", "randomized");
  train_encoder(sum, "reverse_string", "relative", "randomized");
  train_encoder(sum, "duplicate_string", "alibi", "sequential");
  train_encoder(sum, "odds_first", "rope", "randomized");
  train_encoder(sum, "binary_addition", "learned", "randomized");
  train_encoder(sum, "stack_manipulation", "geometric", "sequential");
  train_decoder(sum);
  train_t5(sum);
  return sum.digits();
}

std::string numerics_compiler() {
#if defined __clang__
  const std::string name = fmt::format("clang {}", __clang_major__);
#elif defined __GNUC__
  const std::string name = fmt::format("gcc {}", __GNUC__);
#else
  const std::string name = "another compiler";
#endif
#if defined __x86_64__ && defined __OPTIMIZE__
  return name + ", x86-64";
#else
  return name + ", unlisted";  // a build for debugging fuses no multiplication with an addition
#endif
}

std::string numerics(const std::string& isa) {
  if (sizeof(real) != sizeof(float)) return "";
  for (const Known& k : known)
    if (k.compiler == numerics_compiler() && k.isa == isa) return k.number;
  return "";
}

}  // namespace poslab
