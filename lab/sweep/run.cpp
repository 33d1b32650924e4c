#include "lab/sweep/run.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/error.h"
#include "core/parallel.h"
#include "lab/files.h"
#include "lab/interrupt.h"
#include "lab/progress.h"
#include "lab/sweep/board.h"
#include "lab/sweep/child.h"

namespace poslab::sweep {
namespace {
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int max_kills =
    3;  // a trial that is killed so often from outside counts as failed: too large for the memory?

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
    write_all(file_, line.dump() + "\n", path_);  // at once: lines of several workers do not mix
  }

 private:
  std::string path_, worker_;
  int file_;
};

struct Running {
  const Trial* trial;
  Claim claim;
  pid_t process;
  Clock::time_point start;
};

// What asks a process to stop, or tells it to: it is not the trial's fault.
bool stops(int signal) {
  for (int one : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGKILL})
    if (signal == one) return true;
  return false;
}

class Worker {
 public:
  Worker(const Plan& plan, const SweepFolder& folder, const Work& work)
      : folder_(folder),
        work_(work),
        journal_(folder.journal()),
        board_(plan, folder, fmt::format("shard {}/{}", work.shard.index, work.shard.of)) {
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
      else if (running_.size() < size_t(work_.jobs) && (running_.empty() || Clock::now() >= look)) {
        while (running_.size() < size_t(work_.jobs) && start_one()) continue;
        look = Clock::now() + std::chrono::seconds(1);  // what others have claimed may become free
      }
      if (running_.empty()) {
        board_.last();
        if (signal)
          throw Interrupted(signal,
                            "the sweep is stopped and what was running is saved; the same command goes on with it");
        return;
      }
      std::vector<const Trial*> ours;
      for (const Running& r : running_) ours.push_back(r.trial);
      board_.show(ours);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

 private:
  bool finished(const Trial& t) const { return fs::exists(folder_.last_file(t)) || fs::exists(folder_.failed(t)); }

  void forget_failures() {
    for (const Trial* t : open_)
      if (fs::exists(folder_.failed(*t)))
        if (const auto claim = Claim::take(folder_.path(), t->id)) fs::remove(folder_.failed(*t));
  }

  // The next trial that is neither finished nor claimed; false if there is none.
  bool start_one() {
    for (size_t left = open_.size(); left > 0; --left) {
      const Trial* t = open_.front();
      open_.pop_front();
      if (finished(*t)) continue;
      std::optional<Claim> claim = Claim::take(folder_.path(), t->id);
      if (!claim) {
        open_.push_back(t);
        continue;
      }
      if (finished(*t)) continue;  // while we claimed it
      const bool begun = fs::exists(folder_.run(*t));
      journal_.write("start", *t);
      const pid_t process = start_poslab(begun ? resume_words(*t) : train_words(*t), folder_.log(*t), claim->file());
      running_.push_back({t, *claim, process, Clock::now()});
      return true;
    }
    return false;
  }

  std::vector<std::string> resume_words(const Trial& t) const {
    std::vector<std::string> words = split(resume_command(kind_of(t.run)), ' ');
    words.insert(words.end(), {folder_.run(t), fmt::format("--threads={}", work_.threads)});
    return words;
  }
  std::vector<std::string> train_words(const Trial& t) const {
    const RunKind kind = kind_of(t.run);
    std::vector<std::string> words = split(train_command(kind), ' ');
    words.insert(words.end(), {"--out=" + folder_.run(t), fmt::format("--threads={}", work_.threads)});
    for (const KeptOption& o : kept_options(kind))
      if (const std::string value = value_of(t.run, o.name); !value.empty())
        words.push_back(dashed(o.name) + "=" + value);
    if (work_.force && kind == RunKind::task) words.push_back("--force");  // nobody estimates a language model
    return words;
  }

  void reap() {
    for (size_t i = 0; i < running_.size();)
      if (const std::optional<End> end = ended(running_[i].process)) {
        record_end(running_[i], *end);
        running_.erase(running_.begin() + std::ptrdiff_t(i));  // and with it the claim, after the record
      } else {
        ++i;
      }
  }

  void record_end(const Running& r, End end) {
    const Trial& t = *r.trial;
    if (end.status == 0 && end.signal == 0 && fs::exists(folder_.last_file(t))) {
      fs::remove(folder_.log(t));
      journal_.write("done", t);
      board_.event(TrialState::done, t, clock_time(std::chrono::duration<double>(Clock::now() - r.start).count()));
    } else if (stops(end.signal)) {
      journal_.write("stopped", t, strsignal(end.signal));
      if (caught_signal() || ++kills_[r.trial] < max_kills)
        open_.push_back(r.trial);
      else
        fail(t, fmt::format("{} times it was ended from outside, at last by signal {} ({}); if memory was short, fewer "
                            "--jobs or a smaller batch need less",
                            max_kills, end.signal, strsignal(end.signal)));
    } else {
      fail(t, why_failed(end, folder_.log(t)));
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
    for (const Running& r : running_) ::kill(r.process, SIGUSR1);
  }

  const SweepFolder& folder_;
  Work work_;
  Journal journal_;
  Board board_;
  std::deque<const Trial*> open_;
  std::vector<Running> running_;
  std::map<const Trial*, int> kills_;
  bool stop_sent_ = false;
};

}  // namespace

std::vector<TrialState> run_shard(const Plan& plan, const SweepFolder& folder, const Work& work) {
  make_folder(folder.path());
  Work whole = work;
  if (whole.threads == 0) whole.threads = std::max(1, threads() / work.jobs);
  Worker(plan, folder, whole).run();
  return states(plan, folder);
}

}  // namespace poslab::sweep
