#include "experiment/run_spec.h"

namespace poslab {

RunSpec::RunSpec(Choices c) : choices_(std::move(c)) {
  const RunValues run = run_values(choices_);
  const auto or_as_trained = [&](const char* option, const auto& trained, const auto& choose) {
    return !has(option) || (*this)[option] == "same" ? trained : choose((*this)[option]);
  };
  const auto read_sampler = [&](const std::string& text) { return choose_sampler(text, run); };
  const auto read_temperature = [&](const std::string& text) { return choose_temperature(text, run); };
  if (!(*this)["encoding"].empty()) scheme = choose_encoding((*this)["encoding"], run);
  positions = read_sampler((*this)["positions"]);
  test_positions = or_as_trained("test_positions", positions, read_sampler);
  temperature = read_temperature((*this)["temperature"]);
  test_temperature = or_as_trained("test_temperature", temperature, read_temperature);
  for (const Option& o : choices_.options())
    if (o.read) values_[o.name] = o.read((*this)[o.name]);
}

RunSpec RunSpec::with(const Settings& settings) const {
  OneSource changed(choices_);
  changed.add(settings);
  return RunSpec(changed.choices);
}

// `randomized` becomes a table of offsets if the scheme reads one (spec A.2), by sampler_for().
Chosen<Sampler> sampler(const RunSpec& c) { return sampler_for(c.scheme, c.positions); }
Chosen<Sampler> test_sampler(const RunSpec& c) { return sampler_for(c.scheme, c.test_positions); }

}  // namespace poslab
