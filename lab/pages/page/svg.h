// A picture as an SVG file of its own. A browser or an editor finds its colors in the elements themselves,
// light ones; a browser whose reader prefers dark pages takes the dark page's.
#pragma once
#include <string>
#include <string_view>

namespace poslab::page {

struct Box {
  double left, top, width, height;
};
// On the page's paper: `shapes`, drawn with classes of svg.css and the two below. Title and description: unescaped.
std::string svg_document(const Box&, const std::string& title, const std::string& description,
                         const std::string& shapes);

// & < > " ' as entities; as XML has neither, a control character as its picture, and U+FFFD for invalid UTF-8
std::string escape(std::string_view text);

// The class of a stroke in the color of a share from 0 to 1 of the range: "s0" .. "s32" of numbers on one side of 0,
// "v0" .. "v32" of those on both, whose middle is 0.
constexpr int shades = 33;
std::string shade_class(bool two_sided, double share);

}  // namespace poslab::page
