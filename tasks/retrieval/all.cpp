// The only list of retrieval tasks. A new one needs its file, its name in tasks/retrieval/entries.h and its place here.
#include <set>

#include "core/error.h"
#include "tasks/retrieval/entries.h"

namespace poslab {

const std::vector<Retrieval>& all_retrievals() {
  static const std::vector<Retrieval> list = {passkey_retrieval(), line_retrieval(), topic_retrieval(),
                                              document_retrieval()};
  return list;
}

Chosen<Retrieval> choose_retrieval(const std::string& spelled) {
  return choose("retrieval task", all_retrievals(), spelled);
}

std::vector<Chosen<Retrieval>> choose_retrievals(const std::string& spelled) {
  std::vector<Chosen<Retrieval>> all;
  std::set<std::string> seen;
  for (const std::string& one : split(spelled, '/')) {
    all.push_back(choose_retrieval(one));
    if (!seen.insert(all.back()->name).second)
      bad_input("tasks = {}: {} comes twice; name each task once", spelled, all.back()->name);
  }
  return all;
}

SymbolQuestion draw(const Chosen<Retrieval>& task, int length, Place place, Rng& rng) {
  if (length < shortest_retrieval)
    bad_input("{}: {} tokens; a context with its question needs {} or more", task->name, length, shortest_retrieval);
  return task->draw(task.choices, length, place, rng);
}

}  // namespace poslab
