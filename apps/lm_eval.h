// `poslab lm eval`: a run or an external checkpoint is tested, also with other encodings, one or several side by side.
#pragma once
#include "apps/commands.h"

namespace poslab {

// Whether --hf is given in place of a run. Throws BadInput for both or neither, naming the command, "eval", and for a
// path that is not a folder.
bool external(const std::string& run, const std::string& hf, const char* command);
void use_threads(const std::string& word);  // of --threads: "" or 0 leave them as they are. Throws BadInput
void add_lm_eval(Commands&);

}  // namespace poslab
