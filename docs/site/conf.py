"""Sphinx's settings. The pages are those of the tree, in the layout of docs/site/build.py."""

import functools
import posixpath
import sys
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.addnodes import pending_xref, toctree
from sphinx.transforms.post_transforms import SphinxPostTransform

sys.path.insert(0, str(Path(__file__).parent))
import tree
from formulas import mathml
from navigation import navigation

project = "poslab"
author = "the poslab authors"
extensions = ["myst_nb"]
root_doc = "index"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 6
myst_fence_as_directive = ["math"]
nb_execution_mode = "off"
nb_merge_streams = True
highlight_language = "none"
add_module_names = False
smartquotes = False                                # two hyphens begin an option
html_theme = "furo"
html_title = "poslab"
html_static_path = ["site.css", "source.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False                   # browsers refuse to fetch it for files
html_math_renderer = "mathml"
pygments_style = "tango"
pygments_dark_style = "github-dark"


class LinksToSources(SphinxPostTransform):
    """Links to files and folders that are not pages lead to their listings (docs/site/sources.py)."""

    default_priority = 5                           # before MyST looks for them

    def run(self):
        here = posixpath.dirname(self.env.docname)
        for node in list(self.document.findall(pending_xref)):
            if node["reftype"] != "myst" or node.get("refdomain"):
                continue
            path, _, anchor = node["reftarget"].partition("#")
            place = tree.place_of(posixpath.normpath(posixpath.join(here, path)))
            if place:
                uri = posixpath.relpath(place, here) + (f"#{anchor}" if anchor else "")
                node.replace_self(nodes.reference("", "", *node.children, internal=True, refuri=uri))


def with_navigation(app, docname, source):
    """The front page is README.md; the parts of the site follow it."""
    if docname == root_doc:
        for part, pages in navigation.items():
            source[0] += "\n".join(["", "", "```{toctree}", ":hidden:", f":caption: {part}", *pages, "```", ""])


@functools.cache
def without_headings(env):
    """The contents of all pages, of which only titles and parts remain."""
    contents = {name: contents.deepcopy() for name, contents in env.tocs.items()}
    for title in (title for page in contents.values() for title in page.children if len(title) > 1):
        parts = list(title.findall(toctree))
        title[1:] = [title[1]] if parts else []
        if parts:
            title[1][:] = parts
    return contents


def with_quick_navigation(app, docname, template, context, doctree):
    """The sidebar has titles alone. Sphinx would copy the headings of all pages first, once for each page: a third of
    the time of the site."""
    def navigation_of(make=context["toctree"], **options):
        whole, app.env.tocs = app.env.tocs, without_headings(app.env)
        try:
            return make(**options)
        finally:
            app.env.tocs = whole

    context["toctree"] = navigation_of


def visit_math(self, node):
    block = isinstance(node, nodes.math_block)
    self.body.append(mathml(node.astext()) if block else convert(node.astext()))
    raise nodes.SkipNode


def setup(app):
    app.add_post_transform(LinksToSources)
    app.connect("source-read", with_navigation)
    app.connect("html-page-context", with_quick_navigation, priority=1)      # before the theme's
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
