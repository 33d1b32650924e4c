// The inspections of a language model, as for a run of a task: its attention, the outputs of its layers, and the
// positions or distances of its training. A slot is a token.
#pragma once
#include "experiment/attention_maps.h"
#include "experiment/coverage.h"
#include "experiment/dispersion.h"
#include "experiment/language/language.h"
#include "experiment/pca.h"

namespace poslab::language {

// Throws BadInput with the command's name for a length that does not fit: fewer than 2 tokens, more than the sampler
// has positions for, or (if maps) so many that the maps of all heads pass 2 GB.
void check_lengths(const State&, const std::vector<int>& lengths, const std::string& command = "inspect",
                   bool maps = true);
// The n-th text of the test with this many tokens, and the token after it; for another Purpose, of the training text.
std::vector<int> test_window(const RunSpec&, const Source&, int length, int n, Purpose = Purpose::test_tokens);

// Tokens in readable form: bytes other than ASCII letters become a sign or a number.
std::vector<std::string> symbols(const Source&, const std::vector<int>& tokens);
// The attention of these tokens, at the positions of a test; they become the maps' symbols.
AttentionMaps attention_maps(const State&, const Source&, const std::vector<int>& tokens);
// The planes at the last tokens of the first `samples` test windows: at each length as many tokens as at the first.
Pca pca(const State&, const Source&, const std::vector<int>& lengths, int samples);
Coverage coverage(const State&, const std::vector<int>& lengths);
// The first `samples` windows of the test, at the positions of a test.
Probed probed(const State&, const Source&, int samples);

}  // namespace poslab::language
