// Questions about several documents; one of them holds the answer (Liu et al. 2023, "Lost in the middle").
#pragma once
#include "tasks/retrieval/retrieval.h"

namespace poslab {

struct Document {
  std::string title, text;
  bool gold = false;                             // holds the answer
  bool shown = true;                             // may appear with the gold document in a prompt
};
struct DocumentQuestion {
  std::string question;
  std::vector<std::string> answers;
  std::vector<Document> documents;
};
// The prompt with the question, its first gold document and the first count - 1 other documents; `place` is the gold
// document's. Throws BadInput if there is no gold document or there are too few other documents.
TextQuestion ask_of_documents(const DocumentQuestion&, int count, Place, Rng&);

}  // namespace poslab
