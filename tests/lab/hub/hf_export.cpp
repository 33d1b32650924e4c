// Export in Hugging Face format: the written model gives the same logits and tokens, read by poslab and, if
// tools/huggingface has made .venv-huggingface, by transformers. Models that the format cannot express are refused.
#include "encodings/checks/setup.h"
#include "lab/files/shell.h"
#include "lab/hub/hf_export.h"
#include "lab/hub/hf_model.h"
#include "lab/hub/hf_tokenizer.h"
#include "tests/lab/helpers.h"
#include "tests/lab/hub/helpers.h"

using namespace poslab;
using namespace poslab::test;

namespace {

const std::string text =
    "for (int i = 0; i < 10; ++i) std::cout << i;\n\n    the end of  it all \t\r\n 12345 caf\u00e9 "
    "\u4f60\u597d _under_score-- \n  \n   x   ";

language::Source source() {
  language::Source s;
  WordCounts counts;
  for (int n = 0; n < 3; ++n) count_words(counts, text);
  s.vocabulary = Vocabulary::learn(counts, 24);
  return s;
}

// A model whose weights differ from their initial values.
language::State trained(const language::Settings& more) {
  const Settings usual = {{"layers", "2"}, {"heads", "4"},         {"key_heads", "2"}, {"d_model", "32"},
                          {"d_ff", "40"},  {"train_length", "16"}, {"eval_times", "1"}};
  language::State s(RunSpec(language::configure(overlaid(language::all_choices(), usual, more))), source().tokens());
  uint32_t which = 0;
  for (const Params::Entry& e : s.params.entries()) {
    const Tensor moved = checks::random_tensor(e.tensor.shape(), ++which, 0.2);
    for (int64_t i = 0; i < moved.size(); ++i) e.tensor.data()[i] += moved.data()[i];
  }
  return s;
}

Tensor logits(const Decoder& net, const std::vector<int>& tokens) {
  const int T = int(tokens.size());
  const PositionSample sequential(choose_sampler("sequential"), Resample::per_forward, {}, 1, T);
  return net(Ids({1, T}, tokens), T, {sequential, {}});
}

const std::vector<std::pair<std::string, language::Settings>> exported = {
    {"rope", {}},
    {"half", {{"encoding", "rope:pairing=half,base=500000"}, {"tied", "on"}}},
    {"biases", {{"biases", "on"}}},
    {"window", {{"encoding", "window:window=6"}}},
    {"pi", {{"encoding", "pi:factor=4"}}},
    {"ntk", {{"encoding", "ntk:factor=4"}}},
    {"ntk_old", {{"encoding", "ntk:factor=4,form=old"}}},
    {"dynamic_ntk", {{"encoding", "dynamic_ntk:factor=2,length=12"}}},
    {"llama3", {{"encoding", "llama3:factor=4,length=12"}}},
    {"longrope", {{"encoding", "longrope:factor=4,length=12,long=1/2/3.5/6,short=1/1.1"}}},
    {"longrope_short", {{"encoding", "longrope:factor=4,length=4096,long=1/6,short=1/1.1/1.3/1.7,base=20000"}}},
    {"longrope_flatter", {{"encoding", "longrope:factor=4,length=12,long=1/2/3.5/6,short=1/1.1,attention=0.8"}}},
    {"yarn_flatter", {{"encoding", "yarn:factor=4,length=12,attention=0.8"}}},
    {"yarn_fast", {{"encoding", "yarn:factor=4,length=48,base=10,beta_fast=0.05,beta_slow=0.01"}}},
    {"yarn_slow", {{"encoding", "yarn:factor=4,length=16,base=100,beta_fast=40,beta_slow=20"}}},
    {"huge_base", {{"encoding", "rope:base=3e16"}}},
    {"yarn_trained", {{"encoding", "yarn:factor=4,length=1L"}}},
    {"llama3_trained", {{"encoding", "llama3:factor=4,length=1L"}}},
    {"longrope_trained", {{"encoding", "longrope:factor=4,length=1L,long=1/2/3.5/6,short=1/1.1"}}},
    {"yarn", {{"encoding", "yarn:factor=4,length=12,mscale=0.7,mscale_all_dim=0.2,truncate=off"}}},
};

}  // namespace

