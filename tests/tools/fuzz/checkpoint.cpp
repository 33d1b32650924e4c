// Untrusted checkpoints of poslab. The checksum is corrected first: random bytes would not match it.
#include "lab/runs/checkpoint.h"

#include <zlib.h>

#include "tests/tools/fuzz/target.h"

namespace poslab::fuzz {

Target checkpoint() {
  return {.name = "checkpoint",
          .sources = {"lab/runs/checkpoint.cpp", "experiment/state.cpp", "experiment/build.cpp", "core/params.cpp"},
          .read =
              [](const std::string& bytes) {
                std::string file = bytes;
                const std::string mark = "\"crc32\":\"", zeros = "00000000";
                if (const size_t at = file.find(mark); at != file.npos && at + 17 < file.size()) {
                  const auto data = reinterpret_cast<const Bytef*>(file.data());
                  file.replace(at + mark.size(), 8, zeros);
                  file.replace(at + mark.size(), 8, fmt::format("{:08x}", crc32_z(0, data, file.size())));
                }
                const State state = checkpoint_state(file, "FILE");
                check_law(
                    checkpoint_bytes(state) == checkpoint_bytes(checkpoint_state(checkpoint_bytes(state), "AGAIN")),
                    "a state that is saved and read again is the same");
              },
          .seeds =
              [] {
                Strings all;
                for (const char* encoding : {"rope", "learned", "none*1+t5*1"})
                  all.push_back(checkpoint_bytes(State(RunSpec(configure({{"task", "even_pairs"},
                                                                          {"encoding", encoding},
                                                                          {"layers", "1"},
                                                                          {"heads", "2"},
                                                                          {"d_model", "4"},
                                                                          {"ffn_multiplier", "1"},
                                                                          {"max_position", "16"},
                                                                          {"train_length", "4"},
                                                                          {"eval_lengths", "1:5"},
                                                                          {"steps", "2"}})))));
                return all;
              }};
}

}  // namespace poslab::fuzz
