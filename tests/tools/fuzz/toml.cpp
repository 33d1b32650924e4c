// config.toml of each kind of run, and the TOML file of a sweep. The first character decides how the rest is read: 0 to
// 3 as that kind, anything else as a sweep. Reading each input in all five ways took five times as long.
#include "experiment/kind.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/sweep/plan.h"
#include "tests/tools/fuzz/target.h"

namespace poslab::fuzz {

Target toml() {
  return {
      .name = "toml",
      .sources = {"lab/runs/toml.cpp", "lab/runs/config_toml.cpp", "lab/runs/sweep/sweep_toml.cpp",
                  "experiment/check.cpp"},
      .read =
          [](const std::string& text) {
            const size_t which = text.empty() ? all_kinds().size() : size_t(text[0]) - '0';
            const std::string file = text.empty() ? text : text.substr(1);
            if (which >= all_kinds().size()) return void(sweep::make_plan(file, "FILE"));
            const Kind& kind = *all_kinds()[which];
            const RunSpec c(kind.configure(read_toml(file, "FILE", kind)));
            const std::string written = to_toml(c);
            check_law(to_toml(kind.configure(read_toml(written, "FILE", kind))) == written,
                      "what is written reads back as the same");
            kind.check(c);
          },
      .seeds =
          [] {
            Strings all;
            for (const Kind* kind : all_kinds()) {
              const bool task = kind->studied == "task";
              const Settings about = {{"task", "even_pairs"}, {"encoding", "rope"}};
              all.push_back(fmt::format("{}{}", all.size(), to_toml(kind->configure(task ? about : Settings{}))));
            }
            all.push_back(
                "-preset = \"tiny\"\ntask = [\"even_pairs\", \"bucket_sort\"]\nseeds = 2\n"
                "name = \"{task}-{encoding}-{seed}\"\nencoding = \"rope\"\n[[also]]\nencoding = [\"alibi\"]\n");
            return all;
          },
      .words =
          [] {
            Strings all;
            for (const Kind* kind : all_kinds())
              for (const ChoiceOption& o : kind->table().options) all.push_back(o.option.name + " = ");
            for (const char* word : {"[[also]]", "seeds = ", "command = \"lm train\"", "'''", "\"\"\"", "inf", "nan"})
              all.push_back(word);
            return all;
          }};
}

}  // namespace poslab::fuzz
