#include "tasks/retrieval/words.h"

#include <array>

namespace poslab {

std::string name_of(int which) {
  static const std::array<const char*, 64> adjectives = {
      "amber",  "brave",  "brief",  "bright", "brisk",  "calm",  "clever", "cloudy", "coarse", "cosy",  "crisp",
      "curved", "dense",  "dusty",  "eager",  "early",  "empty", "fancy",  "fine",   "fluffy", "fresh", "frosty",
      "gentle", "glad",   "golden", "grand",  "happy",  "heavy", "hollow", "humble", "icy",    "jolly", "keen",
      "kind",   "large",  "lively", "lucky",  "mellow", "mild",  "misty",  "modest", "narrow", "neat",  "noble",
      "pale",   "plain",  "polite", "proud",  "quiet",  "rapid", "round",  "rusty",  "salty",  "shiny", "silent",
      "smooth", "steady", "sunny",  "tall",   "tidy",   "vivid", "warm",   "windy",  "young"};
  static const std::array<const char*, 64> nouns = {
      "acorn",   "anchor", "apple",    "barrel", "basket", "beacon",  "bridge", "bucket",  "button",  "candle",
      "canoe",   "carpet", "castle",   "cellar", "chair",  "clock",   "cloud",  "comet",   "copper",  "desert",
      "dolphin", "drum",   "eagle",    "engine", "falcon", "feather", "ferry",  "forest",  "garden",  "glacier",
      "guitar",  "hammer", "harbor",   "island", "jacket", "kettle",  "ladder", "lantern", "lemon",   "marble",
      "meadow",  "mirror", "mountain", "needle", "ocean",  "orchard", "paper",  "pebble",  "pillow",  "planet",
      "quilt",   "raven",  "river",    "saddle", "sailor", "spoon",   "table",  "temple",  "thimble", "tunnel",
      "valley",  "violin", "walnut",   "window"};
  return std::string(adjectives.at(size_t(which / 64))) + "-" + nouns.at(size_t(which % 64));
}

std::string topic_of(int which) {
  static const std::array<const char*, topics> all = {
      "the care of house plants", "sailing in winter", "the history of bridges", "how bread is baked",
      "the training of dogs", "old maps and their makers", "the rules of chess", "bees and their hives",
      "travel by night train", "the science of rainbows", "learning to play the cello", "the cleaning of rivers",
      "wooden furniture", "the phases of the moon", "how glass is blown", "running a small library",
      "the birds of the coast", "painting with water colours", "the design of fountains",
      "cooking for large families", "volcanoes and hot springs", "the repair of bicycles",
      "growing tomatoes in the city", "the first telephones", "how wool is dyed", "swimming in cold lakes",
      "the sounds of whales", "building with straw and clay", "the history of postage stamps",
      "mushrooms of the forest", "lighthouses and their keepers", "how coins are made"};
  return all.at(size_t(which));
}

Rng rng_of_text(uint64_t seed) { return Rng(stream(seed, Purpose::test_tokens, 0)); }

}  // namespace poslab
