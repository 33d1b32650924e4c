// Step 5: attention, forward. core/cpu/attention/naive.h
#include "attend.h"

using namespace poslab;
using namespace course;

namespace {

Form with(const std::function<void(Form&)>& change) {
  Form f;
  change(f);
  return f;
}

}  // namespace

CASE("the weights of one query add up to 1") {
  const Sample x;
  const Tensor a = attention_weights(x.scores(), {});
  Values sums(size_t(B * H * Tq)), ones(sums.size(), 1.);
  const Values all = values(a);
  for (size_t n = 0; n < all.size(); ++n) sums[n / Tk] += all[n];
  check("sum_j a_ij = 1", {B, H, Tq}, sums, ones);
}

CASE("weights") {
  const Sample x;
  const auto wrong = [&](const char* hint, const std::function<void(Form&)>& change) {
    return Mistake{hint, attended(x.q, x.k, x.v, with(change)).a};
  };
  check("a_ij = softmax_j(q_i . k_j / sqrt(D))", attention_weights(x.scores(), {}), attended(x.q, x.k, x.v).a,
        {wrong("the scale 1 / sqrt(D) is forgotten: x.scale", [](Form& f) { f.scale = 1; }),
         wrong("the product is divided by the scale, and not multiplied by it",
               [](Form& f) { f.scale = std::sqrt(double(D)); }),
         wrong("the scale enters twice", [](Form& f) { f.scale = 1. / D; }),
         wrong("the sum runs over queries; each query should have its own sum over keys",
               [](Form& f) { f.by_query = true; }),
         wrong("the exponentials are not divided by their sum", [](Form& f) { f.divided = false; }),
         wrong("the exponentials are not divided by their sum", [](Form& f) { f.of_largest = true; }),
         wrong("all keys weigh the same: the logits do not reach the softmax",
               [](Form& f) { f.mean_of_values = true; })});
}

CASE("weights of large logits") {
  Sample x;
  for (double& v : x.q) v *= 3000;
  x.tq = Tensor::from({B, Tq, H, D}, x.q);
  Values got = values(attention_weights(x.scores(), {})), sums(size_t(B * H * Tq)), ones(sums.size(), 1.);
  for (size_t n = 0; n < got.size(); ++n) sums[n / Tk] += got[n];
  check("exp(s_ij - max_j s_ij) never overflows, so sum_j a_ij = 1", {B, H, Tq}, sums, ones,
        {{"exp(1000) is infinite: subtract the largest logit first", not_finite}});
}

CASE("a causal mask") {
  const Sample x;
  const auto wrong = [&](const char* hint, const std::function<void(Form&)>& change) {
    Form f = with(change);
    f.causal = true;
    return Mistake{hint, attended(x.q, x.k, x.v, f).a};
  };
  check("a_ij = 0 for keys after the query, j > i", attention_weights(x.scores(), {.causal = true}),
        attended(x.q, x.k, x.v, with([](Form& f) { f.causal = true; })).a,
        {{"nothing is masked: x.causal is not read", attended(x.q, x.k, x.v).a},
         wrong("a query does not see its own key: off by one", [](Form& f) { f.strict = true; }),
         wrong("the keys before the query are masked, not those after it", [](Form& f) { f.turned = true; }),
         wrong("masked logits are 0, and exp(0) is 1: take -INFINITY, or leave them out",
               [](Form& f) { f.to_zero = true; })});
}

CASE("queries that are the last slots") {
  const Sample x;
  const auto of = [&](int offset) {
    return attended(x.q, x.k, x.v, with([=](Form& f) { f.causal = true, f.offset = offset; })).a;
  };
  check("a_ij = 0 where j > i + offset, with offset 1", attention_weights(x.scores(), {.causal = true, .offset = 1}),
        of(1), {{"the slot of query i is x.offset + i, and here it is i", of(0)}});
}

