// Asks a trained run about given strings: prints its answers as text or as JSON, and keeps them for a page.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/ask.h"
#include "experiment/learner.h"
#include "lab/pages/ask/look.h"
#include "tasks/baselines.h"

namespace poslab::asking {

struct Options {
  int draws = 1;           // of random positions
  std::string attention;   // LAYER.HEAD, LAYER.max or max; "": not drawn
  bool json = false;
  bool page = false;       // a page is written at the end
  bool force = false;      // even if memory or time seem too large
  bool utf8 = true;        // whether the terminal shows more than ASCII
};

struct Exchange {
  Answer answer;
  Baselines baselines;     // at this length
};

// An answer to read: up to 16 answer slots as a table with percentages, more as lines with tenths of the probability.
std::string text_of(const Respondent&, const Exchange&);
// {"task", "encoding", "positions", "temperature", "input", "length", "expected", "answer", "scored", "right", "share",
//  "draws", "share_of_each_draw", "probabilities": (O, V), "baselines": {"chance", "majority", "content_only"}}
nlohmann::ordered_json json_of(const Respondent&, const Exchange&);
// An HTML page: each string with its answer, probabilities and attention maps.
std::string page_of(const std::string& run, const Respondent&, const std::string& heading,
                    const std::vector<Exchange>&);

class Session {
 public:
  Session(std::string run, Respondent, const Options&);  // throws BadInput for a missing layer or head
  std::string heading() const;                     // the model, and the positions
  // Throws BadInput if the string is not an input of the task, or is too long for the run, for a drawing of attention,
  // or for the memory.
  Tokens read(const std::string& text) const;
  Taken takes(const Tokens&) const;  // memory and time of an answer, besides the model
  // The printed answer. Throws BadInput as read().
  std::string reply(const std::string& text);
  size_t asked() const { return asked_.size(); }
  void write_page(const std::string& path) const;  // everything so far; throws Failure if it cannot be written

 private:
  Exchange ask(const Tokens& input);
  bool looks() const { return look_.layer || options_.page; }  // with the weights of attention
  std::string run_;
  Respondent respondent_;
  Options options_;
  Look look_{};
  std::vector<Exchange> asked_;
  std::map<size_t, Baselines> baselines_;          // by length
};

}  // namespace poslab::asking
