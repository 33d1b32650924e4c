#include "lab/files/exit_status.h"

#include <new>

#include "core/error.h"
#include "core/stop.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/printable.h"

namespace poslab {

int exit_status(const std::function<void()>& work, const std::function<void(const std::string&)>& say) {
  const auto stated = [&](int status, const std::string& text) {
    say(printable(text));
    return status;
  };
  try {
    work();
    return 0;
  } catch (const BadInput& e) { return stated(2, e.what()); } catch (const Interrupted& e) {
    return stated(128 + e.signal, e.what());
  } catch (const Stopped&) {
    return stated(128 + caught_signal(), "stopped before there was anything to keep");
  } catch (const std::bad_alloc&) {
    return stated(1, "out of memory; a smaller batch, d_model or length needs less");
  } catch (const std::filesystem::filesystem_error& e) {
    return stated(bad_name(e.code()) ? 2 : 1, said_by(e));
  } catch (const std::exception& e) { return stated(1, e.what()); }
}

}  // namespace poslab
