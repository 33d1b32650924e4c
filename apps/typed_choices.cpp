#include "apps/typed_choices.h"

#include <algorithm>

#include "lab/runs/spelled_file.h"

namespace poslab {
namespace {

std::string type_name(const Option& o, bool of_run) {
  const bool path = o.name == "text" || o.name == "out", any = o.kind == Option::Kind::word && o.words.empty();
  const std::string takes = path ? "PATH" : any || o.words.size() > 6 ? "NAME" : o.takes(),
                    standard = of_run ? "as the run has it" : o.standard;
  return standard.empty() ? takes : fmt::format("{}  ({})", takes, standard);
}

}  // namespace

void TypedChoices::add(CLI::App* command, const ChoiceTable& table) {
  for (const ChoiceOption& o : table.options) add(command, o, dashed(o.option.name));
}

void TypedChoices::add(CLI::App* command, const ChoiceOption& o, const std::string& words, bool of_run) {
  CLI::Option* added = command->add_option(words, text_[o.option.name], o.option.help);
  added->type_name(type_name(o.option, of_run))->group(o.group);
  added->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  if (o.option.kind == Option::Kind::toggle) added->expected(0, 1);
  options_.emplace_back(o.option.name, added);
}

std::string TypedChoices::typed(const std::string& name) const {
  const auto is = [&](const auto& one) { return one.first == name; };
  const auto found = std::find_if(options_.begin(), options_.end(), is);
  if (found == options_.end() || !found->second->count()) return "";
  const std::string& value = text_.at(name);
  if (const CLI::Option* option = found->second; value.rfind("--", 0) == 0)
    bad_input("{} has no value, as {} comes next; it takes {}", option->get_name(), value, option->get_type_name());
  return value;
}

Settings TypedChoices::settings(const std::string& but) const {
  Settings all;
  for (const auto& [name, option] : options_) {
    if (!option->count() || name == but) continue;
    const std::string value = typed(name);
    if (name.ends_with("temperature") && !value.empty() && value.find_first_not_of("0123456789.") == value.npos)
      bad_input("temperature {0}: policies have names, and {0} is a number; say constant:tau={0}", value);
    const bool switch_alone = value.empty() && option->get_expected_min() == 0;
    all.emplace_back(name, switch_alone ? "on" : with_spelled_file(name, value));
  }
  return all;
}

}  // namespace poslab
