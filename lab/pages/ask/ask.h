// Asks a trained run about given strings: prints its answers as text or as JSON, and keeps them for a page.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/ask.h"
#include "experiment/learner.h"
#include "tasks/baselines.h"

namespace poslab::asking {

// The attention of an answer.
struct Look {
  int layer = 0, head = 0;  // from 1; head 0: the maximum over all heads
};

// "2.3", "2.max"; "max" is the maximum over the heads of the last layer. Throws BadInput for a layer or head that a
// pass of this many symbols does not have.
Look read_look(const std::string& text, const RunSpec&, int symbols);
std::string words_of(const Look&);  // "layer 2, head 3"

// Throws BadInput if a string has more slots than attention can be drawn for.
void check_look(int slots);
// The attention weights of the answer slots over all slots, by row. (O, T)
std::vector<double> weights(const Respondent&, const Answer&, const Look&);

// The same as a grid for a terminal, a character for each weight. Empty if it would be more than 160 columns wide.
std::string grid(const Respondent&, const Answer&, const Look&, bool utf8);

struct Options {
  int draws = 1;          // of random positions
  std::string attention;  // LAYER.HEAD, LAYER.max or max; "": not drawn
  bool json = false;
  bool page = false;   // a page is written at the end
  bool force = false;  // even if memory or time seem too large
  bool utf8 = true;    // whether the terminal shows more than ASCII
};

struct Exchange {
  Answer answer;
  Baselines baselines;  // at this length
};

// An answer to read: its slots in rows of 16, each with the probability of its symbol.
std::string text_of(const Respondent&, const Exchange&);
// A matrix as a list of this many rows.
nlohmann::json in_rows(const std::vector<double>&, size_t rows);
// {"task", "encoding", "positions", "temperature", "input", "length", "expected", "answer", "scored", "right", "share",
//  "draws", "share_of_each_draw", "probabilities": (O, V), "baselines": {"chance", "majority", "content_only"}}
nlohmann::ordered_json json_of(const Respondent&, const Exchange&);
// An HTML page: each string with its answer, probabilities and attention maps.
std::string page_of(const std::string& run, const Respondent&, const std::string& heading,
                    const std::vector<Exchange>&);

class Session {
 public:
  Session(std::string run, Respondent, const Options&);  // throws BadInput for a missing layer or head
  std::string heading() const;                           // the model, and the positions
  // Throws BadInput if the string is not an input of the task, or is too long for the run, for a drawing of attention,
  // or for the memory.
  Tokens read(const std::string& text) const;
  Taken takes(const Tokens&) const;  // memory and time of an answer, without the model's
  // The printed answer. Throws BadInput as read() does.
  std::string reply(const std::string& text);
  size_t asked() const { return asked_.size(); }
  void write_page(const std::string& path) const;  // everything so far; throws Failure if it cannot be written

 private:
  Exchange ask(const Tokens& input);
  bool looks() const { return look_.layer || options_.page; }  // whether answers need attention weights
  std::string run_;
  Respondent respondent_;
  Options options_;
  Look look_{};
  std::vector<Exchange> asked_;
  std::map<size_t, Baselines> baselines_;  // by length
};

}  // namespace poslab::asking
