// Spellings of samplers, from which positions are drawn, of temperatures, and of retrieval tasks.
#include "encodings/temperature.h"
#include "tasks/retrieval/retrieval.h"
#include "tests/tools/fuzz/target.h"

namespace poslab::fuzz {

Target samplers() {
  return {.name = "samplers",
          .sources = {"encodings/samplers.cpp", "encodings/samplers_spread.cpp", "encodings/samplers_subset.cpp",
                      "encodings/samplers_shifted.cpp", "encodings/samplers_segment.cpp", "encodings/temperature.cpp",
                      "encodings/aligned.cpp"},
          .read =
              [](const std::string& text) {
                bool any = answered([&] {
                  const Chosen<Sampler> sampler = choose_sampler(text);
                  check_law(choose_sampler(sampler.spelled()).spelled() == sampler.spelled(), "a sampler's spelling");
                  const PositionSample drawn(sampler, Resample::per_layer, stream(1, Purpose::init, 0, 0), 2, 6);
                  for (const int layer : {0, 1, 2}) drawn.at_layer(layer);
                });
                any |= answered([&] {
                  const Chosen<TemperaturePolicy> policy = choose_temperature(text);
                  check_law(choose_temperature(policy.spelled()).spelled() == policy.spelled(), "a policy's spelling");
                });
                any |= answered([&] { choose_retrievals(text); });
                if (!any) bad_input("none of them");
              },
          .seeds =
              [] {
                Strings all = names_of(all_samplers());
                for (const auto& more :
                     {names_of(all_temperatures()), names_of(all_retrievals()),
                      Strings{"randomized|sequential", "given:at=0 2.5 7 8 9 10", "randomized:max_position=64,unsorted",
                              "log_n:length=80", "aligned:of=any 64 256:0.85 1024:0.7"}})
                  all.insert(all.end(), more.begin(), more.end());
                std::erase_if(all, [](const std::string& s) { return !answered([&] { samplers().read(s); }); });
                return all;
              },
          .words =
              [] {
                Strings all{"|", "+", "0.5L", "1e300", "16777216", "off"};
                for (const Sampler& s : all_samplers())
                  for (const Option& o : s.options) all.push_back(o.name + "="), all.push_back(o.standard);
                for (const TemperaturePolicy& t : all_temperatures())
                  for (const Option& o : t.options) all.push_back(o.name + "="), all.push_back(o.standard);
                std::erase(all, "");
                return all;
              },
          .longest = 400};
}

}  // namespace poslab::fuzz
