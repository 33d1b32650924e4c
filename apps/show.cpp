#include "lab/pages/show/show.h"

#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <type_traits>

#include "apps/all_commands.h"
#include "apps/columns.h"
#include "apps/number_option.h"
#include "core/choices.h"
#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/progress.h"
#include "lab/files/shell.h"
#include "lab/pages/page/print.h"
#include "lab/runs/output.h"
#include "lab/runs/spelled_file.h"
#include "lab/runs/unreached.h"

namespace poslab {
namespace {

constexpr size_t most_encodings = 6;  // the number of encodings in the largest set

struct ShowWords {
  show::Options options;
  int head = 1;
  std::string set, out, width;
  bool slides = false;
};

// The width of the terminal, 100 without one.
int columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 100;
}

std::string command_of(const ShowWords& w) {
  std::string text = "poslab show" + (w.set.empty() ? "" : " --set " + w.set);
  for (const std::string& e : w.options.encodings) text += " " + shell_word(e);
  const show::Options plain;
  if (w.options.positions != plain.positions) text += " --positions " + shell_word(w.options.positions);
  for (const std::string& v : w.options.views) text += " --view " + v;
  for (const auto& [name, value, standard] : {std::tuple{"length", w.options.length, plain.length},
                                              {"train-length", w.options.train_length, plain.train_length},
                                              {"heads", w.options.heads, plain.heads},
                                              {"d-model", w.options.d_model, plain.d_model},
                                              {"layer", w.options.layer, plain.layer},
                                              {"head", w.head, 1}})
    if (value != standard) text += fmt::format(" --{} {}", name, value);
  if (w.options.seed != plain.seed) text += fmt::format(" --seed {}", w.options.seed);
  if (w.options.causal) text += " --causal";
  return text + (w.slides ? " --slides" : "") + (w.out.empty() ? "" : " -o " + shell_path(w.out));
}

// Prints a note on each of the user's settings that changes no number in the views.
void tell_without_effect(const ShowWords& w, const std::vector<show::View>& all) {
  constexpr int most_slots = 256;  // above this, a second computation takes long
  const show::Options& options = w.options;
  if (options.length > most_slots) return;
  const auto say = [](const std::string& option) {
    tell(stderr, "--{} changes nothing here: without it, every number is the same\n", option);
  };
  const show::Options plain;
  const auto try_without = [&](const char* option, auto show::Options::*member) {
    if (options.*member == plain.*member) return;
    show::Options without = options;
    without.*member = plain.*member;
    try {
      if (show::csv(show::views(without)) != show::csv(all)) return;
      if constexpr (std::is_same_v<decltype(plain.*member), const bool&>)
        say(option);
      else
        say(fmt::format("{} {}", option, options.*member));
    } catch (const BadInput&) {  // Nothing can be drawn without the setting.
    }
  };
  try_without("seed", &show::Options::seed);
  try_without("layer", &show::Options::layer);
  try_without("train-length", &show::Options::train_length);
  try_without("positions", &show::Options::positions);
  try_without("length", &show::Options::length);
  try_without("heads", &show::Options::heads);
  try_without("d-model", &show::Options::d_model);
  if (w.set.empty()) try_without("causal", &show::Options::causal);
  const auto same = [&](const show::View& view) {
    return show::text(view, w.head, 100, false, true) == show::text(view, 1, 100, false, true);
  };
  if (w.head > 1 && std::all_of(all.begin(), all.end(), same)) say(fmt::format("head {}", w.head));
}

void run(ShowWords w) {
  if (w.options.encodings.empty() && w.set.empty())
    bad_input("which encoding? Name one, or several to be compared, or a set of them with --set");
  if (!w.options.encodings.empty() && !w.set.empty())
    bad_input("--set {} and {}: give the set or encodings, not both", w.set, w.options.encodings[0]);
  if (w.options.encodings.size() > most_encodings)
    bad_input("{} encodings; show draws up to {} side by side, so name fewer", w.options.encodings.size(),
              most_encodings);
  if (w.head > w.options.heads) bad_input("--head {}: there are {} heads; add --heads", w.head, w.options.heads);
  const bool page = w.out.ends_with(".html"), table = w.out.ends_with(".csv");
  if (w.head > 1 && (page || table))
    bad_input("--head {} changes nothing: {} has all heads; leave it out", w.head, w.out);
  if (w.out.empty() && !w.width.empty()) bad_input("--width {}: use -o FILE, too", shell_word(w.width));
  if (!w.out.empty()) {
    std::vector<Output> kinds = page::figure_outputs("a picture", "poslab show");
    kinds.push_back({".csv", "the numbers", "view,of,"});
    check_output("-o", w.out, kinds);
    page::check_figure(w.out, w.width);
  }
  if (w.slides && !page) bad_input("--slides: slides are a page; use -o slides.html");
  const std::string command = command_of(w);
  for (std::string& e : w.options.encodings) e = with_spelled_file("encoding", e);
  w.options.positions = with_spelled_file("positions", w.options.positions);
  if (!w.set.empty()) {
    w.options.encodings = find("set", show::all_sets(), w.set).encodings(w.options.length);
    w.options.causal = true;
    if (w.options.views.empty()) w.options.views = {"relative"};
  }
  if (w.options.views.empty() && !page && !table) w.options.views = {"bias"};  // every scheme has this view
  w.options.text = table ? 32 : 0;
  const std::vector<show::View> all = show::views(w.options);
  for (const std::string& e : w.options.encodings)
    tell_unreached({choose_encoding(e, trained_on(w.options.train_length)),
                    choose_sampler(w.options.positions, trained_on(w.options.train_length)), w.options.length});
  tell_without_effect(w, all);
  for (const show::View& view : all)
    for (const std::string& line : view.lacks)
      if (!page) tell(stderr, "{}\n", line);  // a page has the line next to the picture
  if (!w.out.empty()) {
    write_file(w.out, page    ? show::html(w.options, all, command, w.slides)
                      : table ? show::csv(all)
                              : page::figure_file(w.out, show::figures(all, w.head), w.width));
    fmt::print("{}\n", w.out);
    return;
  }
  const bool colours = isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR");
  for (const show::View& view : all) fmt::print("{}\n", show::text(view, w.head, columns(), colours, utf8_terminal()));
}

}  // namespace

