#include "core/stop.h"

#include "core/error.h"

namespace poslab {

void stop_if_wanted() {
  if (stop_wanted) raise<Stopped>("stopped in the middle");
}

Stoppable::Stoppable(bool may) : may_(may) { stoppable += may_; }
Stoppable::~Stoppable() { stoppable -= may_; }
void Stoppable::complete() {
  stoppable -= may_;  // first, so that what a piece saw, the next line sees as well
  may_ = false;
  if (stop_wanted) raise<Stopped>("stopped in the middle");
}

}  // namespace poslab
