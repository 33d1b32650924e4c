#include "nn/t5_generate.h"

#include <algorithm>
#include <cmath>

#include "autograd/tape.h"
#include "core/error.h"
#include "core/stop.h"
#include "nn/generate.h"

namespace poslab {

void T5Generation::check() const {
  if (count < 1) bad_input("t5: {} new tokens; ask for at least 1", count);
  if (beams < 1 || beams > 1024) bad_input("t5: {} beams; give 1 to 1024, 1 for the most probable token", beams);
  if (!std::isfinite(length_penalty)) bad_input("t5: length_penalty = {}; it must be a number", length_penalty);
  if (positions->random)
    bad_input("t5: {} draws new positions each time a token is added; decode with sequential", positions.spelled());
}

namespace {

// The steps of decoding: the texts so far, and the logits of the next token of each.
class Steps {
 public:
  Steps(const T5& model, const Tensor& states, const Ids& lengths, const T5Generation& wanted)
      : model_(model),
        wanted_(wanted),
        cache_(model.cache(states, lengths, wanted.count, wanted.beams)),
        sequences_(states.dim(0) * wanted.beams),
        texts_(size_t(sequences_), {model.spec().start}) {
    const T5Spec& s = model.spec();
    reread_ = wanted.positions->by_length ||  // keys of earlier lengths would be wrong
              s.encoding->laws(s.shape(true), s.encoding.choices).by_length;
  }
  // (sequences, vocabulary)
  std::vector<real> logits() {
    stop_if_requested();
    if (reread_) cache_.self.clear();
    std::vector<int> newest;
    const int all = int(texts_[0].size()), before = cache_.self.length();
    for (const std::vector<int>& text : texts_) newest.insert(newest.end(), text.begin() + before, text.end());
    const PositionSample positions(wanted_.positions, Resample::per_forward, {}, 1, all);
    return model_.step(Ids({sequences_, all - before}, newest), {positions, {}}, cache_).values();
  }
  // Sequence b becomes sequence from[b] with one more token.
  void go_on(const std::vector<int>& from, const std::vector<int>& tokens) {
    std::vector<std::vector<int>> next;
    for (size_t b = 0; b < from.size(); ++b) next.push_back(texts_[size_t(from[b])]), next[b].push_back(tokens[b]);
    texts_ = std::move(next);
    cache_.self.reorder(from);
  }
  // without the start token
  std::vector<int> tokens(int sequence) const {
    const std::vector<int>& text = texts_[size_t(sequence)];
    return {text.begin() + 1, text.end()};
  }

