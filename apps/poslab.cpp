// The program. It turns words into a Choices (experiment/config.h), calls lab/, and turns errors into one line and a
// status: 2 for errors of input, 1 for failures of a file or the machine, 128 + signal when stopped.
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "apps/all_commands.h"
#include "apps/command_line.h"
#include "core/debug.h"
#include "core/engine.h"
#include "core/error.h"
#include "core/platform/isa.h"
#include "core/platform/parallel.h"
#include "lab/files/exit_status.h"
#include "lab/files/progress.h"

#ifdef POSLAB_CUDA
#include "cuda/backend.h"
#endif

using namespace poslab;

namespace {

// Environment variables are read on first use. Every command refuses a bad value.
void check_environment() { debug_level(), threads(), isa(), default_engine(); }

void say(const std::string& text) {
  std::fflush(stdout);
  tell(stderr, "{} {}\n", coloured(STDERR_FILENO, Colour::red, "poslab:"), text);
}

}  // namespace

int main(int argc, char** argv) {
  reserve_standard_files();
  std::signal(SIGXFSZ, SIG_IGN);  // makes a file that grows over the user's limit an error that we can name
#ifdef POSLAB_CUDA
  add_backend(Device::cuda, cuda::as_backend());
#endif
  const auto work = [&] {
    CommandLine line;
    // The words after "complete" begin the command that is to be completed.
    if (argc > 1 && argv[1] == std::string("complete")) return complete({argv + 2, argv + argc}, line.whole());
    if (line.parse(argc, argv)) check_environment(), line.act();
    // Output that an earlier flush failed to write is lost, so a later flush cannot report it.
    if (std::fflush(stdout) != 0 || std::ferror(stdout)) failure("cannot write to the standard output");
  };
  return exit_status(work, say);
}
