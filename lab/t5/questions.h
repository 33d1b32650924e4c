// Retrieval tasks in English, asked of a checkpoint that others trained.
#pragma once
#include "experiment/t5/t5.h"
#include "lab/t5/hf.h"
#include "tasks/retrieval/documents.h"

namespace poslab::t5 {

// Questions from a file, a line of JSON each, as "lost in the middle" (Liu et al. 2023) publishes them:
//   {"question": "...", "answers": ["..."], "ctxs": [{"title": "...", "text": "...", "isgold": true}, ...]}
// The gold document is the one with "isgold"; where none has that key, the first with "hasanswer". Others with
// "hasanswer" are not shown. Throws BadInput with file and line.
std::vector<DocumentQuestion> read_questions(const std::string& path);

struct English {
  Chosen<Retrieval> task;
  std::vector<int> sizes;                        // what they count, the task says
  int samples = 16;                              // questions of each size, their answers evenly from front to back
  uint64_t seed = 0;
  std::vector<DocumentQuestion> questions{};     // in place of made-up ones
};
struct AtSize {
  std::string task;
  int size = 0, tokens = 0;                      // tokens of the longest prompt, its end included
  int64_t samples = 0;
  double accuracy = 0;                           // as the benchmark scores what the model says
  double accuracy_of_place[places] = {};         // NaN where no answer stood
};
// Of what the model says greedily, in at most 64 tokens, under these positions of the encoder, with a bar. Throws
// Interrupted, and BadInput for a size that the task does not have.
std::vector<AtSize> ask(const HfModel&, const English&, const Chosen<Sampler>& positions);
std::string to_csv(const std::vector<AtSize>&);  // task,size,tokens,samples,accuracy,accuracy_1,...,accuracy_8
std::string table(const std::vector<AtSize>&, const std::string& counted);

}  // namespace poslab::t5
