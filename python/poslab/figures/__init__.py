"""Figures for print and for notebooks, with matplotlib: `python -m poslab.figures FILE.html|RUN... -o figure.pdf`."""
