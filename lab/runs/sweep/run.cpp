#include "lab/runs/sweep/run.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "core/error.h"
#include "core/platform/parallel.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/progress.h"
#include "lab/files/shell.h"
#include "lab/runs/sweep/board.h"
#include "lab/runs/sweep/child.h"
#include "lab/runs/sweep/population.h"

namespace poslab::sweep {
namespace {
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int max_kills =
    3;  // a trial that is killed this often from outside counts as failed; it may be too large for the memory

class Journal {
 public:
  explicit Journal(const std::string& path) : path_(path) {
    file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file_ < 0) failure("cannot write {}: {}", path, std::strerror(errno));
    char host[256] = "";
    ::gethostname(host, sizeof host - 1);
    worker_ = fmt::format("{}:{}", host, ::getpid());
  }
  ~Journal() { ::close(file_); }
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  void write(const char* event, const Trial& t, const std::string& reason = "") {
    const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    nlohmann::ordered_json line = {{"at", now}, {"worker", worker_}, {"event", event}, {"id", t.id}};
    if (!reason.empty()) line["reason"] = reason;
    write_all(file_, line.dump() + "\n", path_);  // in one call, so that lines of several workers do not mix
  }

 private:
  std::string path_, worker_;
  int file_;
};

struct Claimed {
  const Trial* trial;
  Claim claim;
};
struct Running {
  const Trial* trial;
  Claim claim;
  std::shared_ptr<Child> child;
  size_t together;  // the number of trials given to the child
  size_t left;      // remaining steps of the trial, the current one among them
  Clock::time_point start;
};

// Signals from outside that stop a process without a fault of the trial.
bool stops(int signal) {
  for (int one : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGKILL})
    if (signal == one) return true;
  return false;
}

bool ended_well(End end) { return end.status == 0 && end.signal == 0; }

class Worker {
 public:
  Worker(const Plan& plan, const SweepFolder& folder, const Work& work)
      : plan_(plan),
        folder_(folder),
        work_(work),
        journal_(folder.journal()),
        board_(plan, folder, work.shard.of == 1 ? "sweep" : "whole sweep") {
    for (const Trial* t : trials_of(plan, work.shard)) open_.push_back(t);
    if (work.retry) forget_failures();
  }

