#include "lab/pages/ask/ask.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/lengths.h"
#include "lab/files/files.h"
#include "lab/files/printable.h"
#include "lab/runs/room.h"

namespace poslab::asking {
namespace {

// Fewer samples for long strings, which cost more: 500 to length 141, 40 at length 500, at least 10.
int baseline_samples(size_t length) { return int(std::clamp(1e7 / (double(length) * double(length)), 10., 500.)); }

}  // namespace

Session::Session(std::string run, Respondent respondent, const Options& options)
    : run_(std::move(run)), respondent_(std::move(respondent)), options_(options) {
  if (!options.attention.empty()) look_ = read_look(options.attention, respondent_.config, 256);
}

std::string Session::heading() const {
  const Respondent& r = respondent_;
  const RunSpec& c = r.config;
  std::string text = fmt::format("{}: {}, {} ({}), {} steps on {}{}\n", run_, c["task"], c.scheme.spelled(),
                                 c["positions"], r.steps, in_words(trained_lengths(c)), after_origin(c));
  text += fmt::format("asked under {} positions", r.positions.spelled());
  if (!r.random)
    text += "; nothing is random";
  else if (options_.draws == 1)
    text += ", draw 0: the first one in tests of this length";
  else
    text += fmt::format(", the mean over draws 0 to {}", options_.draws - 1);
  if (r.temperature.thing.name != "none") text += fmt::format("; temperature {}", r.temperature.spelled());
  return text + r.note + "\n";
}

Exchange Session::ask(const Tokens& input) {
  const RunSpec& c = respondent_.config;
  const Answer answer = respondent_.ask(input, options_.draws);
  auto known = baselines_.find(input.size());
  if (known == baselines_.end())
    known = baselines_
                .emplace(input.size(), baselines(task(c["task"]), int(input.size()), baseline_samples(input.size()),
                                                 uint64_t(c.count("seed"))))
                .first;
  return {answer, known->second};
}

Taken Session::takes(const Tokens& input) const {
  const Forward f = respondent_.forward(int(input.size()));
  return {f.bytes + (looks() ? 3 * sizeof(real) * f.heads * f.slots * f.slots : 0), options_.draws * f.flops};
}

Tokens Session::read(const std::string& text) const {
  const Respondent& r = respondent_;
  if (text.find('\0') != text.npos)  // an exception's message would end there
    bad_input("\"{}\": a NUL byte is not a symbol; take it out", printable(text));
  const Tokens input = read_input(task(r.config["task"]), text);
  r.check(input);
  if (looks()) check_look(slots(r.config, int(input.size())));
  begin({.what = "asking",
         .takes = takes(input),
         .with = fmt::format("a string of {} symbols", input.size()),
         .parameters = double(r.parameters),
         .device = r.device},
        options_.force);
  return input;
}

std::string Session::reply(const std::string& text) {
  const Tokens input = read(text);
  if (look_.layer) look_ = read_look(options_.attention, respondent_.config, int(input.size()));
  const Exchange exchange = ask(input);
  asked_.push_back(exchange);
  if (options_.json) {
    nlohmann::ordered_json all = json_of(respondent_, exchange);
    if (look_.layer)
      all["attention"] = {
          {"layer", look_.layer},
          {"head", look_.head ? nlohmann::json(look_.head) : nlohmann::json("max")},
          {"weights", in_rows(weights(respondent_, exchange.answer, look_), exchange.answer.expected.size())}};
    return all.dump() + "\n";
  }
  std::string made = text_of(respondent_, exchange);
  if (look_.layer) {
    const std::string drawn = grid(respondent_, exchange.answer, look_, options_.utf8);
    made += !drawn.empty()  ? drawn
            : options_.page ? "  the attention is too wide for a terminal; it is on the page\n"
                            : "  the attention is too wide for a terminal; -o PAGE.html draws it\n";
  }
  return made;
}

void Session::write_page(const std::string& path) const {
  write_file(path, page_of(run_, respondent_, heading(), asked_));
}

}  // namespace poslab::asking
