// For models that get another scheme or temperature after training.
#pragma once
#include <string>

#include "core/error.h"
#include "core/params.h"

namespace poslab {

// Throws BadInput if make(Params) makes parameters: a trained model cannot get new ones. kind, spelled: for the error.
template <class Make>
void require_no_parameters(const char* kind, const std::string& spelled, const Make& make) {
  const Params own(0);
  make(own);
  if (!own.entries().empty())
    bad_input(
        "{} {}: it learns parameters ({}), which a trained model does not have; "
        "train with it, or choose one that learns nothing",
        kind, spelled, own.entries()[0].name);
}

}  // namespace poslab
