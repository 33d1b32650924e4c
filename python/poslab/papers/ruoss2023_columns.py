"""The columns of the tables of Ruoss et al. 2023: our settings, and the paper's numbers."""

from dataclasses import dataclass

from .setting import Setting, asked
from .sweep import done
from .trials import printed


@dataclass(frozen=True)
class Column:
    """A column of table 1."""

    name: str
    encoding: str
    positions: str
    paper: str  # its column in published/ruoss2023_table1.csv

    def row(self, task):
        return {"task": task, "encoding": self.encoding, "positions": self.positions}

    def done(self, trials, task):
        return done(trials, **self.row(task))


SCHEMES = {"sincos": "sin/cos", "relative": "Relative", "alibi": "ALiBi", "rope": "RoPE", "learned": "Learned"}
COLUMNS = [
    Column("None", "none", "sequential", "none"),
    *(Column(name, scheme, "sequential", scheme) for scheme, name in SCHEMES.items()),
    *(Column(f"R-{name}", scheme, "randomized", f"rand_{scheme}") for scheme, name in SCHEMES.items()),
]
COLORS = {scheme: f"c{n}" for n, scheme in enumerate(SCHEMES)} | {"none": "c7"}
PAIRS = list(zip(COLUMNS[1:6], COLUMNS[6:]))  # plain and randomized
ORDERS = {"unsorted": "randomized:unsorted", "sorted": "randomized"}


def columns_of(trials):
    """The columns in the plan."""
    return [c for c in COLUMNS if len(asked(trials, encoding=c.encoding, positions=c.positions))]


def setting(trials, task, column):
    return Setting.of(trials, **column.row(task))


def paper(task, column, table="table1"):
    return printed(f"ruoss2023_{table}", task, column) / 100
