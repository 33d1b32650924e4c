#include "lab/runs/sweep/board.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "lab/files/printable.h"
#include "lab/files/progress.h"
#include "lab/runs/sweep/child.h"

namespace poslab::sweep {
namespace {

constexpr size_t max_running = 12,
                 max_failures = 5;  // rows of the table, which must fit on the terminal to be drawn again

int64_t steps_in(const Plan& plan, const std::vector<TrialState>& states, std::initializer_list<TrialState> which) {
  int64_t steps = 0;
  for (size_t i = 0; i < plan.size(); ++i)
    if (std::find(which.begin(), which.end(), states[i]) != which.end())
      steps += std::stoll(plan[i].run["steps"]);
  return steps;
}

}  // namespace

Board::Board(const Plan& plan, const SweepFolder& folder, std::string title)
    : plan_(plan),
      folder_(folder),
      title_(std::move(title)),
      naming_(naming(plan)),
      states_(states(plan, folder)),
      before_(steps_in(plan, states_, {TrialState::done})),
      terminal_(isatty(STDERR_FILENO)) {}

void Board::look() {
  const Claims claims(folder_.path());
  for (size_t i = 0; i < plan_.size(); ++i)
    if (states_[i] != TrialState::done) states_[i] = folder_.state(plan_[i], claims);
}

std::string Board::headline() const {
  using S = TrialState;
  const auto of = [&](std::initializer_list<S> which) { return double(steps_in(plan_, states_, which)); };
  const double now = of({S::done}) - double(before_), left = of({S::running, S::stopped, S::todo});
  std::string text = fmt::format("{}: {}", title_, to_string(count(states_)));
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  if (now > 0 && left > 0) text += fmt::format("; about {} left", clock_time(seconds * left / now));
  return text;
}

std::string Board::name_of(const Trial& t) const { return t.name.empty() ? naming_.name(values_of(t.run)) : t.name; }

void Board::event(TrialState state, const Trial& trial, const std::string& note) {
  next_ = Clock::now();
  if (terminal_) return;
  look();
  tell(stderr, "{:<7}  {}  {}  ({})\n", sweep::name_of(state), trial.id,
       printable(name_of(trial) + (note.empty() ? "" : "  ") + note), headline());
}

void Board::show(const std::vector<const Trial*>& ours) {
  if (!terminal_ || Clock::now() < next_) return;
  const Clock::time_point begun = Clock::now();
  look();
  draw(ours);
  next_ = Clock::now() + std::max<Clock::duration>(std::chrono::seconds(1), 50 * (Clock::now() - begun));
}

void Board::last() {
  if (!terminal_) return;
  look();
  draw({});
}

void Board::draw(const std::vector<const Trial*>& ours) {
  std::vector<std::string> table = {headline()};
  for (size_t i = 0; i < std::min(ours.size(), max_running); ++i)
    table.push_back(fmt::format("  running  {}  {}  {}", ours[i]->id, name_of(*ours[i]),
                                last_line(folder_.log(*ours[i]))));
  if (ours.size() > max_running) table.push_back(fmt::format("  and {} more running", ours.size() - max_running));
  size_t failures = 0;
  for (size_t i = 0; i < plan_.size(); ++i)
    if (states_[i] == TrialState::failed && ++failures <= max_failures)
      table.push_back(fmt::format("  failed   {}  {}  {}", plan_[i].id, name_of(plan_[i]),
                                  folder_.reason(plan_[i], states_[i])));
  if (failures > max_failures)
    table.push_back(fmt::format("  and {} more failed; `poslab sweep status` lists them", failures - max_failures));
  if (lines_) tell(stderr, "\033[{}A", lines_);  // up to the first line of the table
  tell(stderr, "\033[J");                        // clears the table
  for (const std::string& line : table) tell(stderr, "{}\n", printable(line).substr(0, columns() - 1));
  lines_ = table.size();
}

}  // namespace poslab::sweep
