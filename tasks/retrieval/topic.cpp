// Topic retrieval (Li et al. 2023, LongEval): a conversation about some topics, one after the other; the question asks
// for the first.
//   record topic brave-harbor . . . topic calm-spoon . . . ask topic -> brave-harbor
#include <algorithm>

#include "core/error.h"
#include "tasks/retrieval/entries.h"
#include "tasks/retrieval/scoring.h"
#include "tasks/retrieval/symbols.h"
#include "tasks/retrieval/words.h"

namespace poslab {
namespace {

SymbolQuestion topics_as_symbols(const Choices& c, int length, Place, Rng& rng) {
  using namespace symbols;
  const int room = length - 3;  // besides the tokens record, ask and topic
  const int count = std::min(c.whole("topics"), room / 3);
  const std::vector<int> about = different(count, names, rng);
  Tokens tokens = {record};
  for (int i = 0; i < count; ++i) {
    const int own = room / count + (i < room % count);
    add(tokens, {topic, name + about[size_t(i)]});
    add_filler(tokens, own - 2, rng);
  }
  add(tokens, {ask, topic});
  return {tokens, {name + about[0]}, 0};
}

std::string conversation(const std::string& topic, int turns, Rng& rng) {
  static const char* const questions[] = {
      "What should a beginner know about {}?", "Which mistakes are common with {}?",
      "How did people come to care about {}?", "Can you name something surprising about {}?",
      "How much time does one need for {}?",   "Who could teach me more about {}?"};
  static const char* const answers[] = {
      "Much has been written about {}, and it pays to begin with the simple things.",
      "Most people who take up {} find that patience helps more than talent.",
      "There are clubs for {} in many towns, and their members like to share what they know.",
      "A good book about {} costs little, and one can learn the rest by doing."};
  std::string text;
  for (int t = 0; t < turns; ++t)
    text += fmt::format("USER: {}\nASSISTANT: {}\n",
                        fmt::format(fmt::runtime(questions[rng.below(std::size(questions))]), topic),
                        fmt::format(fmt::runtime(answers[rng.below(std::size(answers))]), topic));
  return text;
}

TextQuestion topics_as_text(const Choices& c, int count, uint64_t seed, Place) {
  if (count < 1 || count > topics) bad_input("topic: a record of {} topics; take 1 to {}", count, topics);
  Rng rng = rng_of_text(seed);
  const std::vector<int> about = different(count, topics, rng);
  std::string prompt =
      fmt::format("Here is the record of a conversation about {} topics. Memorize what they are.\n\n", count);
  for (int i = 0; i < count; ++i) {
    const std::string topic = topic_of(about[size_t(i)]);
    if (i)
      prompt += fmt::format("USER: That is enough of it. The next topic is {}.\n", topic);
    else
      prompt += fmt::format("USER: I would like to talk about {}.\n", topic);
    prompt += "ASSISTANT: With pleasure.\n" + conversation(topic, c.whole("turns"), rng);
  }
  prompt += "\nThe record ends here. What was the first topic that we talked about? Answer with its name.";
  return {prompt, {topic_of(about[0])}, 0};
}

}  // namespace

Retrieval topic_retrieval() {
  return {
      .name = "topic",
      .summary = "the first of some topics  record topic brave-harbor . . topic calm-spoon . . ask topic",
      .about = R"(The context is a conversation about some topics, one after the other, and the question asks what the
first of them was. The number of topics stays as it is when the context grows: what grows is how
much is said about each. The answer always stands at the beginning.)",
      .source = "Li et al. 2023 (LongEval); spec C.2",
      .options = {{"topics", 5, {1, topics}, "topics of a conversation; fewer if there is no room"},
                  {"turns", 8, {1, 64}, "in English: questions and answers about a topic"}},
      .placed = false,
      .draw = topics_as_symbols,
      .size = "topics",
      .write = topics_as_text,
      .right = contains_answer};
}

}  // namespace poslab