CASE("pieces") {
  const Sample x;
  Scores s = x.scores();
  s.pieces = {{x.tq, x.tk, -far, 0}};  // the keys before the query
  const Values before = attended(x.q, x.k, x.v, with([](Form& f) { f.causal = f.strict = true; })).a;
  check("a_ij = 0 for pairs that no piece holds, j >= i, and for all j where i = 0", attention_weights(s, {}), before,
        {{"query 0 sees no key, and 0 / 0 is no number: its weights are 0", not_finite}});
  s.pieces.push_back({x.tq, x.tk, 0, far});
  check("a_ij = softmax_j(q_i . k_j / sqrt(D)), whichever piece holds the pair", attention_weights(s, {}),
        attended(x.q, x.k, x.v).a, {{"only the first piece is searched; there are x.pieces", before}});
}

CASE("keys beyond the end of a string") {
  const Sample x;
  const Ids lengths({B}, {2, 3});
  const auto of = [&](int first, int second) {
    return attended(x.q, x.k, x.v, with([=](Form& f) { f.lengths[0] = first, f.lengths[1] = second; })).a;
  };
  check("a_bij = 0 where j >= key_lengths[b]", attention_weights(x.scores(), {.key_lengths = lengths}), of(2, 3),
        {{"key_lengths is not read", of(Tk, Tk)},
         {"one key too many is seen: the condition is j < key_lengths[b]", of(3, 4)},
         {"all sequences have the length of the first one; sequence b has key_lengths[b]", of(2, 2)}});
}

CASE("biases and a temperature") {
  const Sample x;
  Scores s = x.scores();
  const Values bias = some(7 * H, 4);  // a row for each j - i + 3: as many as the kernel counts
  const int last = std::max(Tq, Tk) - 1;
  s.bias = Tensor::from({last + Tk, H}, some((last + Tk) * H, 4));
  s.temperature = Tensor::full({1, Tq, 1}, 2);
  const auto form = [&](double temperature, bool biased, bool outside) {
    return with([=](Form& f) {
      f.temperature = temperature;
      if (biased)
        f.bias = [=](int h, int i, int j) {
          return bias[size_t((j - i + last) * H + h)] / (outside ? temperature : 1);
        };
    });
  };
  check("s_ij = temperature_i (scale q_i . k_j + bias[pair])", attention_weights(s, {}),
        attended(x.q, x.k, x.v, form(2, true, false)).a,
        {{"the bias is missing", attended(x.q, x.k, x.v, form(2, false, false)).a},
         {"the temperature is missing", attended(x.q, x.k, x.v, form(1, true, false)).a},
         {"the temperature multiplies the product alone; it should multiply the bias, too",
          attended(x.q, x.k, x.v, form(2, true, true)).a}});
}

CASE("the output of a query") {
  clear_tape();
  const Sample x;
  Values sums, first;
  const Attended y = attended(x.q, x.k, x.v);
  for (int b = 0; b < B; ++b)
    for (int i = 0; i < Tq; ++i)
      for (int h = 0; h < H; ++h)
        for (int d = 0; d < D; ++d) {
          double sum = 0;
          for (int j = 0; j < Tk; ++j) sum += x.v[size_t(((b * Tk + j) * H + h) * D + d)];
          sums.push_back(sum);
          first.push_back(y.a[size_t(((b * H + h) * Tq + i) * Tk + Tk - 1)] *
                          x.v[size_t(((b * Tk + Tk - 1) * H + h) * D + d)]);
        }
  check("o_i = sum_j a_ij v_j", attention(x.scores(), x.tv, {}), y.o,
        {{"the weights are missing: these are sums of values", sums},
         {"the mean of the values: the weights are missing",
          attended(x.q, x.k, x.v, with([](Form& f) { f.mean_of_values = true; })).o},
         {"the last key alone is read: = for +=", first},
         {"the keys are read in place of the values", attended(x.q, x.k, x.k).o}});
}
