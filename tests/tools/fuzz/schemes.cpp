// Spellings of encodings and their compositions: each is refused, or keeps its meaning when it is spelled again.
#include "encodings/encoding.h"
#include "tests/tools/fuzz/target.h"

namespace poslab::fuzz {

Target schemes() {
  return {
      .name = "schemes",
      .sources = {"core/choices.cpp", "encodings/compose.cpp", "encodings/encoding.cpp", "encodings/calibrated.cpp"},
      .read =
          [](const std::string& text) {
            const ModelShape model{.layers = 2, .heads = 4, .d_model = 16, .pool = 64};
            const std::string shares = choose_encoding(text).spelled();
            check_law(choose_encoding(shares).spelled() == shares, "it has one spelling");
            const Chosen<Scheme> scheme = choose_encoding(text, trained_on(40));
            const std::string again = scheme.spelled();
            check_law(choose_encoding(again, trained_on(40)).spelled() == again, "it has one spelling");
            reads(scheme), finite(scheme);
            if (scheme->check) scheme->check(model, scheme.choices);
            if (scheme->pages.pictures.frequencies) scheme->pages.pictures.frequencies(model, scheme.choices, 5, 0);
            scheme->pages.shows(model, scheme.choices);
            scheme->laws(model, scheme.choices);
          },
      .seeds =
          [] {
            Strings all = names_of(all_encodings());
            for (const char* one : {"rope|none", "none*2+alibi*2", "rerope:window=0.5L,leaky=16", "sincos&alibi",
                                    "calibrated:of=all -1:0 0:0.5", "longrope:factors=1/2/3/4"})
              all.push_back(one);
            std::erase_if(all, [](const std::string& s) { return !answered([&] { schemes().read(s); }); });
            return all;
          },
      .words =
          [] {
            Strings all{"|", "*2+", "&", "0.5L", "1e16", "nan", "off"};
            for (const Scheme& s : all_encodings()) {
              all.push_back(s.name + ":");
              for (const Option& o : s.options) all.push_back(o.name + "="), all.push_back(o.standard);
            }
            std::erase(all, "");
            return all;
          },
      .longest = 400};
}

}  // namespace poslab::fuzz
