#include "apps/typed_choices.h"

#include "encodings/encoding.h"

namespace poslab {

void TypedChoices::add(CLI::App* command, const ChoiceTable& table) {
  for (const ChoiceOption& o : table.options) {
    const std::string standard = o.option.standard.empty() ? "" : "  (" + o.option.standard + ")";
    const bool path = o.option.name == "text" || o.option.name == "out";
    const std::string takes = path ? "PATH" : o.option.takes() == "text" ? "NAME" : o.option.takes();
    CLI::Option* added = command->add_option(dashed(o.option.name), text_[o.option.name], o.option.help);
    added->type_name(takes + standard)->group(o.group)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    if (o.option.kind == Option::Kind::toggle) added->expected(0, 1);
    options_.emplace_back(o.option.name, added);
  }
}

Settings TypedChoices::settings() const {
  Settings all;
  for (const auto& [name, option] : options_)
    if (option->count()) {
      const bool switch_alone = text_.at(name).empty() && option->get_expected_min() == 0;
      const std::string& text = text_.at(name);
      all.emplace_back(name, switch_alone ? "on" : name == "encoding" ? with_usual_lengths(text) : text);
    }
  return all;
}

}  // namespace poslab
