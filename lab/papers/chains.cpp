#include "lab/papers/chains.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/progress.h"
#include "lab/files/shell.h"
#include "lab/runs/sweep/child.h"
#include "lab/runs/sweep/claim.h"
#include "tasks/language/text.h"

namespace poslab::reproduce {
namespace {
namespace fs = std::filesystem;

double work_left(const std::vector<Chain>& chains) {
  double all = 0;
  for (const Chain& c : chains)
    for (const Step& s : c.steps)
      if (!is_done(s)) all += s.work;
  return all;
}

struct Active {
  const Chain* chain;
  sweep::Claim claim;
  const Step* step = nullptr;  // that runs
  pid_t process = 0;
};

class Runner {
 public:
  Runner(const std::vector<Chain>& chains, const std::string& folder, int jobs)
      : chains_(chains),
        folder_(folder),
        jobs_(size_t(jobs)),
        begun_(chains.size()),
        progress_("runs and tests", "tokens", 0, int64_t(work_left(chains))) {}

  std::map<std::string, std::string> run() {
    catch_signals();
    for (;;) {
      for (size_t i = 0; i < active_.size();)
        if (goes_on(active_[i]))
          ++i;
        else
          active_.erase(active_.begin() + std::ptrdiff_t(i));
      if (caught_signal())
        stop();
      else
        while (active_.size() < jobs_ && begin_one()) continue;
      if (active_.empty()) {
        if (const int signal = caught_signal())
          throw Interrupted(signal, "stopped, and what was running is saved; the same command goes on with it");
        return failed_;
      }
      show();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

 private:
  std::string log(const Chain& c) const { return folder_ + "/" + c.name + ".log"; }

  // The next chain that is not done and that nobody else has claimed; false if there is none.
  bool begin_one() {
    for (size_t n = 0; n < chains_.size(); ++n) {
      if (begun_[n] || is_done(chains_[n])) continue;
      std::optional<sweep::Claim> claim = sweep::Claim::take(folder_, fmt::format("{:016x}", hash_of(chains_[n].name)));
      begun_[n] = true;  // by us, or by another process
      if (!claim) continue;
      active_.push_back({&chains_[n], *claim});
      if (goes_on(active_.back())) return true;
      active_.pop_back();
    }
    return false;
  }

  // Whether a chain has something that runs; begins its next step where the last one has ended.
  bool goes_on(Active& a) {
    if (a.step) {
      const std::optional<sweep::End> end = sweep::ended(a.process);
      if (!end) return true;
      const Step& ran = *a.step;
      a.step = nullptr;
      if (end->status || end->signal || !is_done(ran)) {
        if (!(caught_signal() && end->signal)) fail(*a.chain, ran, *end);
        return false;
      }
      done_ += ran.work;
    }
    const auto next = std::find_if(a.chain->steps.begin(), a.chain->steps.end(), [](auto& s) { return !is_done(s); });
    if (next == a.chain->steps.end()) fs::remove(log(*a.chain));
    if (next == a.chain->steps.end() || caught_signal()) return false;
    a.step = &*next;
    a.process = sweep::start_poslab(next->words(), log(*a.chain), a.claim.file());
    return true;
  }

  void fail(const Chain& c, const Step& s, sweep::End end) {
    const std::string reason = sweep::why_failed(end, sweep::last_line(log(c)));
    fmt::print(stderr, "{}, {}: failed: {}\n", c.name, s.name, reason);
    failed_[c.name] = fmt::format("{}: {}", s.name, reason);
  }

  void show() {
    if (!progress_.due()) return;
    std::vector<std::string> now;
    for (const Active& a : active_)
      if (a.step) now.push_back(fmt::format("{}: {}", a.chain->name, a.step->name));
    progress_.at(int64_t(done_), fmt::format("{}", fmt::join(now, "; ")));
  }

  void stop() {
    if (stop_sent_) return;
    stop_sent_ = true;
    for (const Active& a : active_)
      if (a.step) ::kill(a.process, SIGUSR1);
  }

  const std::vector<Chain>& chains_;
  const std::string& folder_;
  size_t jobs_;
  std::vector<bool> begun_;
  std::vector<Active> active_;
  std::map<std::string, std::string> failed_;
  Progress progress_;
  double done_ = 0;
  bool stop_sent_ = false;
};

}  // namespace

bool is_done(const Step& s) { return fs::exists(s.leaves); }
bool is_done(const Chain& c) {
  return std::all_of(c.steps.begin(), c.steps.end(), [](const Step& s) { return is_done(s); });
}

std::map<std::string, std::string> run_chains(const std::vector<Chain>& chains, const std::string& folder, int jobs) {
  make_folder(folder);
  return Runner(chains, folder, jobs).run();
}

}  // namespace poslab::reproduce
