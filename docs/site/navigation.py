"""The parts of the site and their pages, in order. Every page of the tree stands in one of them."""

import tree

navigation = {
    "Encodings": ["docs/encodings", "docs/schemes", "docs/show", "docs/own_scheme", "docs/differences",
                  "docs/other-schemes", "docs/checks", "docs/align"],
    "Tasks and trainings": ["docs/tasks", "docs/sweeps", "docs/compare", "docs/reproduce"],
    "Language models": ["docs/language", "docs/t5"],
    "Results": ["docs/results", "lab/results/seed1-tiny/README", "lab/results/seed1-example/README",
                "lab/results/every-scheme/README", "lab/results/cross-tiny/README", "lab/results/gap_shift-tiny/README",
                "lab/results/su2023-tiny/README", "lab/results/chi2023-tiny/README"],
    "Notebooks": ["notebooks/01_tensor", "notebooks/02_backward", "notebooks/03_attention", "notebooks/04_four_doors",
                  "notebooks/05_lengths", "notebooks/06_randomized", "notebooks/07_rope", "notebooks/08_temperature",
                  "notebooks/09_own_encoding", "notebooks/10_kernel"],
    "Python and C++": ["docs/python", "reference/python", "docs/library", "reference/cpp/index"],
    "How it is built": ["docs/design", "docs/formulas", "docs/attention", "docs/speed", "docs/gpu"],
    "Contributing": ["CONTRIBUTING", "docs/tests", "tests/reference/README", "tests/published/README",
                     "tests/huggingface/README", "CHANGELOG"],
}
made = {"reference/python", "reference/cpp/index"}  # by docs/site/build.py


def forgotten():
    """Pages without a place in the navigation, and names in it without a page: a line each."""
    named = [page for pages in navigation.values() for page in pages]
    there = {name.rsplit(".", 1)[0] for name in tree.files() if tree.is_page(name)} - {"README"} | made
    said = [f"{page} is a page, but in no part of `navigation` in docs/site/navigation.py: name it there"
            for page in sorted(there - set(named))]
    said += [f"docs/site/navigation.py names {page}, and there is no such page" for page in named if page not in there]
    return said
