#include "core/stop.h"

#include "core/error.h"

namespace poslab {

void stop_if_requested() {
  if (stop_requested) raise<Stopped>("stopped in the middle");
}

Stoppable::Stoppable(bool enabled) : enabled_(enabled) { stoppable += enabled_; }
Stoppable::~Stoppable() { stoppable -= enabled_; }
void Stoppable::complete() {
  stoppable -= enabled_;  // first: a stop that a piece saw is then seen by the next line too
  enabled_ = false;
  stop_if_requested();
}

}  // namespace poslab
