"""The common part of all figures with matplotlib: colours, lines, fonts, and file formats."""

import io
import shutil

INCHES = 1 / 25.4  # of a millimetre
COLUMN, PAGE = 84, 174  # mm

# The colors of lab/page/page.css on a light page.
COLOURS = ("#0072b2", "#b84f00", "#007d5a", "#a84a84", "#756b00", "#0b2f6b", "#6a4fb3", "#5a5f66")
GREY, TRAINED = "#667079", "#eef3f6"
SEQUENTIAL = ("#f4f7f9", "#cfe1ee", "#93c1de", "#4292c6", "#175e9c", "#08264f")
DIVERGING = ("#7a3300", "#d55e00", "#f3b27f", "#f4f5f6", "#8fc0df", "#0072b2", "#003a66")
# Dashes and markers distinguish lines in grey print.
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)), (0, (3, 3)),
          (0, (10, 2, 3, 2)))  # fmt: skip
MARKERS = "osD^vPX*"

# The beginning of a file of each kind.
PGF = b"% poslab: a figure"
BEGINS = {"pdf": b"%PDF-", "svg": b"<svg ", "png": b"\x89PNG", "pgf": PGF, "tex": PGF}
PGF_HEAD = PGF + b" for LaTeX: \\usepackage{pgf} in the preamble, then \\input of this file\n"
# Characters that LaTeX reads as commands, or does not know; matplotlib escapes % and ^.
TEX = {"\\": r"\textbackslash{}", "$": r"\char36{}", "~": r"\textasciitilde{}", "<": r"\textless{}",
       ">": r"\textgreater{}", "|": r"\textbar{}", "×": r"$\times$", "→": r"$\rightarrow$", "↓": r"$\downarrow$",
       "≤": r"$\leq$", "≥": r"$\geq$", "∞": r"$\infty$", "·": r"$\cdot$"}  # fmt: skip
TEX |= {sign: "\\" + sign for sign in "_&#{}"}
PACKAGES = "Debian: apt install texlive-latex-recommended texlive-pictures"


class Missing(RuntimeError):
    """A missing program or package for drawing; the text names the remedy."""


def latex():
    """The TeX program that measures text for PGF, and will later typeset it."""
    for program in ("pdflatex", "xelatex", "lualatex"):
        if shutil.which(program):
            return program
    return None


def settings(size=8, ending=""):
    """rcParams. size: of the font, in points. ending: of the file's name; PGF uses the font of the paper's text."""
    from cycler import cycler

    return {
        "font.size": size, "font.family": "serif" if BEGINS.get(ending) == PGF else "sans-serif",
        "axes.titlesize": size, "axes.labelsize": size, "legend.fontsize": size, "xtick.labelsize": size,
        "ytick.labelsize": size, "lines.linewidth": 1.2, "axes.linewidth": 0.6,
        "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "legend.handlelength": 2.6,
        "axes.prop_cycle": cycler(color=COLOURS, linestyle=DASHES), "figure.facecolor": "white",
        "svg.hashsalt": "poslab", "svg.fonttype": "none", "pdf.fonttype": 42, "pgf.rcfonts": False,
        "pgf.texsystem": latex() or "pdflatex",
    }  # fmt: skip


def colour_map(two_sided):
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("poslab", DIVERGING if two_sided else SEQUENTIAL)


def _pgf(canvas, ending):
    if not latex():
        raise Missing(f".{ending}: LaTeX has to measure the text, but no pdflatex is on the PATH; install it "
                      f"({PACKAGES}), or write .pdf")  # fmt: skip
    from matplotlib.backends.backend_pgf import LatexError

    file = io.BytesIO()
    try:
        canvas.savefig(file, format="pgf")
    except LatexError as error:
        why = next((line for line in error.latex_output.splitlines() if line.startswith("!")), error.args[0])
        raise Missing(f".{ending}: LaTeX failed to measure the text: {why} ({PACKAGES})") from None
    return PGF_HEAD + file.getvalue()


def saved(canvas, ending, **metadata):
    """The bytes of the figure's file, without a date, so that equal figures have equal files. Raises Missing."""
    if BEGINS[ending] == PGF:
        return _pgf(canvas, ending)
    file = io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending, {})
    canvas.savefig(file, format=ending, dpi=300, metadata=(undated | metadata) or None)
    drawing = file.getvalue()
    return drawing[drawing.find(b"<svg ") :] if ending == "svg" else drawing
