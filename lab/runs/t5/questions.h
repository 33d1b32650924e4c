// Retrieval tasks in English, for external checkpoints.
#pragma once
#include "experiment/dispersion.h"
#include "experiment/t5/t5.h"
#include "lab/hub/t5_hf.h"
#include "tasks/retrieval/documents.h"

namespace poslab::t5 {

// Questions from a file, a line of JSON each, as "lost in the middle" (Liu et al. 2023) publishes them:
//   {"question": "...", "answers": ["..."], "ctxs": [{"title": "...", "text": "...", "isgold": true}, ...]}
// The gold document is the one with "isgold" or, without that key, the first with "hasanswer". Others with "hasanswer"
// are left out. Throws BadInput with file and line.
std::vector<DocumentQuestion> read_questions(const std::string& path);

struct English {
  Chosen<Retrieval> task;
  std::vector<int> sizes;                        // in the task's unit
  // questions of each size, with their answers spread evenly from front to back
  int samples = 16;
  uint64_t seed = 0;
  std::string file{};                         // a file of questions, in place of made-up ones
  std::vector<DocumentQuestion> questions{};  // one for each line of the file
};
// task: as spelled; file: "" for made-up questions. Throws BadInput for an unknown task, or one that takes no file.
English english(const std::string& task, const std::string& file);
// Throws BadInput for a size that the task does not have and, with file and line, for a question with too few
// documents, before anything is computed.
void check(const English&);

// Question n of a size, a function of n, the size and the seed alone.
TextQuestion written(const English&, int size, int n);
// The encoder on the prompts of these sizes, one at a time, at its own positions. Keys of a size: the mean number of
// tokens in a prompt. The model must outlive the result.
Probed probed(const HfModel&, const English&);

struct AtSize {
  std::string task;
  int size = 0, tokens = 0;                      // tokens of the longest prompt with its end
  int64_t samples = 0;
  double accuracy = 0;                           // by the benchmark's rule for the model's text
  double accuracy_of_place[places] = {};         // NaN without an answer
};
// Results of greedy answers, at most 64 tokens, under these positions of the encoder, with a progress bar. Throws
// Interrupted.
std::vector<AtSize> ask(const HfModel&, const English&, const Chosen<Sampler>& positions);
Taken asking_takes(const HfModel&, const English&);
std::string to_csv(const std::vector<AtSize>&);  // task,size,tokens,samples,accuracy,accuracy_1,...,accuracy_8
std::string table(const std::vector<AtSize>&, const std::string& counted);

}  // namespace poslab::t5
