// A picture as an SVG file of its own. A browser, an editor or a converter finds its colors in the elements themselves,
// light ones; a browser whose reader prefers dark pages takes those of the dark page.
#pragma once
#include <map>
#include <string>

namespace poslab::page {

struct Key {                 // an entry of a legend
  std::string swatch, name;  // its mark, shapes in a box of 26 by 10; unescaped
};

struct Box {
  double left, top, width, height;
  // The width in print. Such a picture is for white paper and has no colors for dark pages. 0: a pixel for each unit.
  double millimetres = 0;
};
// On the page's paper: `shapes`, drawn with classes of svg.css and the two below. Title and description: unescaped.
std::string svg_document(const Box&, const std::string& title, const std::string& description,
                         const std::string& shapes);

// What svg.css says of an element with these classes on a light page: {"stroke", "#0072b2"}, ...
std::map<std::string, std::string> drawn_as(const std::string& classes);

// The class of a stroke in the color of a share from 0 to 1 of the range: "s0" .. "s32" of numbers on one side of 0,
// "v0" .. "v32" of those on both, whose middle is 0.
constexpr int shades = 33;
std::string shade_class(bool two_sided, double share);

}  // namespace poslab::page
