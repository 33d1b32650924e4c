// The options of a run as values. Spellings are parsed here, when a run begins or is opened; steps, tests and estimates
// use the values.
#pragma once
#include <any>

#include "encodings/temperature.h"
#include "experiment/choice_table.h"

namespace poslab {

class RunSpec {
 public:
  RunSpec() = default;
  explicit RunSpec(Choices);   // throws BadInput

  Chosen<Scheme> scheme;                        // with lengths such as 0.5L as numbers
  Chosen<Sampler> positions, test_positions;    // as spelled; sampler() has the form that the scheme reads
  Chosen<TemperaturePolicy> temperature, test_temperature;

  // The other options, by name, as in Choices.
  operator const Choices&() const { return choices_; }
  const std::string& operator[](const std::string& option) const { return choices_[option]; }
  bool has(const std::string& option) const { return choices_.has(option); }
  bool on(const std::string& option) const { return choices_.on(option); }
  int whole(const std::string& option) const { return choices_.whole(option); }
  int64_t count(const std::string& option) const { return choices_.count(option); }
  double number(const std::string& option) const { return choices_.number(option); }
  Lengths lengths(const std::string& option) const { return choices_.lengths(option); }
  // The value of an option that only one kind has, such as retrieval tasks, as its Option::read returned it.
  template <class T>
  const T& value(const std::string& option) const { return std::any_cast<const T&>(values_.at(option)); }
  // The same run under other options, whose spellings are read. Throws BadInput as OneSource does.
  RunSpec with(const Settings&) const;
  void set(const std::string& option, const std::string& text) { *this = with({{option, text}}); }
  void move_to(const std::string& device) { choices_.set("device", device); }   // an option that no spelling depends on

 private:
  Choices choices_;
  std::map<std::string, std::any> values_;
};

Chosen<Sampler> sampler(const RunSpec&);        // the run's positions, in the form that its encoding reads
Chosen<Sampler> test_sampler(const RunSpec&);

}  // namespace poslab
