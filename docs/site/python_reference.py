"""The Python reference: every public name of the built module with its signature and its docstring, as Markdown."""

import inspect
import re
import sys

import poslab
from split import as_markdown

ENGINE = "poslab._poslab"
CHOSEN = poslab.chosen.Chosen.__subclasses__()


def with_defaults(text, defaults):
    """The engine's signatures have a backslash and a number in place of a default."""
    def shown(m):
        value = defaults[int(m.group(1))]
        return repr(value) if isinstance(value, (bool, int, float, str, type(None))) else "..."
    return re.sub(r"\\(\d+)", shown, text)


def signatures(name, thing):
    """[(signature, docstring)], one for each signature of an engine's function."""
    called = thing.__init__ if isinstance(thing, type) else thing    # type: ignore[misc]
    if hasattr(called, "__nb_signature__"):
        found = [(name + with_defaults(text[text.index("("):], defaults), doc)
                 for text, doc, defaults in called.__nb_signature__]
        return found if called is thing else [(text.removesuffix(" -> None"), thing.__doc__) for text, _ in found]
    doc = inspect.getdoc(thing)
    if thing in CHOSEN:                              # without a constructor: pl.encodings and its kin have the objects
        return [(name, doc)]
    try:
        return [(name + str(inspect.signature(thing)), doc)]
    except ValueError:                               # a class of the engine without a constructor
        return [(name, doc)]


def directive(kind, name, thing, fence="```", inside=()):
    out = []
    for text, doc in signatures(name, thing) if kind != "property" else [(name, thing.__doc__)]:
        text = re.sub(r"\(self(, )?", "(", text.replace("poslab._poslab.", ""))
        more = [":no-index:"] if out else []       # another signature
        words = as_markdown(inspect.cleandoc(doc or "").splitlines(), "python")
        out += [f"{fence}{{py:{kind}}} {text}", *more, "", *words, *inside, fence, ""]
    return out


def class_of(name, cls):
    inside = []
    for member, thing in vars(cls).items():
        if isinstance(thing, classmethod):
            thing = getattr(cls, member)             # which can be called
        if member.startswith("_") or not (callable(thing) or isinstance(thing, property)):
            continue                                 # the class describes its plain values
        kind = "property" if isinstance(thing, property) else "method"
        inside += directive(kind, member, thing, "`````")
    return directive("class", name, cls, "``````", inside)


def entry(name, thing):
    if isinstance(thing, type):
        return class_of(name, thing)
    if callable(thing) and hasattr(thing, "__name__"):
        return directive("function", name, thing)
    # a list to choose from, with the class of its entries
    return ["```{py:data} " + name, "", *as_markdown((type(thing).__doc__ or "").splitlines()), "```", ""]


def module_of(thing):
    return getattr(thing, "__module__", None) or type(thing).__module__


def page():
    """Names by the module of the package that defines them, in order of import."""
    groups = {}
    for name, thing in vars(poslab).items():
        # functions that draw tensors in notebooks are called only by those
        if not name.startswith("_") and not inspect.ismodule(thing) and module_of(thing) != "poslab.html":
            groups.setdefault(module_of(thing), {})[name] = thing
    groups["poslab.chosen"].update({c.__name__: c for c in CHOSEN})
    out = ["# Python reference", "", "All public names of `import poslab as pl`, with their docstrings."
           " [poslab from Python](../docs/python.md) tells how they go together.", "",
           "```{py:currentmodule} poslab", "```", ""]
    for module, names in groups.items():
        heading = "Tensors and ops." if module == ENGINE else sys.modules[module].__doc__.strip().split("\n")[0]
        out += [f"## {heading.split(':')[0].rstrip('.')}", ""]
        if module == "poslab.chosen":
            out += ["```{py:currentmodule} poslab.chosen", "```", ""]
        for name, thing in names.items():
            out += entry(name, thing)
        out += ["```{py:currentmodule} poslab", "```", ""]
    return "\n".join(out)
