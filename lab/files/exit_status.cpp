#include "lab/files/exit_status.h"

#include <fmt/format.h>

#include <new>

#include "core/error.h"
#include "core/stop.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/printable.h"

namespace poslab {

int exit_status(const std::function<void()>& work, const std::function<void(const std::string&)>& say) {
  const auto told = [&](int status, const std::string& text) {
    say(printable(text));
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
  } catch (const std::filesystem::filesystem_error& e) {
    return told(bad_name(e.code()) ? 2 : 1, said_by(e));
  } catch (const std::exception& e) { return told(1, e.what()); }
}

}  // namespace poslab
