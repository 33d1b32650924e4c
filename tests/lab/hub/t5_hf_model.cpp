// T5s in Hugging Face format: states, logits, greedy answers and beam search equal those of transformers, which also
// reads our exports; missing, unknown or damaged parts are refused by name. tests/huggingface/t5_golden.py makes the
// golden files.
#include <algorithm>
#include <cmath>

#include "autograd/tape.h"
#include "core/memory.h"
#include "encodings/checks/setup.h"
#include "lab/files/safetensors.h"
#include "lab/files/shell.h"
#include "lab/hub/stored_tensors.h"
#include "lab/hub/t5_export.h"
#include "lab/hub/t5_hf.h"
#include "tests/lab/helpers.h"
#include "tests/lab/hub/helpers.h"

using namespace poslab;
using namespace poslab::test;
namespace fs = std::filesystem;

namespace {

const Json& t5_cases() {
  static const Json all = golden("t5/cases.json");
  return all;
}
t5::HfModel t5_of(const Json& of) { return t5::open_hf_model(golden_folder + "t5/" + of["name"].get<std::string>()); }

PositionSample counted(int time) { return {choose_sampler("sequential"), Resample::per_forward, {}, 1, time}; }

Ids t5_ids(const Json& rows) {
  std::vector<int> at;
  for (const Json& row : rows)
    for (const int token : row) at.push_back(token);
  return Ids({int(rows.size()), int(rows[0].size())}, at);
}
Ids t5_lengths(const Json& of) { return Ids({2}, of["lengths"].get<std::vector<int>>()); }
Tensor t5_states(const T5& net, const Json& of) {
  const Ids tokens = t5_ids(of["tokens"]);
  return net.encode(tokens, t5_lengths(of), {counted(tokens.shape()[1]), {}});
}

// The largest error in the rows `at` of x, relative to the largest expected number.
double worst_error(const Tensor& x, const std::vector<int>& at, const Json& expected) {
  double worst = 0, largest = 0;
  for (size_t n = 0; n < at.size(); ++n) {
    REQUIRE(int(expected[n].size()) == x.dim(-1));
    for (int i = 0; i < x.dim(-1); ++i) {
      const double e = expected[n][size_t(i)];
      worst = std::max(worst, std::abs(x.data()[int64_t(at[n]) * x.dim(-1) + i] - e));
      largest = std::max(largest, std::abs(e));
    }
  }
  return worst / largest;
}

// transformers pads texts at the end
std::vector<int> without_end(std::vector<int> tokens) {
  while (!tokens.empty() && tokens.back() <= 1) tokens.pop_back();
  return tokens;
}

EarlyStopping stopping(const Json& of) {
  return of == "never" ? EarlyStopping::never : of.get<bool>() ? EarlyStopping::on : EarlyStopping::off;
}

}  // namespace

