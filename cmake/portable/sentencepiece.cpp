// In place of sentencepiece, of which Debian has no static library: its constructor says so, and nothing else of it is
// reached. The names are those that the linker asks for.
#include "core/error.h"

namespace poslab {

[[noreturn]] void construct() __asm__("_ZN13sentencepiece22SentencePieceProcessorC1Ev");
void construct() {
  failure("this program was linked without sentencepiece, which reads tokenizer.model; one with it is made by "
          "./dev build, on the system that it is to run on, or give the checkpoint a tokenizer.json");
}
void destroy_status() __asm__("_ZN13sentencepiece4util6StatusD1Ev");
void destroy_status() {}
void status_text() __asm__("_ZNK13sentencepiece4util6Status8ToStringB5cxx11Ev");
void status_text() {}

}  // namespace poslab
