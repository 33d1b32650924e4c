// config.toml of each kind of run, and the TOML file of a sweep.
#include "experiment/kind.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/sweep/plan.h"
#include "tests/fuzz/target.h"

namespace poslab::fuzz {

Target toml() {
  return {
      .name = "toml",
      .sources = {"lab/runs/toml.cpp", "lab/runs/config_toml.cpp", "lab/runs/sweep/sweep_toml.cpp",
                  "experiment/check.cpp"},
      .read =
          [](const std::string& text) {
            bool any = answered([&] { sweep::make_plan(text, "FILE"); });
            for (const Kind* kind : all_kinds())
              any |= answered([&] {
                const Choices c = kind->configure(read_toml(text, "FILE", *kind));
                const Choices again = kind->configure(read_toml(to_toml(c), "FILE", *kind));
                must_hold(to_toml(again) == to_toml(c), "what is written reads back as the same");
                kind->check(c);
              });
            if (!any) bad_input("of no kind");
          },
      .seeds =
          [] {
            Strings all;
            for (const Kind* kind : all_kinds()) {
              const bool task = kind->studied == "task";
              const Settings about = {{"task", "even_pairs"}, {"encoding", "rope"}};
              all.push_back(to_toml(kind->configure(task ? about : Settings{})));
            }
            all.push_back(
                "preset = \"tiny\"\ntask = [\"even_pairs\", \"bucket_sort\"]\nseeds = 2\n"
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
