#include "core/engine.h"

#include <atomic>
#include <cstdlib>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/platform/openblas.h"

namespace poslab {
namespace {

Engine require_installed(Engine e) {
  if (e == Engine::openblas) openblas();
  if (e == Engine::cublas)
    bad_input("products = cublas: cuBLAS multiplies only on a GPU; use --device cuda with it, or products = own");
#ifdef __wasm__   // core/cpu/table.cpp leaves this engine out, to keep web pages small
  if (e == Engine::naive) bad_input("products = naive: a web page has only our own kernels; use products = own");
#endif
  return e;
}

Engine of_processor() {
#if defined __x86_64__ || defined __aarch64__ || defined __arm__
  return Engine::own;
#else
  return has_openblas() ? Engine::openblas : Engine::own;
#endif
}

Engine engine_from_environment() {
  const char* text = std::getenv("POSLAB_PRODUCTS");
  if (!text) return of_processor();
  for (const Engine e : {Engine::own, Engine::openblas, Engine::naive})
    if (std::string(text) == engine_names[int(e)]) return require_installed(e);
  bad_input("POSLAB_PRODUCTS is \"{}\"; give own, openblas or naive", text);
}
std::atomic<Engine>& usual() {
  static std::atomic<Engine> e = engine_from_environment();
  return e;
}

thread_local std::optional<Engine> of_thread;

}  // namespace

Engine default_engine() { return usual(); }
void set_default_engine(Engine e) { usual() = require_installed(e); }

Engine engine() { return of_thread ? *of_thread : default_engine(); }

UseEngine::UseEngine(Engine e) : before_(std::exchange(of_thread, require_installed(e))) {}
UseEngine::~UseEngine() { of_thread = before_; }

}  // namespace poslab
