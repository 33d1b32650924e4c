#include "lab/pages/page/heading.h"

#include <filesystem>

#include "experiment/kind.h"
#include "lab/pages/page/prose.h"
#include "lab/runs/text_source.h"

namespace poslab {

std::string heading_of(const std::string& folder, const Choices& c) {
  if (c.has("task")) return page::headed(c["task"]);
  if (std::filesystem::exists(folder + "/text.json")) return text_of(folder).path;
  return c[kind_of(c).studied];
}

}  // namespace poslab
