// Keys that take weight and have no value, against a softmax with an additional column for each.
#include "experiment/dummy_keys.h"

#include <algorithm>
#include <cmath>

#include "tests/encodings/schemes.h"

using namespace poslab;
using namespace poslab::test;

TEST_CASE("dummy keys: each takes its share of the weights, and gives no value") {
  const NoGrad still;
  constexpr int count = 7;
  for (const char* name : {"none", "rope", "alibi", "t5", "relative", "rerope:window=2"}) {
    CAPTURE(name);
    const Params params(3);
    TransformerSpec spec;
    spec.layers = 2, spec.heads = H, spec.d_model = C, spec.encoding = choose_encoding(name, trained_on(1024));
    const Transformer net(params, spec), more = with_dummy_keys(net, count);
    const Positions p = Positions::of_tokens(1, {0, 1, 2, 3, 4, 5});
    const Content c;
    const Heads in{c.q, c.k, c.x, c.x};
    const Encoding &inner = *net.encoding().layers[1], &wrapped = *more.encoding().layers[1];
    const Tensor s = inner.logits(in, p, {});  // (B, H, T, T)
    const Tensor all = softmax(concat({s, Tensor::full({s.dim(0), H, T, count}, 0)}, 3));
    const Tensor expected = slice(all, 3, 0, T);
    CHECK(difference(wrapped.weights(in, p, {}), expected) < 1e-6);
    const Tensor rows = wrapped.statistics(in, p, {});
    for (int64_t row = 0; row < rows.rows(); ++row) {
      const real *of_row = rows.data() + row * statistics_per_row, *w = expected.data() + row * T;
      CHECK(std::abs(of_row[0] - *std::max_element(w, w + T)) < 1e-6);
      CHECK(std::isnan(of_row[2]));  // logits are not returned
    }
    const Tensor o = permute(matmul(expected, permute(c.v, {0, 2, 1, 3})), {0, 2, 1, 3});
    CHECK(difference(wrapped.attend(in, c.v, p, {}), o) < 1e-5);
  }
  const Params params(3);
  TransformerSpec spec;
  spec.encoding = choose_encoding("sincos");
  CHECK(with_dummy_keys(Transformer(params, spec), 3).encoding().embed);
}