TEST_CASE("t5 hf: states, logits, greedy answers and beam search equal those of transformers") {
  CHECK(t5_cases().size() == 4);
  for (const Json& of : t5_cases()) {
    INFO(of["name"]);
    const t5::HfModel model = t5_of(of);
    const Tensor states = t5_states(model.net, of);
    std::vector<int> at;
    for (const Json& slot : of["slots"]) at.push_back(int(slot[0]) * states.dim(1) + int(slot[1]));
    const double of_states = worst_error(states, at, of["states"]);
    const Ids read = t5_ids(of["read"]);
    const Tensor logits = model.net.decode(read, states, t5_lengths(of), {counted(read.shape()[1]), {}});
    const double of_logits = worst_error(logits, {0, 8, 9, 17}, of["logits"]);
    MESSAGE(of["name"].get<std::string>() << ": worst error of a state " << of_states << ", of a logit " << of_logits);
    CHECK(of_states < 1e-4);
    CHECK(of_logits < 1e-4);
    T5Generation g = model.config.writing;
    CHECK(g.ends == std::vector{1});
    g.count = of["written"];
    const auto greedy = answer(model.net, states, t5_lengths(of), g);
    for (size_t b = 0; b < greedy.size(); ++b) CHECK(without_end(greedy[b]) == of["greedy"][b].get<std::vector<int>>());
    for (const Json& search : of["searches"]) {
      g.beams = search["num_beams"], g.length_penalty = search["length_penalty"];
      g.early_stopping = stopping(search["early_stopping"]);
      INFO(g.beams, " beams, penalty ", g.length_penalty, ", early stopping ", search["early_stopping"].dump());
      const auto found = beam_search(model.net, states, t5_lengths(of), g);
      for (size_t b = 0; b < found.size(); ++b) {
        REQUIRE(!found[b].empty());
        CHECK(without_end(found[b][0].tokens) == search["answers"][b]["tokens"].get<std::vector<int>>());
        CHECK(found[b][0].score == doctest::Approx(double(search["answers"][b]["score"])).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("t5 hf: weights stay in their files, in their stored format") {
  const int64_t before = memory().bytes_requested;
  const t5::HfModel model = t5_of(t5_cases()[1]);
  CHECK(memory().bytes_requested - before < 12000);  // gains of norms, and bias tables of 32 x 3 in each layer
}

TEST_CASE("t5 hf: tokens and texts equal those of transformers") {
  const Json of = golden("t5/tokens.json");
  const t5::HfModel model = t5_of(t5_cases()[0]);
  const auto tokenizer = t5::open_hf_tokenizer(model);
  CHECK(tokenizer->size() == 100);
  for (size_t n = 0; n < of["texts"].size(); ++n) {
    const std::string text = of["texts"][n];
    INFO(text);
    const std::vector<int> tokens = t5::tokens_of(model, *tokenizer, text);
    CHECK(tokens == of["tokens"][n].get<std::vector<int>>());
  }
  CHECK(t5::text_of(model.config.spec, *tokenizer, {0, 99, 56, 20}) == "<extra_id_0> for");
  const std::vector<int> whole = of["tokens"][0];
  const std::string text = of["decoded"][0];
  CHECK(t5::text_of(model.config.spec, *tokenizer, {whole.begin(), whole.end() - 1}) == text);
}

TEST_CASE("t5 hf: tokenizer.json as transformers saves it has the tokens of spiece.model, and is preferred") {
  const Json of = golden("t5/tokens.json");
  t5::HfModel model = t5_of(t5_cases()[0]);
  const TemporaryFolder folder;
  const std::string saved = read_file(golden_folder + "t5/tokenizer.json"), path = folder / "tokenizer.json";
  model.folder = folder.path;
  write_file(path, saved);
  write_file(folder / "spiece.model", "not looked at");
  const auto tokenizer = t5::open_hf_tokenizer(model);
  CHECK(tokenizer->size() == 100);
  for (size_t n = 0; n < of["texts"].size(); ++n)
    CHECK(t5::tokens_of(model, *tokenizer, of["texts"][n]) == of["tokens"][n].get<std::vector<int>>());
  CHECK(tokenizer->encode("<pad><unk><extra_id_9>") == std::vector{0, 2, 90});
  CHECK(tokenizer->encode("a\u2028a") == tokenizer->encode("a a"));  // the character table does not change U+2028
  const auto refused = [&](const char* at, const Json& value) {
    Json all = Json::parse(saved);
    all[Json::json_pointer(at)] = value;
    write_file(path, all.dump());
    const std::string text = refusal([&] { t5::open_hf_tokenizer(model); });
    return text.substr(std::min(text.size(), text.find(path) == text.npos ? 0 : text.find(path) + path.size()));
  };
  CHECK(refused("/version", "1.0") == "");
  CHECK(holds(refused("/normalizer", {{"type", "Lowercase"}}), ": the normalizer \"Lowercase\" is not read"));
  CHECK(holds(refused("/pre_tokenizer", {{"type", "Metaspace"}}), ": the pre_tokenizer \"Metaspace\" is not read"));
  CHECK(holds(refused("/normalizer/precompiled_charsmap", "?"), "its precompiled_charsmap is not base64"));
  CHECK(holds(refused("/added_tokens/3/lstrip", true), ": the added token \"<extra_id_9>\" has lstrip"));
  CHECK(holds(refused("/model/unk_id", 1000), ": \"unk_id\" is 1000; it must be a token's number"));
  CHECK(holds(refused("/model/byte_fallback", true), ": a token model with \"byte_fallback\" is not read"));
  CHECK(holds(refused("/post_processor/special_tokens/<~1s>/ids", {7}),
              ": it puts the tokens 7 after a text, but the"));
}

TEST_CASE("t5 hf: a key that changes the mathematics is refused by name, and so is another architecture") {
  const Json plain = Json::parse(read_file(golden_folder + "t5/v1_0/config.json"));
  const auto refused = [&](const Json& changes) {
    Json config = plain;
    for (const auto& [key, value] : changes.items())
      value == "absent" ? void(config.erase(key)) : void(config[key] = value);
    return refusal([&] { t5::hf_config(config.dump(), "c"); });
  };
  CHECK(refused({}) == "");
  for (const char* key : {"scale_decoder_outputs", "is_gated_act"})
    CHECK(holds(refused({{key, nullptr}}), "it must be true or false, or left out"));
  // as in t5-small's file: some keys are absent, and others do not matter to the model
  CHECK(refused({{"dense_act_fn", "absent"},
                 {"is_gated_act", "absent"},
                 {"n_positions", 512},
                 {"output_past", true},
                 {"task_specific_params", {{"summarization", {{"num_beams", 4}}}}}}) == "");
  CHECK(refused({{"model_type", "umt5"}}) ==
        "2: c: \"model_type\" \"umt5\" is not known (architecture \"T5ForConditionalGeneration\"); `poslab t5` runs "
        "t5, and `poslab lm` LLaMA, Mistral, Qwen 2, Qwen 3, OLMo 2, Phi-3 and Gemma 3");
  CHECK(holds(refused({{"architectures", {"T5EncoderModel"}}}), "the architecture \"T5EncoderModel\" is not known"));
  CHECK(holds(refused({{"feed_forward_proj", "gated-tanh"}}), "\"feed_forward_proj\" is \"gated-tanh\"; it must be"));
  CHECK(holds(refused({{"feed_forward_proj", "gated-gelu"}}), "\"dense_act_fn\" is \"relu\"; it must be \"gelu_new\""));
  CHECK(holds(refused({{"is_encoder_decoder", false}}), "\"is_encoder_decoder\" is false; it must be true"));
  CHECK(holds(refused({{"relative_attention_num_buckets", 4}}), "c: t5: buckets = 4"));
  CHECK(refused({{"num_experts", 8}}) ==
        "2: c: the key \"num_experts\" (8) is not known, and may change what the model computes; poslab runs T5, T5 "
        "v1.1 and Flan-T5 as transformers defines them");
  CHECK(refused({{"d_model", "wide"}}) == "2: c: \"d_model\" is \"wide\"; it must be a whole number");
  t5::HfConfig c;
  t5::read_generation(R"({"num_beams": 4, "length_penalty": 0.6, "early_stopping": "never", "eos_token_id": [1, 2]})",
                      "g", c);
  CHECK(c.writing.beams == 4);
  CHECK(c.writing.early_stopping == EarlyStopping::never);
  CHECK(c.writing.ends == std::vector{1, 2});
  CHECK(c.passed_over == "");
  t5::read_generation(R"({"do_sample": true, "temperature": 0.5, "suppress_tokens": [3]})", "g", c);
  CHECK(c.passed_over ==
        "g: do_sample, temperature, suppress_tokens would change the text, but poslab ignores them");
  CHECK(refusal([&] { t5::read_generation(R"({"num_beams": 0})", "g", c); }) ==
        "2: g: t5: 0 beams; give 1 to 1024, 1 for the most probable token");
  CHECK(refusal([&] { t5::read_generation(R"({"early_stopping": "soon"})", "g", c); }) ==
        "2: g: \"early_stopping\" is \"soon\"; it must be true, false or \"never\"");
}

namespace {

// A model whose weights differ from their initial values, as after training.
struct Moved {
  Params params{3};
  T5 net;
  explicit Moved(const T5Spec& s) : net(params, s) {
    params.pack();
    uint32_t which = 0;
    for (const Params::Entry& e : params.entries()) {
      const Tensor moved = checks::random_tensor(e.tensor.shape(), ++which, 0.2);
      for (int64_t i = 0; i < moved.size(); ++i) e.tensor.data()[i] += moved.data()[i];
    }
  }
};

T5Spec t5_spec() {
  T5Spec s;
  s.vocabulary = 30, s.layers = 2, s.decoder_layers = 2, s.heads = 3, s.head_dim = 4, s.d_model = 16, s.d_ff = 20;
  return s;
}

std::string t5_refused(const std::string& folder) {
  std::string text = refusal([&] { t5::open_hf_model(folder); });
  for (size_t at; (at = text.find(folder)) != std::string::npos;) text.replace(at, folder.size(), "F");
  return text;
}

}  // namespace

TEST_CASE("t5 hf: a tensor too many, too few or of another shape is named, and so is a vocabulary that does not fit") {
  const TemporaryFolder folder;
  const std::string to = folder / "t5", file = to + "/model.safetensors",
                    bias = "decoder.block.0.layer.0.SelfAttention";
  const Moved model(t5_spec());
  t5::export_hf(model.net, model.params, {1}, to);
  CHECK(t5_refused(to) == "");
  const auto changed = [&](const auto& change) {
    std::vector<NamedTensor> all;
    for (const auto& [name, t] : map_safetensors(file)) {
      const auto* from = reinterpret_cast<const float*>(t.at);
      all.push_back({name, Tensor::from(t.shape, std::vector<float>(from, from + size_of(t.shape)))});
    }
    change(all);
    const std::string whole = read_file(file);
    write_file(file, safetensors_bytes<float>({{"format", "pt"}}, all));
    const std::string said = t5_refused(to);
    write_file(file, whole);
    return said;
  };
  const auto find = [](auto& all, const std::string& name) {
    return std::find_if(all.begin(), all.end(), [&](const NamedTensor& t) { return t.name == name; });
  };
  CHECK(changed([&](auto& all) { all.erase(find(all, bias + ".relative_attention_bias.weight")); }) ==
        "2: F has no tensor decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight, which F/config.json "
        "asks for");
  CHECK(changed([&](auto& all) {
          find(all, bias + ".q.weight")->values = Tensor::full({12, 8}, 1);
        }) ==
        "2: F/model.safetensors: the tensor decoder.block.0.layer.0.SelfAttention.q.weight is (12, 8), but "
        "F/config.json requires (12, 16)");
  CHECK(holds(
      changed([&](auto& all) {
        all.push_back({bias + ".q.bias", Tensor::full({12}, 1)});
      }),
      "F/model.safetensors has a tensor decoder.block.0.layer.0.SelfAttention.q.bias (12), which the model of"));
  // tied weights are one matrix, under whichever of its names it is stored
  const auto with = [&](const char* name, double times) {
    return changed([&, name, times](auto& all) {
      const Tensor shared = find(all, "shared.weight")->values;
      std::vector<real> values = shared.values();
      for (real& x : values) x *= real(times);
      all.push_back({name, Tensor::from(shared.shape(), values)});
    });
  };
  for (const char* stack : {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight"}) {
    CHECK(with(stack, 1) == "");
    CHECK(with(stack, 2) ==
          fmt::format("2: F/model.safetensors: the tensor {} differs from shared.weight, but F/config.json gives "
                      "the model one matrix for both; save it with equal ones, or without {}", stack, stack));
  }
  CHECK(changed([&](auto& all) {
          const auto head = find(all, "lm_head.weight");
          if (head != all.end()) all.erase(head);
          find(all, "shared.weight")->name = "lm_head.weight";
        }) == "");
  CHECK(changed([&](auto& all) { find(all, "shared.weight")->name = "encoder.embed_tokens.weight"; }) == "");
  fs::copy_file(golden_folder + "t5/v1_0/spiece.model", to + "/spiece.model");
  CHECK(
      holds(refusal([&] { t5::open_hf_tokenizer(t5::open_hf_model(to)); }),
            "spiece.model has tokens up to 89, but its config.json gives the model 30: they do not belong together"));
  fs::remove(to + "/spiece.model");
  CHECK(
      holds(refusal([&] { t5::open_hf_tokenizer(t5::open_hf_model(to)); }), "has no spiece.model and no tokenizer.j"));
}

TEST_CASE("t5 hf: an exported model has the same logits, also in transformers") {
  const TemporaryFolder folder;
  std::string folders;
  for (const std::string name : {"v1_0", "gated", "untied", "gated_untied", "uneven"}) {
    INFO(name);
    T5Spec s = t5_spec();
    if (holds(name, "gated")) s.gate = Activation::gelu_tanh;
    if (holds(name, "untied")) s.tied = false;
    if (name == "uneven")
      s.decoder_layers = 1, s.scaled = false, s.encoding = choose_encoding("t5:unscaled,buckets=16");
    const Moved model(s);
    const std::string to = folder / name;
    t5::export_hf(model.net, model.params, {1}, to);
    const Ids tokens = Ids({1, 5}, {3, 9, 27, 4, 1}), read({1, 4}, {0, 8, 29, 2});
    const auto logits = [&](const T5& net) {
      return net.decode(read, net.encode(tokens, {}, {counted(5), {}}), {}, {counted(4), {}});
    };
    const NoGrad still;
    const Tensor ours = logits(model.net);
    CHECK(checks::difference(logits(t5::open_hf_model(to).net), ours) < 1e-5);
    write_file(to + "/expected.json",
               Json{{"tokens", {3, 9, 27, 4, 1}}, {"read", {0, 8, 29, 2}}, {"logits", ours.values()}}.dump());
    folders += " " + shell_word(to);
  }
  const Moved rope([] {
    T5Spec s = t5_spec();
    s.encoding = choose_encoding("rope");
    return s;
  }());
  CHECK(refusal([&] { t5::export_hf(rope.net, rope.params, {1}, folder / "rope"); }) ==
        "2: a T5 with encoding rope cannot be exported: the form has only T5's biases without 1 / sqrt(D); train "
        "with t5:unscaled");
  CHECK(!fs::exists(folder / "rope"));
  read_back(folders);
}
