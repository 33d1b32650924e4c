#include "lab/hub/sentencepiece.h"

#include <sentencepiece_processor.h>

#include <algorithm>

#include "core/error.h"
#include "lab/hub/hf_pieces.h"
#include "lab/hub/sentencepiece_file.h"

namespace poslab {
namespace {

// <0x0A> is a byte only if the model marks it as one; a user may have defined a piece with this spelling.
std::string text_of(const sentencepiece::SentencePieceProcessor& processor, int token) {
  const std::string& piece = processor.IdToPiece(token);
  if (processor.IsUnknown(token)) return "\uFFFD";
  return processor.IsByte(token) ? std::string(1, char(std::stoi(piece.substr(3, 2), nullptr, 16)))
                                 : replaced(piece, "\u2581", " ");
}

}  // namespace

SentencePiece::SentencePiece(const std::string& bytes, const std::string& path, bool with_prefix)
    : processor_(std::make_unique<sentencepiece::SentencePieceProcessor>()) {
  check_sentencepiece_file(bytes, path);
  bool read = false;
  try {
    read = processor_->LoadFromSerializedProto(bytes).ok() && processor_->GetPieceSize() > 0;
  } catch (const std::exception&) {  // an error of sentencepiece's tree of pieces: a piece is empty
  }
  if (!read) bad_input("{} is not a tokenizer.model of sentencepiece, or is damaged; fetch it again", path);
  for (int token = 0; token < processor_->GetPieceSize(); ++token) {
    text_.push_back(text_of(*processor_, token));
    longest_ = std::max(longest_, text_.back().size());
  }
  if (const int begin = processor_->bos_id(); with_prefix && begin >= 0) prefix_ = {begin};
}

SentencePiece::~SentencePiece() = default;

const std::string& SentencePiece::text(int token) const {
  static const std::string none;
  return token >= 0 && token < size() ? text_[size_t(token)] : none;
}

TokenizedText SentencePiece::tokenize(std::string_view text, size_t most) const {
  sentencepiece::ImmutableSentencePieceText read;
  const auto status = processor_->Encode(without_cut_character(text), read.mutable_proto());
  if (!status.ok()) failure("sentencepiece could not read a text of {} bytes: {}", text.size(), status.ToString());
  TokenizedText all;
  const auto piece = [&](size_t n) { return read.pieces(int(n)); };
  for (size_t n = 0, last; n < read.pieces_size() && all.tokens.size() < most; n = last + 1) {
    // sentencepiece assigns a character's whole text to the last of its byte tokens
    const auto has_none = [&](size_t k) {
      return processor_->IsByte(int(piece(k).id())) && piece(k).begin() == piece(k).end();
    };
    for (last = n; last + 1 < read.pieces_size() && has_none(last);) ++last;
    const size_t begin = all.covered, bytes = piece(last).end() - begin;
    for (size_t k = n; k <= last && all.tokens.size() < most; ++k)
      all.add(int(piece(k).id()), begin + bytes * (k + 1 - n) / (last + 1 - n));
  }
  return all;
}

}  // namespace poslab