  void run() {
    catch_signals();
    Clock::time_point look{};
    for (;;) {
      reap();
      const int signal = caught_signal();
      if (signal)
        stop();
      else if (running_.empty() && work_.population)
        start_population();
      else if (running_.size() < size_t(work_.jobs) && (running_.empty() || Clock::now() >= look)) {
        while (running_.size() < size_t(work_.jobs) && start_one()) continue;
        look = Clock::now() + std::chrono::seconds(1);  // trials that others have claimed may become free
      }
      if (running_.empty()) {
        board_.last();
        if (signal)
          throw Interrupted(signal,
                            "the sweep is stopped, and its running trials are saved; the same command goes on with it");
        return;
      }
      std::vector<const Trial*> ours;
      for (const Running& r : running_) ours.push_back(r.trial);
      board_.show(ours);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

 private:
  void forget_failures() {
    for (const Trial* t : open_) {
      const bool damaged = !folder_.damage(*t).empty();
      if (!damaged && !fs::exists(folder_.failed(*t))) continue;
      const auto claim = Claim::take(folder_.path(), t->id);
      if (!claim) continue;
      fs::remove(folder_.failed(*t));
      if (damaged) forget_test(*t);
    }
  }

  // Makes the next worker test the run again, or train it again if it was restored from --kept, without weights.
  void forget_test(const Trial& t) {
    if (!fs::exists(folder_.run(t) + "/config.toml")) {
      fs::remove_all(folder_.run(t));
    } else {
      for (const std::string file : {"eval.csv", "result.json"}) fs::remove(folder_.run(t) + "/" + file);
    }
  }

  // The next trial that is neither finished nor claimed, if there is one.
  std::optional<Claimed> next() {
    for (size_t left = open_.size(); left > 0; --left) {
      const Trial* t = open_.front();
      open_.pop_front();
      if (folder_.settled(*t)) continue;
      std::optional<Claim> claim = Claim::take(folder_.path(), t->id);
      if (!claim) {
        open_.push_back(t);
        continue;
      }
      if (folder_.settled(*t)) continue;  // finished while we claimed it
      if (const std::string why = folder_.other_input(plan_, *t); !why.empty()) {
        fail(*t, why);
        continue;
      }
      return Claimed{t, *claim};
    }
    return {};
  }

  bool start_one() {
    const std::optional<Claimed> one = next();
    if (!one) return false;
    run({*one}, [&] { return next_step(*one->trial, one->claim); });
    return true;
  }
  Child next_step(const Trial& t, const Claim& claim) const {
    return Child::of_one(folder_.trained(t) ? words_of_test(t) : words_of_training(t), folder_.log(t), claim.file());
  }

  // The next population begins when this one has ended, because trials of a sweep mostly take about equally long.
  void start_population() {
    std::vector<Claimed> all;
    for (size_t most = size_t(work_.population); all.size() < most;) {
      const std::optional<Claimed> one = next();
      if (!one) break;
      if (const auto limit = together_.find(one->trial); limit != together_.end()) most = std::min(most, limit->second);
      if (all.size() < most)
        all.push_back(*one);
      else
        open_.push_back(one->trial);
    }
    if (all.empty()) return;
    Plan plan;
    std::vector<int> claims;
    for (const Claimed& one : all) plan.push_back(*one.trial), claims.push_back(one.claim.file());
    std::vector<std::string> words = {"sweep", "members", "/dev/stdin", "--out=" + folder_.path(),
                                      fmt::format("--threads={}", work_.threads)};
    if (!work_.device.empty()) words.push_back("--device=" + work_.device);
    if (work_.force) words.push_back("--force");
    run(all, [&] { return Child::of_several(words, plan_lines(plan), claims); });
  }

  template <class Start>
  void run(const std::vector<Claimed>& trials, const Start& start) {
    for (const Claimed& one : trials) journal_.write("start", *one.trial);
    const auto child = std::make_shared<Child>(start());
    for (const Claimed& one : trials) {
      const size_t left = folder_.steps_left(*one.trial);
      running_.push_back({one.trial, one.claim, child, trials.size(), left, Clock::now()});
    }
  }

  std::vector<std::string> words_of_test(const Trial& t) const {
    const TrialTest& test = *folder_.untested(t).front();
    make_folder(fs::path(folder_.run(t) + "/" + test.file).parent_path());
    std::vector<std::string> words = test.words;
    const std::string folder = "{run}";
    for (std::string& word : words)
      if (const size_t at = word.find(folder); at != word.npos)
        word.replace(at, folder.size(), path_as_word(folder_.run(t)));
    words.push_back(fmt::format("--threads={}", work_.threads));
    return words;
  }

  std::vector<std::string> words_of_training(const Trial& t) const {
    const Kind& kind = kind_of(t.run);
    const bool begun = fs::exists(folder_.run(t));
    std::vector<std::string> words = split(begun ? kind.command("resume") : kind.command("train"), ' ');
    if (begun) words.push_back(path_as_word(folder_.run(t)));
    for (const auto& [name, value] : settings_of(t, folder_, {work_.threads, work_.device, work_.force}))
      words.push_back(dashed(name) + "=" + value);
    if (work_.force) words.push_back("--force");
    return words;
  }

  void reap() {
    for (const Running& r : running_) r.child->look();
    for (size_t i = 0; i < running_.size();)
      if (const std::optional<End> end = running_[i].child->end_of(running_[i].trial->id);
          end && !goes_on(running_[i], *end)) {
        record_end(running_[i], *end);
        running_.erase(running_.begin() + std::ptrdiff_t(i));  // and releases the claim, after the record
      } else {
        ++i;
      }
  }

  // Whether a step of the trial has ended well and another one follows; begins that one.
  bool goes_on(Running& r, End end) {
    const size_t left = folder_.steps_left(*r.trial);
    if (!ended_well(end) || left == 0 || left == r.left || caught_signal()) return false;
    r.child = std::make_shared<Child>(next_step(*r.trial, r.claim));
    r.left = left;
    return true;
  }

  void record_end(const Running& r, End end) {
    const Trial& t = *r.trial;
    const bool process_died = r.together > 1 && !r.child->said_of(t.id) && !caught_signal();
    if (ended_well(end) && folder_.steps_left(t) == 0) {
      fs::remove(folder_.log(t));
      journal_.write("done", t);
      board_.event(TrialState::done, t, clock_time(std::chrono::duration<double>(Clock::now() - r.start).count()));
    } else if (process_died) {
      // An unknown trial may have ended the process: halves of the population continue, until it fails alone.
      journal_.write("stopped", t, why_failed(end, r.child->last_words()));
      together_[r.trial] = (r.together + 1) / 2;
      open_.push_back(r.trial);
    } else if (stops(end.signal) || (ended_well(end) && caught_signal())) {
      journal_.write("stopped", t, strsignal(end.signal ? end.signal : caught_signal()));
      if (caught_signal() || ++kills_[r.trial] < max_kills)
        open_.push_back(r.trial);
      else
        fail(t, fmt::format("{} times it was ended from outside, last by signal {} ({}); if memory was short, fewer "
                            "--jobs or a smaller batch need less",
                            max_kills, end.signal, strsignal(end.signal)));
    } else {
      const std::string& words = r.child->last_words();  // from a process that reported nothing on this trial
      const std::vector<const TrialTest*> left = folder_.untested(t);
      const std::string step = folder_.trained(t) && !left.empty() ? left.front()->file + ": " : "";
      fail(t, step + why_failed(end, r.child->said_of(t.id) || words.empty() ? last_line(folder_.log(t)) : words));
    }
  }

  void fail(const Trial& t, const std::string& reason) {
    write_file(folder_.failed(t), reason + "\n");
    journal_.write("failed", t, reason);
    board_.event(TrialState::failed, t, reason);
  }

  void stop() {
    if (stop_sent_) return;
    stop_sent_ = true;
    std::set<pid_t> processes;  // one signal each: a second one would prevent saving
    for (const Running& r : running_) processes.insert(r.child->process());
    for (const pid_t process : processes) ::kill(process, SIGUSR1);
  }

  const Plan& plan_;
  const SweepFolder& folder_;
  Work work_;
  Journal journal_;
  Board board_;
  std::deque<const Trial*> open_;
  std::vector<Running> running_;
  std::map<const Trial*, int> kills_;
  std::map<const Trial*, size_t> together_;  // largest population it may join; another trial may have crashed it
  bool stop_sent_ = false;
};

int trials_at_once(const Plan& plan, const Work& work) {
  if (!work.population) return work.jobs;
  const auto on_gpu = [&](const Trial* t) { return device_of(*t, {0, work.device}) != Device::cpu; };
  const std::vector<const Trial*> all = trials_of(plan, work.shard);
  return std::clamp(int(std::count_if(all.begin(), all.end(), on_gpu)), 1, work.population);
}

}  // namespace

std::vector<TrialState> run_shard(const Plan& plan, const SweepFolder& folder, const Work& work) {
  make_folder(folder.path());
  Work whole = work;
  if (whole.threads == 0) whole.threads = std::max(1, threads() / trials_at_once(plan, work));
  Worker(plan, folder, whole).run();
  return states(plan, folder);
}

}  // namespace poslab::sweep
