// Replaces sentencepiece, which Debian does not have as a static library: its constructor fails with a message, and the
// other functions are never reached. They only exist so that the program links.
#include "core/error.h"

namespace poslab {

[[noreturn]] void construct() __asm__("_ZN13sentencepiece22SentencePieceProcessorC1Ev");
void construct() {
  failure("this program was linked without sentencepiece, which reads tokenizer.model; build one with it by "
          "./dev build on the system where it is to run, or give the checkpoint a tokenizer.json");
}

extern "C" void poslab_unreached() {}
#define UNREACHED(name) __asm__(".globl " name "\n.set " name ", poslab_unreached")
UNREACHED("_ZN13sentencepiece4util6StatusD1Ev");
UNREACHED("_ZNK13sentencepiece4util6Status8ToStringB5cxx11Ev");
UNREACHED("_ZN13sentencepiece26ImmutableSentencePieceTextC1Ev");
UNREACHED("_ZN13sentencepiece26ImmutableSentencePieceTextD1Ev");
UNREACHED("_ZN13sentencepiece26ImmutableSentencePieceText13mutable_protoEv");
UNREACHED("_ZNK13sentencepiece26ImmutableSentencePieceText11pieces_sizeEv");
UNREACHED("_ZNK13sentencepiece26ImmutableSentencePieceText6piecesEi");
UNREACHED("_ZNK13sentencepiece49ImmutableSentencePieceText_ImmutableSentencePiece2idEv");
UNREACHED("_ZNK13sentencepiece49ImmutableSentencePieceText_ImmutableSentencePiece5beginEv");
UNREACHED("_ZNK13sentencepiece49ImmutableSentencePieceText_ImmutableSentencePiece3endEv");

}  // namespace poslab
