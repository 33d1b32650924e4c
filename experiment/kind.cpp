#include "experiment/kind.h"

#include <map>

namespace poslab {

const std::vector<const Kind*>& all_kinds() {
  static const std::vector<const Kind*> all = {&strings_kind(), &language_kind(), &t5_kind(), &answering_kind()};
  return all;
}

const Kind& kind_of(const Choices& c) {
  for (const Kind* kind : all_kinds())
    if (c.has(kind->marked_by)) return *kind;
  failure("these are not the choices of a run");
}

const Kind& kind_of_command(const std::string& train) {
  std::vector<std::string> known;
  for (const Kind* kind : all_kinds()) {
    known.push_back(kind->command("train"));
    if (train == known.back()) return *kind;
  }
  raise<BadInput>(unknown("command", train, known));
}

const std::vector<Option>& kept_options(const Kind& kind) {
  static const auto all = [] {
    std::map<std::string, std::vector<Option>> kept;
    for (const Kind* one : all_kinds())
      for (const ChoiceOption& o : one->table().options)
        if (o.kept) kept[one->name].push_back(o.option);
    return kept;
  }();
  return all.at(kind.name);
}

const Option& kept_option(const Kind& kind, const std::string& name) {
  const auto found = [&](const Kind& of) -> const Option* {
    for (const Option& o : kept_options(of))
      if (o.name == name) return &o;
    return nullptr;
  };
  if (const Option* o = found(kind)) return *o;
  for (const ChoiceOption& o : kind.table().options)
    if (o.option.name == name) bad_input("{} belongs to `poslab sweep run`, not to a trial", name);
  for (const Kind* other : all_kinds())
    if (found(*other))
      bad_input(
          "{} is an option of `poslab {}`, not of `poslab {}`; leave it out, or use that command, in a sweep with "
          "command = \"{}\"",
          name, other->command("train"), kind.command("train"), other->command("train"));
  raise<BadInput>(
      unknown("option", name, names_of(kept_options(kind)), "`poslab " + kind.command("train") + " --help`"));
}

}  // namespace poslab
