// Exceptions in WebAssembly, for which Debian's C++ library has no code: the functions that clang calls for `throw` and
// `catch` (the Itanium C++ ABI, with clang's table of handlers for wasm). The machine itself unwinds the stack. Leaves
// out std::exception_ptr, throw specifications, several bases of an exception, and other languages.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <typeinfo>

#include "core/error.h"

namespace {

using Destroy = void* (*)(void*);  // in WebAssembly a destructor returns its object

struct alignas(16) Thrown {       // this lies before the object that was thrown
  const std::type_info* type;
  Destroy destroy;
  int handlers;                   // number of running handlers; below 0: thrown again, so not to be destroyed
  Thrown* outer;                  // the exception whose handler was running when this one was caught
  void* object() { return this + 1; }
};
Thrown* caught = nullptr;         // the exception of the innermost running handler

// A class with one base, as the ABI lays its type out (abi::__si_class_type_info). Other classes here have no base.
struct OneBase {
  const void* functions;
  const char* name;
  const std::type_info* base;
};
bool has_base(const std::type_info& type) {
  static const void* const functions = *reinterpret_cast<const void* const*>(&typeid(poslab::BadInput));
  return *reinterpret_cast<const void* const*>(&type) == functions;
}
bool is(const std::type_info* type, const std::type_info& wanted) {
  for (; type; type = has_base(*type) ? reinterpret_cast<const OneBase*>(type)->base : nullptr)
    if (*type == wanted) return true;
  return false;
}

uint32_t read_unsigned(const uint8_t*& at) {
  uint32_t value = 0;
  for (int shift = 0;; shift += 7) {
    value |= uint32_t(*at & 127) << shift;
    if (!(*at++ & 128)) return value;
  }
}
int32_t read_signed(const uint8_t*& at) {
  const uint8_t* const from = at;
  const uint32_t value = read_unsigned(at);
  const auto bits = int(at - from) * 7;
  return bits < 32 && at[-1] & 64 ? int32_t(value | ~uint32_t(0) << bits) : int32_t(value);
}

}  // namespace

// The caller fills this in before _Unwind_CallPersonality, which sets `selector` to the number of the catching clause.
extern "C" struct {
  uint32_t landing_pad;
  const uint8_t* table;
  uint32_t selector;
} __wasm_lpad_context = {};

extern "C" {

// Finds the clause of the landing pad that catches this type, and sets `selector`; 0: none, and the exception goes on.
int _Unwind_CallPersonality(void* thrown) {
  const uint8_t* at = __wasm_lpad_context.table;
  __wasm_lpad_context.selector = 0;
  constexpr uint8_t omitted = 0xFF;
  ++at;                                                   // skips the start of landing pads, which wasm does not need
  const uint8_t types_as = *at++;
  const uint32_t to_types = types_as == omitted ? 0 : read_unsigned(at);
  const uint8_t* const types = at + to_types;             // types lie before this address, the first one last
  ++at;                                                   // skips the encoding of the list of landing pads: LEB128
  const uint32_t length = read_unsigned(at);
  const uint8_t* const actions = at + length;
  uint32_t action = 0;
  for (uint32_t pad = 0; pad <= __wasm_lpad_context.landing_pad; ++pad) read_unsigned(at), action = read_unsigned(at);
  for (at = action ? actions + action - 1 : nullptr; at;) {
    const int32_t clause = read_signed(at);
    const uint8_t* const here = at;
    const int32_t next = read_signed(at);
    if (clause > 0) {
      const std::type_info* type;
      std::memcpy(static_cast<void*>(&type), types - 4 * clause, sizeof(void*));
      if (!type || is(static_cast<Thrown*>(thrown)->type, *type)) {
        __wasm_lpad_context.selector = uint32_t(clause);
        break;
      }
    }
    at = next ? here + next : nullptr;
  }
  return 0;
}
int __gxx_wasm_personality_v0() { std::abort(); }         // the tables name it, but nothing calls it

void* __cxa_allocate_exception(size_t bytes) noexcept {
  void* const at = std::malloc(sizeof(Thrown) + bytes);
  if (!at) std::abort();
  return static_cast<Thrown*>(at) + 1;
}
void __cxa_free_exception(void* object) noexcept { std::free(static_cast<Thrown*>(object) - 1); }

void __cxa_throw(void* object, std::type_info* type, Destroy destroy) {
  Thrown* const thrown = static_cast<Thrown*>(object) - 1;
  *thrown = {type, destroy, 0, nullptr};
  __builtin_wasm_throw(0, thrown);
}
void* __cxa_begin_catch(void* at) noexcept {
  auto* const thrown = static_cast<Thrown*>(at);
  thrown->handlers = std::abs(thrown->handlers) + 1;
  if (thrown != caught) thrown->outer = caught, caught = thrown;
  return thrown->object();
}
void* __cxa_get_exception_ptr(void* at) noexcept { return static_cast<Thrown*>(at)->object(); }
void __cxa_end_catch() {
  Thrown* const thrown = caught;
  const bool again = thrown->handlers < 0;
  thrown->handlers += again ? 1 : -1;
  if (thrown->handlers) return;
  caught = thrown->outer;
  if (again) return;
  if (thrown->destroy) thrown->destroy(thrown->object());
  __cxa_free_exception(thrown->object());
}
void __cxa_rethrow() {
  caught->handlers = -caught->handlers;
  __builtin_wasm_throw(0, caught);
}

}  // extern "C"