 private:
  const T5& model_;
  const T5Generation& wanted_;
  T5Cache cache_;
  int sequences_;
  bool reread_;
  std::vector<std::vector<int>> texts_;
};

bool is_end(const T5Generation& g, int token) { return std::find(g.ends.begin(), g.ends.end(), token) != g.ends.end(); }

// z - ln sum exp z, in place
void log_softmax(real* z, int n) {
  real largest = z[0];
  for (int i = 0; i < n; ++i) {
    if (std::isnan(z[i]))
      failure("the logit of token {} is NaN; the model has diverged, or its weights are damaged", i);
    largest = std::max(largest, z[i]);
  }
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += std::exp(double(z[i]) - largest);
  const double all = largest + std::log(sum);
  for (int i = 0; i < n; ++i) z[i] = real(z[i] - all);
}

constexpr double no_score = -1e9;  // the score of a beam that is no candidate

struct Beam {
  int from = 0, token = 0;
  double score = 0;
  bool ends = false;
};
struct Finished {
  Hypothesis answer{{}, no_score};
  bool done = false;
};

template <class T, class Score>
void keep_best(std::vector<T>& all, size_t count, const Score& score) {
  std::stable_sort(all.begin(), all.end(), [&](const T& a, const T& b) { return score(a) > score(b); });
  if (all.size() > count) all.resize(count);
}

// The most probable next tokens over all beams; among equally probable tokens, the first.
std::vector<Beam> continuations(std::vector<real> logits, const std::vector<double>& scores, size_t count) {
  const int beams = int(scores.size()), vocabulary = int(logits.size()) / beams;
  std::vector<Beam> all;
  for (int b = 0; b < beams; ++b) {
    real* z = logits.data() + ptrdiff_t(b) * vocabulary;
    log_softmax(z, vocabulary);
    std::vector<int> order(static_cast<size_t>(vocabulary));
    for (int i = 0; i < vocabulary; ++i) order[size_t(i)] = i;
    const size_t most = std::min(count, order.size());
    std::partial_sort(order.begin(), order.begin() + ptrdiff_t(most), order.end(),
                      [&](int i, int j) { return z[i] > z[j] || (z[i] == z[j] && i < j); });
    for (size_t n = 0; n < most; ++n) all.push_back({b, order[n], scores[size_t(b)] + double(z[order[n]])});
  }
  keep_best(all, count, [](const Beam& b) { return b.score; });
  return all;
}

std::vector<Hypothesis> search(const T5& model, const Tensor& states, const Ids& lengths, const T5Generation& g) {
  const size_t K = size_t(g.beams);
  Steps steps(model, states, lengths, g);
  std::vector<double> running(K, no_score);
  running[0] = 0;  // all beams are equal at first
  std::vector<Finished> finished(K);
  const auto score_of = [](const Finished& f) { return f.answer.score; };
  const auto all_done = [&] { return std::all_of(finished.begin(), finished.end(), [](auto& f) { return f.done; }); };
  const auto at_length = [&](double score, int n) { return score / std::pow(double(n), g.length_penalty); };
  for (int n = 1; n <= g.count; ++n) {
    std::vector<Beam> next = continuations(steps.logits(), running, std::max<size_t>(2, 1 + g.ends.size()) * K);
    for (size_t rank = 0; rank < next.size(); ++rank) {
      Beam& b = next[rank];
      b.ends = is_end(g, b.token) || n == g.count;
      if (b.ends && rank < K) {
        Finished f{{steps.tokens(b.from), at_length(b.score, n)}, true};
        f.answer.tokens.push_back(b.token);
        finished.push_back(f);
      }
    }
    keep_best(finished, K, score_of);
    for (Beam& b : next)
      if (b.ends) b.score += no_score;
    const bool some_go_on = std::any_of(next.begin(), next.end(), [](const Beam& b) { return !b.ends; });
    keep_best(next, K, [](const Beam& b) { return b.score; });
    std::vector<int> from, tokens;
    for (size_t b = 0; b < K; ++b)
      from.push_back(next[b].from), tokens.push_back(next[b].token), running[b] = next[b].score;
    const bool greatest = g.early_stopping == EarlyStopping::never && g.length_penalty > 0;
    const double best = at_length(running[0], greatest ? g.count : n);
    const bool improvable = g.early_stopping != EarlyStopping::on && best > finished.back().answer.score;
    if (!some_go_on || (all_done() && !improvable)) break;
    steps.go_on(from, tokens);
  }
  std::vector<Hypothesis> all;
  for (Finished& f : finished)
    if (f.done) {
      std::vector<int>& t = f.answer.tokens;
      if (is_end(g, t.back())) t.pop_back();
      all.push_back(std::move(f.answer));
    }
  return all;
}

}  // namespace

std::vector<std::vector<int>> answer(const T5& model, const Tensor& states, const Ids& lengths,
                                     const T5Generation& wanted) {
  T5Generation g = wanted;
  g.beams = 1, g.check();
  const NoGrad no_gradient;
  const int B = states.dim(0), V = model.spec().vocabulary;
  Steps steps(model, states, lengths, g);
  std::vector<std::vector<int>> all(static_cast<size_t>(B));
  std::vector<bool> ended(size_t(B), false);
  std::vector<int> self, tokens(size_t(B), model.spec().start);
  for (int b = 0; b < B; ++b) self.push_back(b);
  for (int n = 0; n < g.count && !std::all_of(ended.begin(), ended.end(), [](bool e) { return e; }); ++n) {
    const std::vector<real> logits = steps.logits();
    for (int b = 0; b < B; ++b) {
      if (ended[size_t(b)]) continue;
      const int token = choose_token(logits.data() + ptrdiff_t(b) * V, V, {.temperature = 0}, 0);
      tokens[size_t(b)] = token;
      if (is_end(g, token))
        ended[size_t(b)] = true;
      else
        all[size_t(b)].push_back(token);
    }
    if (n + 1 < g.count) steps.go_on(self, tokens);
  }
  return all;
}

std::vector<std::vector<Hypothesis>> beam_search(const T5& model, const Tensor& states, const Ids& lengths,
                                                 const T5Generation& wanted) {
  wanted.check();
  const NoGrad no_gradient;
  std::vector<std::vector<Hypothesis>> all;
  for (int b = 0; b < states.dim(0); ++b)
    all.push_back(search(model, slice(states, 0, b, b + 1), lengths ? Ids({1}, {lengths[b]}) : Ids(), wanted));
  return all;
}

std::vector<int> answer(const T5& model, const std::vector<int>& text, const T5Generation& wanted) {
  if (text.empty()) bad_input("the prompt is empty; give the model a text to read");
  const NoGrad still;
  const Ids tokens({1, int(text.size())}, text);
  const PositionSample positions(wanted.positions, Resample::per_forward, {}, 1, int(text.size()));
  const Tensor states = model.encode(tokens, {}, {positions, {}});
  if (wanted.beams == 1) return answer(model, states, {}, wanted)[0];
  return beam_search(model, states, {}, wanted)[0].at(0).tokens;
}

}  // namespace poslab
