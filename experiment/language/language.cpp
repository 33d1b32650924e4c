#include "experiment/language/language.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/stop.h"
#include "encodings/samplers.h"
#include "experiment/build.h"

namespace poslab::language {

void Source::check_unchanged() const {
  if (check_text) check_text();
}

TokenizedText Source::window(bool of_test, int length, Rng& rng) const {
  if (grammar) return {grammar->draw(length, rng), std::vector<int>(size_t(length), 1), size_t(length)};
  check_unchanged();
  TokenizedText all = draw_window(side(of_test), reader(), length - int(prefix.size()), rng);
  all.tokens.insert(all.tokens.begin(), prefix.begin(), prefix.end());
  all.bytes.insert(all.bytes.begin(), prefix.size(), 0);
  return all;
}

void Window::add(const TokenizedText& document) {
  read.insert(read.end(), document.tokens.begin(), document.tokens.end() - 1);
  expected.insert(expected.end(), document.tokens.begin() + 1, document.tokens.end());
  bytes.insert(bytes.end(), document.bytes.begin() + 1, document.bytes.end());
  documents.push_back(int(document.tokens.size()) - 1);
}

const Text& Source::documents(bool of_test, const std::string& separator) const {
  const Text& whole = side(of_test);
  if (grammar) return whole;
  check_unchanged();
  if (separator.empty()) {
    if (whole.files.size() == 1 && (training.files.empty() || training.files[0].path == test.files[0].path))
      bad_input("documents = packed: {} is one file, and so one document; name a folder with a file for each, or give "
                "the separator of its documents", whole.files[0].path);
    return whole;
  }
#ifndef __wasm__
  const std::lock_guard only(parted->mutex);
#endif
  Text& made = parted->texts[{separator, of_test}];
  if (!made.files.empty()) return made;
  std::string read;
  for (size_t n = 0; n < separator.size(); ++n)
    if (separator.compare(n, 2, "\\n") == 0)
      read += '\n', ++n;
    else
      read += separator[n];
  made = documents_of(whole, read);
  if (made.files.empty())
    bad_input("separator = {}: the part of {} for {} has none, or no whole document; give the text between "
              "documents", separator, whole.files[0].path, of_test ? "the test" : "training");
  return made;
}

Window Source::packed(bool of_test, int length, Rng& rng, const std::string& separator) const {
  const Text& text = documents(of_test, separator);
  if (prefix.size() > 1)
    bad_input("documents = packed: the tokenizer puts {} tokens before each text, and packing would train the model to "
              "predict them; use documents = whole", prefix.size());
  Window all;
  for (int left = length; left > 0; left = length - int(all.read.size())) {
    const int most = left + 1, drawn = rng.between(std::max(1, length / 8), std::max(1, length / 2)) + 1;
    TokenizedText document = grammar ? window(of_test, std::min(most, drawn), rng)
                                     : draw_document(text, reader(), most - int(prefix.size()), rng);
    if (!grammar) document.tokens.insert(document.tokens.begin(), prefix.begin(), prefix.end());
    if (!grammar) document.bytes.insert(document.bytes.begin(), prefix.size(), 0);
    all.add(document);
  }
  return all;
}

int64_t Source::windows(bool of_test, int length) const {
  return grammar ? INT64_MAX : poslab::windows(side(of_test), length - int(prefix.size()));
}

TokenizedText Source::repeated(bool of_test, int unit, int length, Rng& rng) const {
  TokenizedText all = window(of_test, std::min(unit + int(prefix.size()), length), rng);
  for (size_t n = all.tokens.size(); n < size_t(length); ++n)
    all.add(all.tokens[n - size_t(unit)], all.covered + size_t(all.bytes[n - size_t(unit)]));
  return all;
}

std::vector<int> Source::prompt(const std::string& text) const {
  if (grammar) return {grammar->symbols};
  std::vector<int> all = prefix.empty() && text.empty() ? begin : prefix;
  if (text.empty() && all.empty())
    bad_input("the prompt is empty, and the model has no token that begins a text; give it a letter to begin with");
  const std::vector<int> tokens = reader().encode(text);
  if (tokens.empty() && !text.empty()) bad_input("no character of the prompt is a token of the model; use others");
  all.insert(all.end(), tokens.begin(), tokens.end());
  return all;
}

std::string Source::text(int token) const { return grammar ? fmt::format("{} ", token) : reader().text(token); }

State::State(const RunSpec& c, int vocabulary)
    : config((language::check(c), c)),
      params(uint64_t(c.whole("seed"))),
      net(params, decoder_spec(c, vocabulary)),
      adam((params.pack(device(c)), params), c.number("lr")) {
  adam.clip = c.number("clip");
}

State::State(const RunSpec& c, const Decoder& made)
    : config(c), params(uint64_t(0)), net(made), trained_elsewhere(true) {
  params.pack(device(c));                                  // no parameters; sets the device
}

namespace {

// A window of `length` tokens to be read.
Window training_window(const RunSpec& c, const Source& source, int length, Rng& rng) {
  const double repeats = c.number("repeats");
  Window w;
  if (repeats == 0 || rng.uniform() >= repeats) {
    if (packs(c)) return source.packed(false, length, rng, c["separator"]);
    w.add(source.window(false, length + 1, rng));
  } else {
    const int shortest = std::max(1, (length + 1) / 8), longest = std::max(1, (length + 1) / 2);
    w.add(source.repeated(false, rng.between(shortest, longest), length + 1, rng));
  }
  return w;
}

}  // namespace

void check_windows(const Choices& c, const Source& source, bool of_test) {
  Rng rng(stream(0, Purpose::tokens, 0));
  for (const int length : of_test ? eval_lengths(c) : std::vector{c.whole("train_length")})
    if (!packs(c))
      source.window(of_test, length + 1, rng);
    else if (source.packed(of_test, length, rng, c["separator"]); !of_test && c.number("repeats") > 0)
      source.window(false, (length + 1) / 2 + int(source.prefix.size()), rng);
}

Batch draw_batch(const RunSpec& c, const Source& source, int64_t step) {
  const int B = c.whole("batch"), T = c.whole("train_length");
  std::vector<int> read, expected;
  PositionSample::Documents documents;
  for (int b = 0; b < B; ++b) {
    Rng rng(stream(uint64_t(c.whole("seed")), Purpose::tokens, uint64_t(step), uint32_t(b)));
    const Window window = training_window(c, source, T, rng);
    read.insert(read.end(), window.read.begin(), window.read.end());
    expected.insert(expected.end(), window.expected.begin(), window.expected.end());
    if (packs(c)) documents.push_back(window.documents);
  }
  return {Ids({B, T}, read), Ids({B, T}, expected), documents};
}

namespace {

PositionSample positions(const RunSpec& c, Purpose purpose, int64_t step, int slots,
                         const PositionSample::Documents& documents) {
  const Chosen<Sampler> drawn = purpose == Purpose::positions ? at_step(sampler(c), step, slots) : test_sampler(c);
  const Stream own = stream(uint64_t(c.whole("seed")), purpose, uint64_t(step));
  if (!documents.empty()) return {drawn, own, documents};
  return {drawn, Resample::per_forward, own, 1, slots};
}

}  // namespace

PositionSample training_positions(const RunSpec& c, int64_t step, const PositionSample::Documents& documents) {
  return positions(c, Purpose::positions, step, c.whole("train_length"), documents);
}
PositionSample test_positions(const RunSpec& c, int length, const PositionSample::Documents& documents) {
  return positions(c, Purpose::test_positions, length, length, documents);
}

StepPlan plan(const State& s, const Batch& batch) {
  const RunSpec& c = s.config;
  const int64_t step = s.adam.step;
  const int T = batch.read.shape()[1];
  StepPlan plan{learning_rate(c, step), {}, most_probable};
  const PositionSample all = training_positions(c, step, batch.documents);
  for (const Cut& cut : cuts(c, batch.read.shape()[0]))
    plan.parts.push_back(
        {[&s, T, draw = batch.documents.empty() ? all : all.part(cut.from, cut.to), read = cut.of(batch.read)](
             Trace* trace) { return s.net(read, T, {draw, {}, trace}); },
         cut.of(batch.expected)});
  return plan;
}

StepResult result(const State&, const Batch& batch, const StepOutcome& done) {
  const int64_t all = batch.expected.size();
  int64_t right = 0;
  for (int64_t i = 0; i < all; ++i) right += int(done.shown[size_t(i)]) == batch.expected[i];
  return {done.done, done.loss, double(right) / double(all), done.grad_norm, double(all)};
}

namespace {

// The windows of a test at one length.
struct TestWindows {
  int drawn, unit;   // tokens: of a window, and of the unit of a repeated window
  TestWindows(const RunSpec& c, int length) : drawn(length) {
    if (const std::vector<int> all = eval_lengths(c); c.whole("eval_tail"))
      drawn = std::max(length, *std::max_element(all.begin(), all.end()));
    unit = std::min(2 * c.whole("train_length"), std::max(1, drawn / 2));
  }
};

}  // namespace

int64_t windows(const RunSpec& c, const Source& source, int length, bool repeated) {
  const TestWindows w(c, length);
  if (packs(c)) return INT64_MAX;
  return source.windows(true, repeated ? w.unit + int(source.prefix.size()) : w.drawn + 1);
}

AtLength evaluate(const Decoder& net, const RunSpec& c, const Source& source, int length, bool repeated) {
  const Inference as_this_run(c);
  constexpr int together = 256;  // slots whose logits are in memory at a time
  const int samples = c.whole("eval_samples"), tail = c.whole("eval_tail");
  const auto [drawn, unit] = TestWindows(c, length);
  // a prefix of several tokens is given, not predicted
  const int counted = std::min(tail ? tail : length, drawn + 1 - int(source.prefix.size()));
  AtLength at{.length = length, .repeated = repeated, .samples = samples};
  double bytes = 0;
  int64_t count[parts] = {};
  for (int n = 0; n < samples; ++n) {
    Stoppable whole(true);
    Rng rng(stream(uint64_t(c.whole("seed")), Purpose::test_tokens, uint64_t(drawn), uint32_t(n)));
    Window window;
    if (packs(c))
      window = source.packed(true, length, rng, c["separator"]);
    else
      window.add(repeated ? source.repeated(true, unit, drawn + 1, rng) : source.window(true, drawn + 1, rng));
    PositionSample::Documents documents;
    if (packs(c)) documents.push_back(window.documents);
    const PositionSample draw = test_positions(c, length, documents);
    const Tensor states = net.states(Ids({1, length}, {window.read.end() - length, window.read.end()}), {draw, {}});
    whole.complete();
    const int* expected = window.expected.data() + window.expected.size() - counted;
    int V = 0;
    std::vector<real> logits;
    for (int t = 0; t < counted; ++t) {
      if (t % together == 0) {
        Stoppable part_of_it(true);
        const int from = length - counted + t;
        const Tensor some = net.logits(slice(states, 1, from, std::min(from + together, length)));
        part_of_it.complete();
        V = some.dim(-1), logits = some.values();
      }
      const real* row = logits.data() + int64_t(t % together) * V;
      const int best = int(std::max_element(row, row + V) - row);
      double sum = 0;
      for (int i = 0; i < V; ++i) sum += std::exp(double(row[i]) - row[best]);
      const int part = int(int64_t(t) * parts / counted);
      at.loss_of_part[part] += std::log(sum) + row[best] - row[expected[t]];
      at.accuracy_of_part[part] += best == expected[t];
      ++count[part];
    }
    bytes += std::accumulate(window.bytes.end() - counted, window.bytes.end(), 0.);
  }
  const double all = double(counted) * samples;
  for (int p = 0; p < parts; ++p) {
    at.loss += at.loss_of_part[p] / all, at.accuracy += at.accuracy_of_part[p] / all;
    at.loss_of_part[p] /= double(std::max<int64_t>(1, count[p]));
    at.accuracy_of_part[p] /= double(std::max<int64_t>(1, count[p]));
  }
  at.bits_per_byte = at.loss * all / bytes / std::log(2.);
  return at;
}

}  // namespace poslab::language
