// A run of a language model as values: its text, its state, a step, and its loss at a length. Opens no file.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "experiment/language/options.h"
#include "experiment/training_step.h"
#include "nn/adam.h"
#include "tasks/language/copy_grammar.h"
#include "tasks/language/text.h"
#include "tasks/language/vocabulary.h"

namespace poslab::language {

// The input tokens, and the token after each.
struct Window {
  std::vector<int> read, expected, bytes;        // bytes of text of the expected tokens
  std::vector<int> documents;                    // for each, how many of its tokens are read
  void add(const TokenizedText& document);       // adds a document of two tokens or more
};

// The source of tokens: a text, or the made-up language.
struct Source {
  Vocabulary vocabulary;
  Text training, test;  // both empty with a grammar; `training` is empty for an external checkpoint
  std::optional<CopyGrammar> grammar;
  // the tokens of an external checkpoint, in place of the vocabulary
  std::shared_ptr<const Tokenizer> tokenizer{};
  std::vector<int> prefix{};                     // the prefix of each of its windows
  std::vector<int> begin{};                      // the token that begins a text without a prefix, or none
  std::vector<int> ends{};                       // tokens that end a text
  // Throws BadInput for a missing or changed text; absent: it is unchanged. Writing needs only its tokens.
  std::function<void()> check_text{};
  struct Parted {  // the documents of the text, split once for each separator, in training and test
#ifndef __wasm__     // a page has one thread
    std::mutex mutex;
#endif
    std::map<std::pair<std::string, bool>, Text> texts;
  };
  std::shared_ptr<Parted> parted = std::make_shared<Parted>();
  const Tokenizer& reader() const { return tokenizer ? *tokenizer : vocabulary; }
  int tokens() const { return grammar ? grammar->vocabulary() : reader().size(); }
  // The number of tokens that generation chooses among; an embedding may have more rows (`vocabulary`). 0: all rows,
  // as Hugging Face does.
  int written() const { return tokenizer ? 0 : tokens(); }
  void check_unchanged() const;  // throws BadInput for a missing or changed text, as window() does
  // `length` tokens: the prefix, which counts no bytes, and the text. Each token of a grammar counts one byte.
  TokenizedText window(bool of_test, int length, Rng&) const;
  // Documents until `length` tokens are read, each from its beginning, the last one cut off: files, or the text between
  // two separators (\n: a new line); a grammar's documents have an eighth to half of `length`. Throws BadInput for a
  // text that is one document, for one without the separator, and for prefixes of several tokens.
  Window packed(bool of_test, int length, Rng&, const std::string& separator = "") const;
  // The prefix, then `unit` tokens over and over: the repeated texts of Su's experiments (Su 2023; spec C.3).
  TokenizedText repeated(bool of_test, int unit, int length, Rng&) const;
  // The largest number of different windows from window(); unlimited for a grammar.
  int64_t windows(bool of_test, int length) const;
  // The tokens before the next one: the prefix and the text's tokens; `begin` for an empty text without a prefix; with
  // a grammar always the symbol that begins a clause. Throws BadInput if there is no token to begin with, and for a
  // text without a character that is a token.
  std::vector<int> prompt(const std::string& text) const;
  std::string text(int token) const;             // its bytes; "17 " for a grammar

 private:
  const Text& side(bool of_test) const { return of_test || training.files.empty() ? test : training; }
  const Text& documents(bool of_test, const std::string& separator) const;
};

struct State {
  // Step 0: fresh weights from the seed. Throws BadInput if the choices do not fit.
  State(const RunSpec&, int vocabulary);
  // The state of an external checkpoint, which is read-only: it has no parameters of its own, and its training is
  // unknown.
  State(const RunSpec&, const Decoder&);
  RunSpec config;
  Params params;
  Decoder net;
  Adam adam;                                     // adam.step counts the steps done
  bool trained_elsewhere = false;
};

struct Batch {
  Ids read, expected;                            // (B, T) twice: tokens, and the token after each
  PositionSample::Documents documents{};         // documents of each packed window
};
// A function of seed and step alone. A window that repeats has a unit of an eighth to half the trained length.
Batch draw_batch(const RunSpec&, const Source&, int64_t step);

// The positions of a step of training, or of all windows of a length at test; of their documents, if given.
PositionSample training_positions(const RunSpec&, int64_t step, const PositionSample::Documents& = {});
PositionSample test_positions(const RunSpec&, int length, const PositionSample::Documents& = {});

StepPlan plan(const State&, const Batch&);  // the plan of step state.adam.step
StepResult result(const State&, const Batch&, const StepOutcome&);
using poslab::train_step;
// Throws BadInput unless the text has windows of every length.
void check_windows(const Choices&, const Source&, bool of_test);

struct AtLength {
  int length = 0;
  bool repeated = false;
  int64_t samples = 0;                           // windows
  double loss = 0, accuracy = 0;                 // nats a token; share of tokens that the model found most probable
  double bits_per_byte = 0;                      // the loss of all tokens over the bytes of their text
  double loss_of_part[parts] = {}, accuracy_of_part[parts] = {};
};
// A model on windows of the test, which are functions of seed and length alone; `c` has the options of the test.
// Repeated texts have a unit of twice the trained length, or half of `length` if that is less. With eval_tail the
// windows are ends of windows of the longest tested length, only their last tokens count, and the parts divide these.
// Throws Stopped.
AtLength evaluate(const Decoder&, const RunSpec& c, const Source&, int length, bool repeated);
// The largest number of windows from which its eval_samples are drawn; if there are more samples, some repeat.
int64_t windows(const RunSpec& c, const Source&, int length, bool repeated);
inline AtLength evaluate(const State& s, const Source& source, int length, bool repeated) {
  return evaluate(s.net, s.config, source, length, repeated);
}

}  // namespace poslab::language
