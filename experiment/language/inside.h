// A language model from inside, in the three ways in which a run of a task is looked at: where its heads look, what
// leaves its layers, and which positions or distances it has met. A slot is a token.
#pragma once
#include "experiment/attention_maps.h"
#include "experiment/coverage.h"
#include "experiment/dispersion.h"
#include "experiment/language/language.h"
#include "experiment/pca.h"

namespace poslab::language {

// BadInput, naming the command, for a length that has no room: fewer than 2 tokens, more than the sampler has positions
// for, or, where they are kept, maps of all heads beyond 2 GB.
void check_lengths(const State&, const std::vector<int>& lengths, const std::string& command = "inspect",
                   bool maps = true);
// The n-th text of the test with so many tokens, and the token after it; for another purpose, of the training
// text where there is one.
std::vector<int> test_window(const RunSpec&, const Source&, int length, int n, Purpose = Purpose::test_tokens);

// Tokens as a page shows them: bytes that are no letters of ASCII by a sign or their number.
std::vector<std::string> symbols(const Source&, const std::vector<int>& tokens);
// Of these tokens, at the positions of a test; they become the maps' symbols.
AttentionMaps attention_maps(const State&, const Source&, const std::vector<int>& tokens);
// At the last tokens of the first `samples` windows of the test of each length, as many as the first length has.
Pca pca(const State&, const Source&, const std::vector<int>& lengths, int samples);
Coverage coverage(const State&, const std::vector<int>& lengths);
// The first `samples` windows of the test, at the positions of a test.
Probed probed(const State&, const Source&, int samples);

}  // namespace poslab::language
