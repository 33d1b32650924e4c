"""Analyses of reproduced papers: tables, figures and claims, from the runs of `poslab reproduce`. Each source has
a module. `python -m poslab.papers FOLDER` draws a folder again. The package needs pandas, SciPy and matplotlib, but not
the compiled module of poslab."""
