"""The sections of a report on groups and constraints, of two classes or of several."""

from __future__ import annotations

from typing import Any

from aesara_nondecomp.reports import markup
from aesara_nondecomp.reports.markup import Markup, Section, interval, name, number

GROUP_RATES = {
    "accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "mean_recall": "mean recall",
    "selection_rate": "predicted positive",
}  # fmt: skip


def groups_section(found: Any) -> Section | None:
    """How the model does by group.

    Parameters
    ----------
    found : Evaluated
        The model and its rows.

    Returns
    -------
    Section or None
        None without groups.
    """
    facts = found.facts.get("groups")
    if facts is None:
        return None
    rates = [key for key in GROUP_RATES if key in facts["groups"][0]]
    cells = [
        (name(c["name"]), number(c["rows"]), number(c["rate"]), interval(c["low"], c["high"])) for c in facts["cells"]
    ]
    groups = [(name(g["name"]), number(g["rows"]), *(number(g[key]) for key in rates)) for g in facts["groups"]]
    of_cells = ("class and group", "rows", "predicted right", "95\u00a0% interval")
    of_groups = ("group", "rows", *(GROUP_RATES[key] for key in rates))
    worst = Markup(f"The smallest rate predicted right is that of {name(facts['worst_cell'])}.")
    without = facts["rows_without_group"]
    body = (
        markup.paragraph(worst)
        + markup.table("Each class of each group", of_cells, cells)
        + markup.table("Each group", of_groups, groups)
        + (markup.paragraph(f"{without:,} rows without a group are left out.") if without else "")
    )
    return Section("groups", "Groups", body)


def constraints_section(found: Any) -> Section | None:
    """Whether constraints hold.

    Parameters
    ----------
    found : Evaluated
        The model and its rows.

    Returns
    -------
    Section or None
        None without constraints.
    """
    facts = found.facts.get("constraints")
    if facts is None:
        return None
    rows = [
        (constraint, number(v["value"]), interval(v["low"], v["high"]), v["verdict"]) for constraint, v in facts.items()
    ]
    note = (
        "A constraint is held if its whole interval meets the bound, broken if all of it breaks the bound, and "
        "otherwise not shown by these rows."
    )
    table = markup.table("Constraints", ("constraint", "value", "95\u00a0% interval", "verdict"), rows)
    return Section("constraints", "Constraints", table + markup.paragraph(note))
