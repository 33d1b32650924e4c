// One function for each task, defined in the file of its name. Only tasks/retrieval/all.cpp needs this.
#pragma once
#include "tasks/retrieval/retrieval.h"

namespace poslab {

Retrieval passkey_retrieval(), line_retrieval(), topic_retrieval(), document_retrieval();

}  // namespace poslab
