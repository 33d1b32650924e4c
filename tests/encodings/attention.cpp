// Every scheme through fused attention: it equals composed attention (values and gradients) and slot-by-slot decoding,
// and in the double build its gradients equal central differences. These are families 6 and 8 of spec A.7; the checks
// themselves are in encodings/checks/.
#include <doctest/doctest.h>

#include "tests/encodings/schemes.h"

using namespace poslab;
using namespace poslab::test;

TEST_CASE("fused attention = composed attention, values and gradients, for every scheme x sampler x mask") {
  CHECK(hold_to("fused").below > 1000);
}

TEST_CASE("6 cache = full: the last queries against the first slots give the rows of one causal pass") {
  CHECK(hold_to("cached").below > 100);
}

TEST_CASE("6 cache = full: each step of decoding 64 tokens, for every scheme") {
  CHECK(hold_to("decode").below > 100);
}

TEST_CASE("8 gradients = central differences, for all inputs and learned parameters of every scheme") {
  CHECK(hold_to("gradient").below > 200);
}
