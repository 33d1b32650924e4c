#include "lab/runs/sweep/slurm.h"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "core/error.h"
#include "lab/files/shell.h"

namespace poslab::sweep {

std::string job_script(const JobArray& a) {
  const auto whole = [](const std::string& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
  };
  std::string text =
      "#!/bin/bash\n# One shard of a sweep; `poslab sweep submit` wrote this. Submit it again as often as you like: "
      "finished trials stay.\n";
  text += "#SBATCH --job-name=poslab\n";
  text += fmt::format("#SBATCH --array=0-{}\n", a.shards - 1);
  text += fmt::format("#SBATCH --ntasks=1 --cpus-per-task={}\n", a.jobs * a.threads);
  if (!a.time.empty()) text += fmt::format("#SBATCH --time={}\n", a.time);
  text += "#SBATCH --signal=B:USR1@60 --requeue --open-mode=append\n";
  text += fmt::format("#SBATCH --output=\"{}/slurm-%a.log\"\n\n", whole(a.folder));
  text += fmt::format("{} sweep run {} --out {} \\\n", shell_path(whole(a.program)), shell_path(whole(a.plan)),
                      shell_path(whole(a.folder)));
  text += fmt::format("  --shard \"$SLURM_ARRAY_TASK_ID/{}\" --jobs {} --threads {} &\n", a.shards, a.jobs, a.threads);
  text += R"(worker=$!
again=
trap 'again=yes; kill -USR1 $worker' USR1    # a minute before the time is up (--signal)
trap 'kill -USR1 $worker' TERM               # scancel
while kill -0 $worker 2> /dev/null; do       # a signal ends the wait, not the worker
  wait $worker
  status=$?
done
[[ -z $again ]] || scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
exit $status
)";
  return text;
}

void submit(const std::string& script) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execlp("sbatch", "sbatch", script.c_str(), nullptr);
    ::_exit(127);
  }
  int raw = -1;
  if (child < 0 || ::waitpid(child, &raw, 0) != child) failure("cannot start sbatch");
  if (WIFEXITED(raw) && WEXITSTATUS(raw) == 127) failure("there is no sbatch here; submit {} where Slurm is", script);
  if (raw != 0) failure("sbatch refused {}; see above", script);
}

}  // namespace poslab::sweep