std::function<void()> add_show(CLI::App* show) {
  const auto w = std::make_shared<ShowWords>();
  std::string views, of_sets;
  for (const show::ViewName& v : show::all_views()) views += fmt::format("  {:<12} {}\n", v.name, v.summary);
  for (const show::Set& s : show::all_sets()) of_sets += fmt::format("  {:<12} {}\n", s.name, s.summary);
  show->footer(fmt::format(fmt::runtime(show->get_footer()), fmt::arg("views", views), fmt::arg("sets", of_sets)));
  const auto whole = [&](const char* name, int& value, const char* help, int most) {
    add_number(show, name, value, help, {1, double(most)}, fmt::format("{}", value));
  };
  show->add_option("encoding", w->options.encodings,
                   "one encoding as it is spelled, two to be compared, or up to six side by side");
  std::vector<std::string> sets;
  for (const show::Set& s : show::all_sets()) sets.push_back(s.name);
  show->add_option("--set", w->set, "a set of encodings to compare")
      ->type_name(fmt::format("{}", fmt::join(sets, " | ")));
  show->add_option("--positions", w->options.positions, "which positions the slots have")
      ->type_name("NAME  (sequential)");
  show->add_option("--view", w->options.views, "what to look at; may be repeated")
      ->type_name("NAME")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  whole("length", w->options.length, "slots", 4096);
  whole("train-length", w->options.train_length, "slots of the longest string in training, the L of 0.5L", 4096);
  whole("heads", w->options.heads, "heads of the model", 1024);
  whole("d-model", w->options.d_model, "its width", 65536);
  whole("layer", w->options.layer, "which layer", 1024);
  whole("head", w->head, "which head, on a terminal and in a picture", 1024);
  show->add_flag("--causal", w->options.causal, "with a causal mask");
  add_number(show, "seed", w->options.seed, "seed of random positions and of initial parameters", {0, 999999999999999},
             "0");
  add_force(show, w->options.force);
  show->add_option("-o,--out", w->out,
                   "a page (.html), a picture (.svg, .pdf, .png, .pgf) or the numbers (.csv, .json)")
      ->type_name("FILE");
  add_width(show, w->width);
  show->add_flag("--slides", w->slides, "the page as slides, one picture at a time, which the arrow keys turn");
  return [=] { run(*w); };
}

}  // namespace poslab
