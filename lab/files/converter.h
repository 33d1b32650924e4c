// PDF and PNG of an SVG, by rsvg-convert: librsvg and cairo keep text as text and embed its fonts. It is looked for
// when it is needed, so that the program builds and runs without it.
#pragma once
#include <string>

namespace poslab {

bool needs_converter(const std::string& path);  // .pdf, .png
// Throws BadInput, naming what to install, where a converter is needed for `path` and there is none: before any work.
void require_converter(const std::string& option, const std::string& path);

// Their sizes are those of the SVG, in print; a PNG has 300 dots per inch and says so. Throws Failure with the
// converter's own words.
std::string pdf_of(const std::string& svg);
std::string png_of(const std::string& svg);

}  // namespace poslab
