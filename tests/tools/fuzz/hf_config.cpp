// config.json and generation_config.json of models in Hugging Face format.
#include "lab/hub/hf_config.h"

#include "lab/files/json.h"
#include "lab/hub/t5_hf.h"
#include "lab/hub/t5_tokens.h"
#include "tests/tools/fuzz/target.h"

namespace poslab::fuzz {

Target hf_config() {
  return {.name = "hf_config",
          .sources = {"lab/hub/hf_config.cpp", "lab/hub/hf_rope.cpp", "lab/hub/keys.cpp", "lab/hub/t5_hf_config.cpp"},
          .read =
              [](const std::string& text) {
                bool any = answered([&] { poslab::hf_config(text, "FILE"); });
                any |= answered([&] { t5::hf_config(text, "FILE"); });
                HfConfig decoder;
                any |= answered([&] { read_generation(text, "FILE", decoder); });
                t5::HfConfig writes;
                any |= answered([&] { t5::read_generation(text, "FILE", writes); });
                answered([&] { t5::extra_ids(text, "FILE"); });
                if (!any) bad_input("of no kind");
              },
          .seeds =
              [] {
                Strings all;
                for (const char* of : {"llama", "mistral", "qwen2", "llama_biases", "t5/v1_0", "t5/v1_1"})
                  all.push_back(golden(of + std::string("/config.json")));
                const Json cases = parse_json(golden("cases.json"), "cases.json");
                for (const Json& one : cases) all.push_back(one["config"].dump());
                all.push_back(R"({"eos_token_id": [1, 2], "do_sample": true, "temperature": 0.5, "top_k": 3,
                  "num_beams": 2, "length_penalty": 1.0, "early_stopping": "never", "extra_ids": 100})");
                return all;
              },
          .words =
              [] {
                return Strings{"\"rope_scaling\":{",    "\"rope_type\":\"yarn\"", "\"longrope\"",        "\"factor\":",
                               "\"attention_factor\":", "\"long_factor\":[",      "\"sliding_window\":", "null"};
              }};
}

}  // namespace poslab::fuzz
