#include "lab/exit_status.h"

#include <fmt/format.h>

#include <new>

#include "core/error.h"
#include "core/stop.h"
#include "lab/interrupt.h"

namespace poslab {

namespace {

// A name may hold what a terminal takes for a command: control characters as \x1b, but for ends of lines and tabs.
std::string harmless(const std::string& text) {
  std::string made;
  for (const char c : text)
    if ((static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') || c == 0x7f)
      made += fmt::format("\\x{:02x}", c);
    else
      made += c;
  return made;
}

}  // namespace

int exit_status(const std::function<void()>& work, const std::function<void(const std::string&)>& say) {
  const auto told = [&](int status, const std::string& text) {
    say(harmless(text));
    return status;
  };
  try {
    work();
    return 0;
  } catch (const BadInput& e) { return told(2, e.what()); } catch (const Interrupted& e) {
    return told(128 + e.signal, e.what());
  } catch (const Stopped&) {
    return told(128 + caught_signal(), "stopped before there was anything to keep");
  } catch (const std::bad_alloc&) {
    return told(1, "out of memory; a smaller batch, d_model or length needs less");
  } catch (const std::exception& e) { return told(1, e.what()); }
}

}  // namespace poslab
