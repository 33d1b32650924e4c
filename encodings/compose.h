// Schemes made of schemes: choose_encoding (encodings/encoding.h) reads their spelling.
#pragma once
#include "encodings/encoding.h"

namespace poslab {

// A layer whose heads form groups. Each group attends with an encoding of its own.
struct HeadGroups : Encoding {
  std::vector<std::unique_ptr<Encoding>> parts;
  std::vector<int> heads;                             // the size of each group
  Tensor own(const Tensor& x, size_t n) const;        // the heads of group n:  (B, T, H, ...) -> (B, T, heads[n], ...)
  Heads own(const Heads&, size_t n) const;
  Tensor attend(const Heads&, const Tensor& v, const Positions&, const Span&) const override;
  Tensor weights(const Heads&, const Positions&, const Span&) const override;
  Tensor statistics(const Heads&, const Positions&, const Span&) const override;
  Tensor logits(const Heads&, const Positions&, const Span&) const override;
};

ModelShape group(ModelShape, int heads);            // the model of a group of `heads` heads
// The composition with each scheme replaced by of(scheme): "rope|none*2+alibi*6"
std::string each_part(const std::string& spelling, const std::function<std::string(const std::string&)>& of);
bool composed_spelling(const std::string& text);    // "rope|none"
// The number of schemes, or samplers, that layers take in turn: 2 for "sincos&alibi|none", 1 for "rope".
size_t parts_in_turn(const Chosen<Scheme>&);
size_t parts_in_turn(const Chosen<Sampler>&);
// Whether the scheme's layers read no position, because it only adds to the embedding.
bool embedding_alone(const Chosen<Scheme>&);
// The parts of "rope|none". Throws BadInput if one is empty. kind: for the message, "encoding"
std::vector<std::string> split_names(const std::string& kind, const std::string& text, char at);

}  // namespace poslab