TEST_CASE("hf: an exported model has the same logits and tokens, also in transformers") {
  const TemporaryFolder folder;
  const std::vector<int> tokens = source().vocabulary.encode(text);
  std::string folders;
  for (const auto& [name, settings] : exported) {
    INFO(name);
    const language::State state = trained(settings);
    const std::string to = folder / name;
    language::export_hf(state, source(), to);
    const Tensor ours = logits(state.net, tokens);
    const HfModel again = open_hf_model(to);
    CHECK(checks::difference(logits(again.net, tokens), ours) < 1e-5);
    CHECK(open_hf_tokenizer(again)->encode(text) == tokens);
    if (name.ends_with("_trained"))
      CHECK(parse_json(read_file(to + "/config.json"), to)["rope_scaling"]["original_max_position_embeddings"] ==
            state.config.whole("train_length"));
    write_file(to + "/expected.json",
               Json{{"tokens", tokens}, {"logits", ours.values()}, {"text", text}, {"encoded", tokens}}.dump());
    folders += " " + shell_word(to);
  }
  read_back(folders);
}

TEST_CASE("hf: an exported tokenizer splits words as poslab's does, however long they are and whatever their blanks") {
  const Vocabulary v = source().vocabulary;
  const HfTokenizer t(language::hf_tokenizer_json(v), "tokenizer.json");
  Rng rng(stream(3, Purpose::tokens, 0));
  const std::vector<std::string> parts = {"a",
                                          "Z_",
                                          " ",
                                          "  ",
                                          "\n",
                                          "\t",
                                          "7",
                                          "42",
                                          "-",
                                          "<<",
                                          "\u00e9",
                                          "\u4f60",
                                          std::string(63, ' '),
                                          std::string(64, ' '),
                                          std::string(70, 'x'),
                                          std::string(64, '-'),
                                          std::string(65, '3'),
                                          " \n ",
                                          "~^[]\\&"};
  for (int n = 0; n < 300; ++n) {
    std::string some;
    for (int part = 0; part < 12; ++part) some += parts[size_t(rng.uniform() * double(parts.size()))];
    INFO(some);
    CHECK(t.encode(some) == v.encode(some));
  }
  // (a, bc) and (ab, c) are the same bytes
  const Vocabulary twice({{'a', 'b'}, {'b', 'c'}, {256, 'c'}, {'a', 257}});
  CHECK(holds(refusal([&] { language::hf_tokenizer_json(twice); }), "its tokens 258 and 259 have the same bytes"));
}

TEST_CASE("hf: a model that the form cannot express is refused with the reason") {
  const TemporaryFolder folder;
  const auto refused = [&](const language::Settings& settings) {
    return refusal([&] { language::export_hf(trained(settings), source(), folder / "new"); });
  };
  CHECK(holds(refused({{"unit", "gau"}, {"heads", "1"}, {"key_heads", "1"}}),
              "2: a model of gated attention units cannot be exported: no architecture of transformers has them"));
  CHECK(holds(refused({{"temperature", "log_n:length=16"}}),
              "2: temperature log_n:length=16 cannot be exported: the form"));
  CHECK(
      holds(refused({{"positions", "randomized"}}), "2: a model with positions = randomized cannot be exported"));
  for (const char* scheme : {"alibi", "rerope:window=8", "none", "ntk:form=mixed", "pi:dynamic,length=16",
                             "yarn:length=16,ramp=turns"})
    CHECK(holds(refused({{"encoding", scheme}}),
                std::string("2: encoding ") + scheme + ": a checkpoint of this form cannot express it; it can express "
                                                         "rope, abf"));
  CHECK(holds(refused({{"encoding", "window:rope=off"}}), "only window with rope can be exported"));
  CHECK(
      holds(refused({{"encoding", "window:window=6"}, {"biases", "on"}}), "with biases the form has no such windows"));
  CHECK_FALSE(std::filesystem::exists(folder / "new"));
  std::filesystem::create_directory(folder / "new");
  CHECK(refused({}) == "2: " + (folder / "new") + " exists already; choose another --to");
}
