"""Analyses of reproduced papers: tables, figures and claims, from the trainings of `poslab reproduce`. One module for
each source. `python -m poslab.papers FOLDER` draws a folder again; the package needs pandas, SciPy and matplotlib, and
no module."""
