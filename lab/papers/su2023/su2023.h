// The third source (Su 2023, kexue.fm/archives/9708; spec C.3): ways of stretching RoPE to unseen lengths, on language
// models. A few models are trained, and each is tested with many schemes in place of its own, without training.
#pragma once
#include "lab/files/statistics.h"
#include "lab/papers/by_commands.h"
#include "experiment/language/options.h"
#include "lab/runs/results_csv.h"

namespace poslab::reproduce::su2023 {

constexpr int stretch = 8;  // the test is at so many trained lengths: k of PI and NTK

struct Size {
  std::string name, summary;
  int seeds;
  language::Settings all, llama;  // of all runs; beside these, of that with LLaMA's blocks
  std::string note;               // what the page says of it
};
const std::vector<Size>& all_sizes();

// What a size and --set make of it.
struct Setup {
  language::Settings all, llama;
  int seeds;
  std::string note;
  int length() const;  // trained, in tokens
  int window(int eighths) const { return length() * eighths / 8; }
};
// sets: KEY=VALUE, options of `poslab lm train`, or seeds=N. Throws BadInput.
Setup setup(const std::string& size, const std::vector<std::string>& sets);

struct Model {
  std::string name;
  language::Settings settings;  // all but the seed
};
std::vector<Model> models(const Setup&);  // in the order in which they are trained

// A trained model with another scheme or temperature in its place.
struct Method {
  std::string name;  // "ReRoPE-w32-logn": as the source's tables have it, and a file's
  std::string model;
  std::string encoding = {}, temperature = {};  // "": as trained
  std::string source = {};                      // its row in the source's table, whose windows are for length 512
};
enum class LogN { off, at_test, trained };
// A scheme in place of RoPE: "NTK-RoPE" and "-fixed" make "NTK-RoPE-logn-fixed". source: the source's first half.
Method stretched(const Setup&, LogN, const std::string& name, const std::string& encoding, const std::string& end = {},
                 const std::string& source = {});
Method rerope(const Setup&, LogN, int eighths, int leaky = 0);  // window: so many eighths of the trained length
Method as_it_is(LogN);                                          // RoPE itself, "Baseline"

// The rows of the tables, and what else is tested.
std::vector<Method> main_methods(const Setup&), window_methods(const Setup&), leaky_methods(const Setup&),
    llama_methods(const Setup&), untrained_methods(const Setup&), trained_methods(const Setup&),
    length_methods(const Setup&), claim_methods(const Setup&);
Method no_distances();  // ReRoPE with w = 0: the model with RoPE, tested without positions

// What is done so far, in FOLDER/runs (run folders) and FOLDER/tests (NAME.csv for each method).
class Results {
 public:
  Results(Setup setup, std::string folder) : setup_(std::move(setup)), folder_(std::move(folder)) {}
  const Setup& setup() const { return setup_; }
  std::string run(const std::string& model, int seed) const;
  std::string test(const Method&, int seed) const;
  // By seed, of those that are done: fractions, nats a token. Throws Failure for a damaged file.
  BySeed accuracy(const Method&, int times, bool repeated) const;
  BySeed loss(const Method&, int times) const;  // not repeated

 private:
  BySeed value(const Method&, int times, bool repeated, const char* column) const;
  Setup setup_;
  std::string folder_;
  mutable std::map<std::string, poslab::Results> read_;
};

// The trainings and tests that these artifacts need, a chain for each run, by rising seed. Throws BadInput where a run
// was begun with other settings.
std::vector<Chain> chains(const std::vector<const Artifact*>&, const Results&, int threads);
std::unique_ptr<ByCommands> source(const CommandRequest&);  // throws as setup()

// What an artifact tests (null: nothing is trained), and how it is drawn.
struct Drawing {
  std::vector<Method> (*methods)(const Setup&);
  Section (*draw)(const Results&);
};
const Drawing& drawing(const Artifact&);

// The artifacts, a function each.
Section main_table(const Results&), window_table(const Results&), leaky_table(const Results&),
    llama_table(const Results&), untrained_table(const Results&), trained_table(const Results&),
    lengths_figure(const Results&), matrices_figure(const Results&), claims_list(const Results&);
// "holds" if the interval of the difference is above zero, or within +-within if that is not 0; "does not" if it is on
// the other side; otherwise "cannot be told".
std::string verdict(const BySeed& difference, double within);
std::string how(const Results&);  // "3 seeds of a decoder of 4 gated attention units ..."

}  // namespace poslab::reproduce::su2023
