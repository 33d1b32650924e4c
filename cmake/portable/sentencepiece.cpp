// In place of sentencepiece, of which Debian has no static library: its constructor says so, and nothing else of it is
// reached. The names are those that the linker asks for.
#include "core/error.h"

namespace poslab {

[[noreturn]] void construct() __asm__("_ZN13sentencepiece22SentencePieceProcessorC1Ev");
void construct() {
  failure("this program was linked without sentencepiece, which reads tokenizer.model; one with it is made by "
          "./dev build, on the system that it is to run on, or give the checkpoint a tokenizer.json");
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
