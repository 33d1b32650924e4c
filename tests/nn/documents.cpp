// Packed documents: the model's results for each document equal those for it alone, in training and at test.
#include "nn/documents.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "autograd/tape.h"
#include "core/error.h"
#include "encodings/checks/setup.h"
#include "experiment/language/language.h"
#include "tests/lab/helpers.h"
#include "tests/support/formula.h"

namespace poslab::test {
namespace {

using language::Batch;
using language::Source;

constexpr int slots_together = 17;
const PositionSample::Documents packing = {{5, 3, 9}, {17}};

DecoderSpec decoder_of(const std::string& encoding, bool units) {
  DecoderSpec s;
  s.vocabulary = 13, s.layers = 2, s.heads = 4, s.key_heads = 2, s.d_model = 32, s.d_ff = 40;
  if (units) s.heads = s.key_heads = 1, s.gau = 8, s.d_ff = 64;
  s.encoding = choose_encoding(encoding, trained_on(1024));
  return s;
}

// A model whose weights are changed, because with initial weights some schemes do nothing.
struct Moved {
  Params params{3};
  Decoder net;
  explicit Moved(const DecoderSpec& s) : net(params, s) {
    params.pack();
    uint32_t which = 300;
    for (const Params::Entry& e : params.entries()) {
      const Tensor by = checks::random_tensor(e.tensor.shape(), ++which, 0.1);
      for (int64_t i = 0; i < by.size(); ++i) e.tensor.data()[i] += by.data()[i];
    }
  }
  std::vector<real> gradients() const { return {params.grads(), params.grads() + params.count()}; }
};

std::vector<int> span_of(const std::vector<int>& all, int from, int to) {
  return {all.begin() + from, all.begin() + to};
}

struct Compared { double loss = 0, gradient = 0, whole = 0; };   // largest differences; `whole`: to an unpacked window

// Compares the losses of a batch's documents, and the gradient of their sum, packed and one document at a time.
Compared compared(const DecoderSpec& spec, const std::string& sampler) {
  const Moved model(spec);
  const int64_t all = int64_t(packing.size()) * slots_together;
  const std::vector<int> read = formula::integers("read", all, 13), expected = formula::integers("expected", all, 13);
  const Chosen<Sampler> drawn = sampler_for(spec.encoding, choose_sampler(sampler));
  const PositionSample packed(drawn, stream(4, Purpose::positions, 0), packing);
  const Shape shape{int(packing.size()), slots_together};
  const auto flat = [&](const Tensor& logits) { return logits.reshape({1, int(all), 13}); };
  const auto losses = [&](const Tensor& logits) {   // the loss of each document, times its tokens
    std::vector<Tensor> each;
    int at = 0;
    for (const std::vector<int>& sequence : packing)
      for (const int n : sequence) {
        const Ids next({1, n}, span_of(expected, at, at + n));
        each.push_back(cross_entropy(slice(flat(logits), 1, at, at + n), next) * n);
        at += n;
      }
    return each;
  };
  const auto summed = [](const std::vector<Tensor>& each) {
    Tensor sum = each[0];
    for (size_t i = 1; i < each.size(); ++i) sum = sum + each[i];
    return sum;
  };
  const std::vector<Tensor> together = losses(model.net(Ids(shape, read), slots_together, {packed, {}}));
  backward(summed(together));
  const std::vector<real> gradient = model.gradients();
  model.params.clear_grads();
  Compared c;
  std::vector<Tensor> alone;
  int at = 0;
  for (const std::vector<int>& sequence : packing)
    for (const int n : sequence) {
      const Tensor logits = model.net(Ids({1, n}, span_of(read, at, at + n)), n, {packed.of_document(n), {}});
      alone.push_back(cross_entropy(logits, Ids({1, n}, span_of(expected, at, at + n))) * n);
      c.loss = std::max(c.loss, std::abs(double(together[alone.size() - 1].item()) - double(alone.back().item())) / n);
      at += n;
    }
  backward(summed(alone));
  const std::vector<real> own = model.gradients();
  double most = 0;
  for (size_t i = 0; i < own.size(); ++i) {
    most = std::max(most, std::abs(double(own[i])));
    c.gradient = std::max(c.gradient, std::abs(double(own[i]) - double(gradient[i])));
  }
  c.gradient /= most;
  const NoGrad still;
  const PositionSample one(drawn, Resample::per_forward, stream(4, Purpose::positions, 0), 1, slots_together);
  const std::vector<Tensor> whole = losses(model.net(Ids(shape, read), slots_together, {one, {}}));
  c.whole = std::abs(double(whole[1].item()) - double(alone[1].item()));
  return c;
}

Source of_files(const std::vector<std::string>& texts) {
  Source s;
  for (size_t n = 0; n < texts.size(); ++n) s.training.files.push_back({std::to_string(n), int64_t(texts[n].size())});
  s.training.read = [texts](const TextFile& f, int64_t from, int64_t bytes) {
    return texts[std::stoul(f.path)].substr(size_t(from), size_t(bytes));
  };
  s.test = s.training;
  return s;
}

}  // namespace

TEST_CASE("documents: packed losses and gradients equal those of the documents alone, for every scheme") {
  int held = 0, refused = 0, differ = 0;
  for (const Scheme& scheme : all_encodings())
    for (const bool units : {false, true}) {
      INFO(scheme.name << (units ? ", units" : ""));
      Compared c;
      const std::string why = refusal([&] { c = compared(decoder_of(scheme.name, units), "sequential"); });
      if (!why.empty()) {
        CHECK(why.find(scheme.name) != why.npos);
        ++refused;
        continue;
      }
      CHECK(c.loss <= 1e-6);
      CHECK(c.gradient <= 2e-5);
      ++held, differ += c.whole > 1e-3;
    }
  fmt::print("  documents: {} as alone, {} refused; {} read other documents where they are not packed\n", held, refused,
             differ);
  CHECK(held >= int(all_encodings().size()));
  CHECK(differ > held * 9 / 10);
}

TEST_CASE("documents: equal lengths share a random draw of positions; counted positions restart in each document") {
  for (const char* encoding : {"rope", "learned", "t5", "rope|none"})
    for (const char* sampler : {"randomized:max_position=64", "randomized|sequential"}) {
      const Compared c = compared(decoder_of(encoding, false), sampler);
      INFO(encoding << " " << sampler);
      CHECK(c.loss <= 1e-6);
    }
  const PositionSample counted(choose_sampler("sequential"), {}, {{2, 3}});
  CHECK(counted.of_document(3).at_layer(1).tokens("rope") == std::vector<double>{0, 1, 2});
  CHECK(counted.part(0, 1).documents() == counted.documents());
}

TEST_CASE("documents: boundaries and options that do not fit are refused") {
  const Moved model(decoder_of("rope", false));
  const Ids read({1, 5}, {1, 2, 3, 4, 5});
  const auto run = [&](PositionSample::Documents of) {
    return refusal([&] { model.net(read, 5, {PositionSample(choose_sampler("sequential"), {}, std::move(of)), {}}); });
  };
  CHECK(run({{2, 3}}) == "");
  CHECK(run({{2, 2}}) == "2: documents: 4 tokens in a sequence of 5; they must fill it");
  CHECK(run({{2, 3}, {5}}) == "2: documents: lists for 2 sequences, but the batch has 1");
  CHECK(run({{5, 0}}) == "2: positions: a document of 0 tokens; each needs 1 or more");
  const PositionSample two(choose_sampler("sequential"), {}, {{2, 3}});
  CHECK_THROWS_AS(two.at_layer(0), BadInput);
  KeyValueCache cache = model.net.cache(1, 5);
  CHECK_THROWS_AS(model.net.decode(read, 1, {two, {}}, cache), BadInput);
  Trace weights({"block0.attention.weights"}), heads({"block0.attention.heads"});
  CHECK_THROWS_AS(model.net(read, 5, {two, {}, &weights}), BadInput);
  model.net(read, 5, {two, {}, &heads});
  CHECK(heads.captured.at("block0.attention.heads").shape() == Shape{1, 5, 4, 8});
}

TEST_CASE("documents: a window begins at a file's beginning, and knows the token after each") {
  const Source source = of_files({"abcdef", "0123456789", "x", "uvwxyz"});
  Rng rng({0, 1, 2});
  std::vector<int> cut;
  for (int n = 0; n < 50; ++n) {
    const language::Window w = source.packed(false, 20, rng);
    REQUIRE(w.read.size() == 20);
    CHECK(std::accumulate(w.documents.begin(), w.documents.end(), 0) == 20);
    CHECK(w.bytes == std::vector<int>(20, 1));
    int at = 0;
    for (const int length : w.documents) {
      CHECK((w.read[size_t(at)] == 'a' || w.read[size_t(at)] == '0' || w.read[size_t(at)] == 'u'));
      for (int t = at; t < at + length; ++t) CHECK(w.expected[size_t(t)] == w.read[size_t(t)] + 1);
      at += length;
      if (at < 20) CHECK((length == 5 || length == 9));   // a whole file without its last token
    }
    cut.push_back(w.documents.back());
  }
  CHECK(std::count(cut.begin(), cut.end(), 5) < 50);
  CHECK(refusal([&] { of_files({"abcdef"}).packed(false, 9, rng); }) ==
        "2: documents = packed: 0 is one file, and so one document; name a folder with a file for each, or give the "
        "separator of its documents");
  CHECK(refusal([&] { of_files({"a", "b"}).packed(false, 9, rng); }).find("no document of two tokens") !=
        std::string::npos);
  // documents within a file: each document is the text between two separators of the whole file
  Source lines = of_files({"abcdef\n\n0123456789\nuvwxyz\nabcdef\n"});
  for (int n = 0; n < 50; ++n) {
    const language::Window w = lines.packed(false, 20, rng, "\\n");
    for (size_t at = 0, d = 0; d < w.documents.size(); at += size_t(w.documents[d++])) {
      CHECK((w.read[at] == 'a' || w.read[at] == '0' || w.read[at] == 'u'));
      if (d + 1 < w.documents.size()) CHECK((w.documents[d] == 5 || w.documents[d] == 9));
    }
  }
  CHECK(refusal([&] { lines.packed(true, 9, rng, "<end>"); }) ==
        "2: separator = <end>: the part of 0 for the test has none, or no whole document; "
        "give the text between documents");
  // a single file is cut for the test; a document at the cut is on neither side
  std::string stories;
  for (int n = 0; n < 1000; ++n) stories += fmt::format("{:0{}}<end>", n, 3 + 200 * (n % 37 == 0));
  const Text whole{{{"stories", int64_t(stories.size())}}, [stories](const TextFile&, int64_t from, int64_t bytes) {
                     return stories.substr(size_t(from), size_t(bytes));
                   }};
  std::vector<int> found;
  for (const Text& side : {training_text(whole), test_text(whole)}) {
    const Text documents = documents_of(side, "<end>");
    for (const TextFile& f : documents.files) found.push_back(std::stoi(documents.read(f, 0, f.bytes)));
  }
  CHECK(std::is_sorted(found.begin(), found.end()));
  CHECK(std::adjacent_find(found.begin(), found.end()) == found.end());
  CHECK(found.size() >= 999);
  CHECK(documents_of(whole, "<end>").files.size() == 1000);
  CHECK(documents_of(whole, "\n").files.empty());
  // a separator across two blocks of reading
  const std::string many = std::string((1 << 20) - 2, 'x') + "<end>yy<end>z";
  const Text long_one = documents_of({{{"long", int64_t(many.size())}},
                                      [many](const TextFile&, int64_t from, int64_t bytes) {
                                        return many.substr(size_t(from), size_t(bytes));
                                      }}, "<end>");
  REQUIRE(long_one.files.size() == 3);
  CHECK(long_one.read(long_one.files[1], 0, 2) == "yy");
  CHECK(long_one.read(long_one.files[2], 0, 1) == "z");
  Source of_prefix = of_files({"abcdef", "012"});
  of_prefix.prefix = {256};
  CHECK(of_prefix.packed(true, 20, rng).read[0] == 256);
  of_prefix.prefix = {256, 256};
  CHECK_THROWS_AS(of_prefix.packed(true, 20, rng), BadInput);
}

TEST_CASE("documents: the loss of a step or a test is the mean over all tokens of the documents alone") {
  const RunSpec c(language::configure({{"text", "copy_grammar"}, {"documents", "packed"}, {"layers", "1"},
                                       {"heads", "2"}, {"d_model", "16"}, {"d_ff", "24"}, {"batch", "3"},
                                       {"train_length", "24"},
                                       {"eval_times", "2"}, {"eval_samples", "2"}, {"repeats", "0.3"}}));
  Source source;
  source.grammar = CopyGrammar{};
  language::State state(c, source.tokens());
  const auto alone = [&](const std::vector<int>& read, const std::vector<int>& expected, const std::vector<int>& all) {
    const NoGrad still;
    double sum = 0;
    for (int d = 0, at = 0; d < int(all.size()); at += all[size_t(d)], ++d) {
      const int n = all[size_t(d)];
      const PositionSample own(choose_sampler("sequential"), Resample::per_forward, {}, 1, n);
      const Tensor logits = state.net(Ids({1, n}, span_of(read, at, at + n)), n, {own, {}});
      sum += n * double(cross_entropy(logits, Ids({1, n}, span_of(expected, at, at + n))).item());
    }
    return sum;
  };
  const Batch batch = language::draw_batch(c, source, 0);
  REQUIRE(batch.documents.size() == 3);
  double sum = 0;
  for (size_t b = 0; b < 3; ++b) {
    const auto row = [&](const Ids& all) { return std::vector<int>(all.data() + b * 24, all.data() + (b + 1) * 24); };
    sum += alone(row(batch.read), row(batch.expected), batch.documents[b]);
  }
  const language::AtLength at = language::evaluate(state, source, 48, false);
  double tested = 0;
  for (uint32_t n = 0; n < 2; ++n) {
    Rng rng(stream(uint64_t(c.whole("seed")), Purpose::test_tokens, 48, n));
    const language::Window w = source.packed(true, 48, rng);
    CHECK(w.documents.size() > 1);
    tested += alone(w.read, w.expected, w.documents);
  }
  CHECK(at.loss == doctest::Approx(tested / 96).epsilon(1e-6));
  CHECK(language::train_step(state, batch).loss == doctest::Approx(sum / 72).epsilon(1e-6));
}

}  // namespace poslab::test
