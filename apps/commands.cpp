#include "apps/commands.h"

#include <fmt/ranges.h>

#include "apps/refuse.h"
#include "core/rounding.h"
#include "experiment/config.h"

namespace poslab {

extern const std::vector<std::pair<std::string_view, std::string_view>> help_texts;  // apps/help/

// At most one command: a later word that is another command's name may be a run's folder.
Commands::Commands(CLI::App* of) : of_(of) { of->require_subcommand(0, 1); }

std::string help_text(const std::string& command) {
  for (const auto& [name, text] : help_texts)
    if (name == command) return fmt::format("\n{}", text.substr(0, text.size() - 1));
  return "";
}

CLI::App* Commands::add(const char* name, const char* summary, std::function<void()> action) {
  CLI::App* c = of_->add_subcommand(name, summary);
  c->footer(help_text(of_->get_parent() ? of_->get_name() + "-" + name : name));
  c->allow_extras();
  actions_[c] = std::move(action);
  return c;
}

void Commands::add(const char* name, const char* summary, const Declare& declared_by) {
  CLI::App* c = add(name, summary, std::function<void()>());
  undeclared_[c] = declared_by;
  if (of_->get_parent())
    declare(c);
  else
    c->preparse_callback([this, c](size_t) { declare(c); });
}

void Commands::declare(CLI::App* c) {
  if (const auto found = undeclared_.extract(c)) actions_[c] = found.mapped()(c);
}

void Commands::declare_all() {
  while (!undeclared_.empty()) declare(undeclared_.begin()->first);
}

void Commands::act(const std::string& full_name) {
  if (!of_->remaining(true).empty()) declare_all();  // a refused word may belong to another command
  CLI::App* const chosen = chosen_command(*of_, full_name);
  refuse_empty(*chosen, full_name + " " + chosen->get_name());
  actions_.at(chosen)();
}

void add_threads(CLI::App* c, std::string& word) {
  c->add_option("--threads", word, "0: one for each core; never changes a result")->type_name("0 .. 256");
}

void add_device(CLI::App* c, std::string& word) {
  c->add_option("--device", word, option("device").help + " (as the run has it)")->type_name(option("device").takes());
}

void add_matmul(CLI::App* c, std::string& word) {
  c->add_option("--matmul", word, "rounding of factors in matrix products (as the run has it; fp32 with --hf)")
      ->type_name(fmt::format("{}", fmt::join(rounding_names, " | ")));
}

void add_width(CLI::App* c, std::string& width) {
  c->add_option("--width", width, "width of a picture in print")->type_name("column | page | MILLIMETRES  (column)");
}

void add_force(CLI::App* c, bool& force) {
  c->add_flag("--force", force,
              "run even if it seems too large for this machine's memory, or seems to take more than a month");
}

}  // namespace poslab
