"""The parts of the site and their pages, in order: PAGE, or TITLE <PAGE> where its heading is too long for a list.

Every page of the tree is in one of them. """

import re

import tree
from made import PAGES

navigation = {
    "Getting started": ["A tour <self>", "docs/encodings", "docs/tasks", "Past the edge <docs/web>",
                        "Pictures <docs/pictures>", "Installing <docs/install>"],
    "Notebooks": ["The course <notebooks/README>", "notebooks/01_tensor", "notebooks/02_backward",
                  "03 From softmax to attention <notebooks/03_attention>",
                  "04 The four doors <notebooks/04_four_doors>", "05 Why lengths fail <notebooks/05_lengths>",
                  "06 Randomized positions <notebooks/06_randomized>", "07 RoPE's frequencies <notebooks/07_rope>",
                  "notebooks/08_temperature", "09 Your own encoding <notebooks/09_own_encoding>",
                  "10 From kernel to GPU <notebooks/10_kernel>"],
    "Build it yourself": ["The course in C++ <docs/course/README>", "docs/course/01_shapes", "docs/course/02_tape",
                          "docs/course/03_softmax", "4 Matrix products <docs/course/04_products>",
                          "docs/course/05_attention", "docs/course/06_attention_backward",
                          "7 Norm and block <docs/course/07_block>",
                          "8 A model that learns <docs/course/08_training>",
                          "9 Absolute positions <docs/course/09_absolute>", "docs/course/10_rope",
                          "11 Distances <docs/course/11_relative>", "docs/course/12_randomized",
                          "13 Windows <docs/course/13_windows>", "14 Kernels <docs/course/14_vectors>",
                          "For teachers <docs/course/teachers>"],
    "Encodings": ["All schemes and samplers <docs/schemes>", "A scheme of your own <docs/own_scheme>",
                  "Papers and their code <docs/differences>", "Sources, and what is missing <docs/other-schemes>",
                  "What every scheme passes <docs/checks>", "Attention alignment <docs/align>"],
    "Training": ["docs/sweeps", "docs/loops", "docs/reproduce"],
    "Language models": ["docs/language", "docs/stretch", "docs/t5"],
    "Results": ["What came out <docs/results>", "All tables <docs/results-tables>",
                "What limits them <docs/results-limits>", "Ruoss et al. 2023, tiny <results/ruoss2023-tiny/README>",
                "Ruoss et al. 2023, example <results/ruoss2023-example/README>",
                "The gap shift <results/gap_shift-tiny/README>", "ReRoPE <results/su2023-tiny/README>",
                "ReRoPE, 10 million parameters <results/su2023-example/README>",
                "Attention alignment <results/chi2023-tiny/README>",
                "Every scheme <results/every-scheme/README>",
                "Table 1 on all tasks, tiny <results/table1-tiny/README>",
                "Table 1 on four tasks, ten seeds <results/ten-seeds-tiny/README>",
                "Sorted and shuffled positions <results/sorted-tiny/README>",
                "What the paper claims, and what holds <results/claims-tiny/README>",
                "Temperatures and positions <results/cross-tiny/README>",
                "The ladder <results/ladder/README>"],
    "Python and C++": ["docs/python", "docs/torch", "docs/library", "reference/python", "reference/cpp/index"],
    "How it works": ["The spine <docs/spine>", "Design <docs/design>", "docs/adding",
                     "lab/files/README", "lab/hub/README", "lab/runs/README", "lab/page/README", "lab/pages/README",
                      "lab/papers/README",
                     "web/README",
                     "Formulas and their files <docs/formulas>", "docs/formulas-encodings",
                     "Attention on the CPU <docs/attention>", "docs/speed", "docs/gpu",
                     "docs/measured"],
    "Contributing": ["How to contribute <CONTRIBUTING>", "docs/testing",
                     "Golden files <tests/reference/README>",
                     "Other people's code <tests/published/README>", "tests/huggingface/README", "CHANGELOG"],
}
made = {"reference/python", "reference/cpp/index", *PAGES}  # by docs/site/build.py


def forgotten():
    """Pages without a place in the navigation, and names in it without a page: a line each."""
    named = [re.sub(r".*<(.*)>", r"\1", page) for pages in navigation.values() for page in pages]
    named.remove("self")                           # the front page
    there = {name.rsplit(".", 1)[0] for name in tree.files() if tree.is_page(name)} - {"README"} | made
    said = [f"{page} is a page, but in no part of `navigation` in docs/site/navigation.py: name it there"
            for page in sorted(there - set(named))]
    said += [f"docs/site/navigation.py names {page}, and there is no such page" for page in named if page not in there]
    return said
