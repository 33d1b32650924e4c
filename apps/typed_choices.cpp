#include "apps/typed_choices.h"

#include <algorithm>
#include <optional>

#include "lab/runs/spelled_file.h"

namespace poslab {
namespace {

std::string type_name(const Option& o, bool of_run) {
  const bool path = o.name == "text" || o.name == "out" || o.name == "from",
             any = o.kind == Option::Kind::word && o.words.empty();
  const std::string takes = path ? "PATH" : any || o.words.size() > 6 ? "NAME" : o.takes(),
                    standard = of_run ? "as the run has it" : o.standard;
  return standard.empty() ? takes : fmt::format("{}  ({})", takes, standard);
}

}  // namespace

void TypedChoices::add(CLI::App* command, const ChoiceTable& table) {
  for (const ChoiceOption& o : table.options) add(command, o, dashed(o.option.name));
}

void TypedChoices::add(CLI::App* command, const ChoiceOption& o, const std::string& words, bool of_run) {
  CLI::Option* added = command->add_option(words, o.option.help);
  added->type_name(type_name(o.option, of_run))->group(o.group);
  added->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  if (o.option.kind == Option::Kind::toggle) added->expected(0, 1);
  options_.push_back({o.option, added});
}

std::vector<std::string> TypedChoices::Typed::texts() const {
  for (const std::string& text : words->results())
    if (text.starts_with("--"))
      bad_input("{} has no value, as {} comes next; it takes {}", words->get_name(), text, words->get_type_name());
  return words->results();
}

std::string TypedChoices::typed(const std::string& name) const {
  const auto is = [&](const Typed& one) { return one.option.name == name; };
  const auto found = std::find_if(options_.begin(), options_.end(), is);
  const std::vector<std::string> all = found == options_.end() ? std::vector<std::string>() : found->texts();
  for (const std::string& text : all)
    if (text != all[0]) refuse_two_values(name, {name, all[0]}, {name, text});
  return all.empty() ? "" : all[0];
}

Settings TypedChoices::settings(const std::string& but) const {
  Settings all;
  for (const Typed& typed : options_) {
    const auto& [option, words] = typed;
    if (option.name == but) continue;
    std::optional<std::string> first;
    for (std::string text : typed.texts()) {
      if (option.name.ends_with("temperature") && !text.empty() && text.find_first_not_of("0123456789.") == text.npos)
        bad_input("temperature {0} is a number, but temperatures have names; use constant:tau={0}", text);
      const bool switch_alone = text.empty() && words->get_expected_min() == 0;
      text = switch_alone ? "on" : with_spelled_file(option.name, text);
      if (!first)
        all.emplace_back(option.name, first.emplace(text));
      else if (option.settings(text) != option.settings(*first))
        refuse_two_values(option.name, {option.name, *first}, {option.name, text});
    }
  }
  return all;
}

}  // namespace poslab
