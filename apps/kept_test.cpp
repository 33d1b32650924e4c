#include "apps/kept_test.h"

#include <algorithm>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/shell.h"
#include "lab/runs/output.h"

namespace poslab {

KeptTest::KeptTest(const RunFolder& run, const Choices& own, const Choices& tested, int64_t step,
                   const std::string& file, const std::string& name)
    : run_(run), tested_(tested), step_(step), file_(file), other_{name, differing(own, tested)} {
  const Kind& kind = kind_of(own);
  if (!file.empty() && !name.empty())
    bad_input("-o {} and --name {}: the first is a file of your own, the second stands in the run; say one", file,
              name);
  if (!file.empty()) {
    check_output("-o", file, {csv_output(kind == t5_kind() ? "task,length," : "length,set,")});
    return;
  }
  const bool same_model = std::all_of(other_.options.begin(), other_.options.end(),
                                      [](const auto& o) { return o.first.starts_with("eval_"); });
  nowhere_ = !same_model && name.empty();
  if (!nowhere_) find_name(run, other_);
  if (const int all = own.whole("steps"); other_.options.empty() && step < all)
    bad_input(
        "{} is trained to step {} of {}, and eval.csv is of the end; finish it with `poslab {} {}`, or say with -o "
        "FILE where the figures go",
        run.path(), step, all, kind.command("resume"), shell_word(run.path()));
}

std::string KeptTest::again() const {
  const std::string command = test_command(kind_of(tested_), run_.path(), other_);
  return file_.empty() ? command : command + " -o " + shell_word(file_);
}

void KeptTest::keep(const std::string& csv, const std::string& table) const {
  const std::string path = !file_.empty() ? file_ : run_.file(csv_of_test(other_.name));
  if (nowhere_) {
    fmt::print("{}\nnot kept, as it is another model than the run's: --name NAME keeps it in {}, -o FILE elsewhere\n",
               table, run_.path());
    return;
  }
  if (file_.empty() && !other_.name.empty()) {
    RunRecord r = record_before(run_.file("result.json"));
    r.encoding = tested_["encoding"], r.positions = tested_["positions"], r.steps = step_;
    write_other_test(run_, other_, csv, r, tested_);
  } else {
    write_file(path, csv);
  }
  fmt::print("{}\nall of it is in {}\n", table, path);
}

}  // namespace poslab
