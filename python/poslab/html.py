"""Small tables of tensors and runs for a notebook."""

from html import escape

MOST = 10    # rows or columns that a table shows; of more, it shows the first and the last


def _shown(count):
    """The indices to show, with None for a gap."""
    if count <= MOST:
        return list(range(count))
    return [*range(MOST // 2), None, *range(count - MOST // 2 + 1, count)]


def _text(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _table(rows, head=()):
    def row(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{escape(_text(c))}</{tag}>" for c in cells) + "</tr>"
    body = "".join(row(cells, "td") for cells in rows)
    return f"<table>{row(head, 'th') if head else ''}{body}</table>"


def of_tensor(x):
    """A tensor's shape, and its numbers as a table. If the tensor has several matrices, the table shows the first."""
    a = x.numpy()
    matrix = a.reshape(-1, *a.shape[-2:])[0] if a.ndim > 1 else a[None, :]
    columns = _shown(matrix.shape[1])
    rows = [["…" if i is None or j is None else float(matrix[i, j]) for j in columns] for i in _shown(len(matrix))]
    several = f", the first of {a[..., 0, 0].size} matrices" if a.ndim > 2 else ""
    gradient = ", with a gradient" if x.requires_grad else ""
    return f"<div>Tensor {escape(str(x.shape))}{gradient}{several}</div>{_table(rows)}"


def of_run(path, result, tested):
    """The options of a run, and the rows of its test; result is None before training has ended."""
    names = ("task", "encoding", "positions", "parameters", "steps", "paper_score", "steps_per_second")
    facts = [(name.replace("_", " "), result[name]) for name in names if (result or {}).get(name) is not None]
    head = f"<div>Run <code>{escape(path)}</code>{'' if result else ', without a result yet'}</div>"
    if not tested:
        return head + _table(facts)
    rows = [["…"] * len(tested[0]) if n is None else tested[n].values() for n in _shown(len(tested))]
    return head + _table(facts) + _table(rows, tested[0])
