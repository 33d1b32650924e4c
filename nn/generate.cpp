#include "nn/generate.h"

#include <algorithm>
#include <cmath>

#include "core/backend.h"
#include "core/error.h"
#include "core/stop.h"
#include "encodings/grouped_heads.h"

namespace poslab {

void TokenChoice::check() const {
  if (!(temperature >= 0) || !std::isfinite(temperature))
    bad_input("temperature = {}; it must be 0 or more: 0 always takes the most probable token", temperature);
  if (top_k < 0) bad_input("top_k = {}; it must be 0 (all tokens) or more", top_k);
  if (!(top_p > 0 && top_p <= 1)) bad_input("top_p = {}; it must be above 0 and at most 1 (all tokens)", top_p);
}

namespace {

// The tokens that may be drawn: the top_k most probable, sorted by logit, largest first, and ties by token number.
// Without top_k and top_p the order does not matter: all tokens, sorted by number.
std::vector<int> candidates(const real* logits, int vocabulary, const TokenChoice& choice) {
  std::vector<int> all(size_t(vocabulary), 0);
  for (int i = 0; i < vocabulary; ++i) all[size_t(i)] = i;
  const int count = choice.top_k ? std::min(choice.top_k, vocabulary) : vocabulary;
  if (count == vocabulary && choice.top_p == 1) return all;
  std::partial_sort(all.begin(), all.begin() + count, all.end(),
                    [&](int a, int b) { return logits[a] > logits[b] || (logits[a] == logits[b] && a < b); });
  all.resize(size_t(count));
  return all;
}

}  // namespace

int choose_token(const real* logits, int vocabulary, const TokenChoice& choice, double uniform) {
  choice.check();
  int best = 0;
  for (int i = 0; i < vocabulary; ++i) {
    if (std::isnan(logits[i]))
      failure("the logit of token {} is NaN; the model has diverged, or its weights are damaged", i);
    if (logits[i] > logits[best]) best = i;
  }
  if (!std::isfinite(logits[best]))
    failure("the largest logit is {}; the model has diverged, or its weights are damaged", logits[best]);
  if (choice.temperature == 0 || choice.top_k == 1) return best;
  const std::vector<int> order = candidates(logits, vocabulary, choice);
  std::vector<double> p;
  double all = 0;
  for (const int i : order) all += p.emplace_back(std::exp((double(logits[i]) - logits[best]) / choice.temperature));
  size_t kept = 0;
  double mass = 0;
  while (kept < p.size() && (kept == 0 || mass < choice.top_p * all)) mass += p[kept++];
  double left = uniform * mass;
  for (size_t n = 0; n < kept; ++n) {
    left -= p[n];
    if (left < 0) return order[n];
  }
  return best;  // reached only through rounding errors
}

void check_generation(const Decoder& model, const std::vector<int>& prompt, const Generation& wanted) {
  if (prompt.empty()) bad_input("generate: the prompt is empty; give at least one token");
  if (wanted.positions->random)
    bad_input(
        "generate: {} draws new positions each time a token is added; use a model whose positions are not random",
        wanted.positions.spelled());
  wanted.choice.check();
  for (const int token : prompt)
    if (token < 0 || token >= model.spec().vocabulary)
      bad_input("generate: the prompt has token {}; the model knows 0 .. {}", token, model.spec().vocabulary - 1);
}

// Whether idle slots may lie between the keys and the query (Positions::in_cache). They may if the order of tokens is
// free, or if layers read slots only for windows.
static bool may_pad(const Decoder& model, const Sampler& positions) {
  const DecoderSpec& s = model.spec();
  const auto own = [](const auto& layer) { return reads_states(*layer); };
  return !positions.parts && !positions.added && !positions.only_offsets &&
         (s.encoding->laws(s.shape(), s.encoding.choices).permutes ||
          std::ranges::none_of(model.encoding().layers, own));
}

void generate(const Decoder& model, const std::vector<int>& prompt, const Generation& wanted,
              const std::function<bool(int)>& take) {
  check_generation(model, prompt, wanted);
  const DecoderSpec& s = model.spec();
  const int tokens = wanted.tokens ? std::min(wanted.tokens, s.vocabulary) : s.vocabulary;
  const bool reread = wanted.positions->by_length ||  // keys of earlier lengths would be wrong
                      s.encoding->laws(s.shape(), s.encoding.choices).by_length;
  bool padded = model.device() != Device::cpu && !reread && may_pad(model, wanted.positions.thing);
  const int room = int(prompt.size()) + wanted.count, multiple = padded ? wanted.bucket : 1;
  KeyValueCache cache = model.cache(1, (room + multiple - 1) / multiple * multiple);
  std::vector<int> text = prompt;
  for (int i = 0; i < wanted.count; ++i) {
    stop_if_requested();
    if (reread) cache.clear();
    const std::vector<int> next(text.begin() + cache.length(), text.end());
    const int n = int(next.size());
    PositionSample positions(wanted.positions, Resample::per_forward, {}, 1, cache.length() + n);
    padded = padded && positions.at_embedding().channels() == 1;
    Tensor logits;
    if (padded && i > 0) {
      if (i == 1) cache.pad_to(multiple);
      positions = PositionSample({Positions::in_cache(positions.at_embedding().tokens("generate"), cache.slots(1))});
      backend(model.device()).step([&] {
        KeyValueCache again = cache;                   // may be called twice
        logits = {};
        logits = model.decode(Ids({1, 1}, next), 1, {positions, {}}, again);
      });
      cache.advance(1);
    } else {
      logits = model.decode(Ids({1, n}, next), 1, {positions, {}}, cache);
    }
    Rng rng(stream(wanted.seed, Purpose::test_tokens, uint64_t(i)));
    const int token = choose_token(logits.values().data(), tokens, wanted.choice, rng.uniform());
    if (!take(token)) return;
    text.push_back(token);
  }
}

}  // namespace poslab
