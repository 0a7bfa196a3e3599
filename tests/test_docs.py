"""What the documents say holds: the sections that docstrings cite are there, and so are the files they link to."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ALGORITHMS = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")
SOURCES = sorted(path for folder in ("aesara_nondecomp", "benchmarks", "studies", "tests")
                 for path in (ROOT / folder).rglob("*.py") if path != Path(__file__))  # fmt: skip
DOCUMENTS = [
    path
    for pattern in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md", "benchmarks/README.md")
    for path in sorted(ROOT.glob(pattern))
]

# -- citations of the specification ----------------------------------------------------------------------------------

GAP = r"[\s#]+"  # a citation may be broken over two lines of a comment
SECTION = r"\d+(?:\.\d+)?"
SECTIONS = rf"{SECTION}(?:(?:,|{GAP}and|{GAP}to){GAP}{SECTION}(?![\w.]*\w))*"
SLIPS = rf"\d+b?(?:(?:,|{GAP}and|{GAP}to){GAP}\d+b?\b)*"
CITATIONS = {
    "section": (
        rf"docs/algorithms\.md,?{GAP}(?:sections?{GAP})?({SECTIONS})",
        rf"\b[Ss]ections?{GAP}({SECTIONS}){GAP}of{GAP}(?:the{GAP})?(?:docs/algorithms\.md|specification)",
        rf"\bspec{GAP}({SECTIONS})",
    ),
    "slip": (rf"\bslips?{GAP}({SLIPS})",),
}


def parts_of_specification():
    """The numbers of its sections and of the slips listed in section 8."""
    slips = ALGORITHMS.partition("\n## 8. ")[2].partition("\n## 9. ")[0]
    return {
        "section": set(re.findall(rf"^###? ({SECTION})\.? ", ALGORITHMS, re.MULTILINE)),
        "slip": set(re.findall(r"^ *(\d+b?)\. ", slips, re.MULTILINE)),
    }


def citations(text):
    """(kind, number) for each section or slip that a text cites."""
    return [
        (kind, number)
        for kind, patterns in CITATIONS.items()
        for pattern in patterns
        for found in re.findall(pattern, text)
        for number in re.findall(rf"\d+b|{SECTION}", found)
    ]


def test_the_specification_has_nine_sections_and_its_slips_are_numbered_without_a_gap():
    parts = parts_of_specification()
    assert {str(k) for k in range(1, 10)} <= parts["section"]
    assert {"1.4", "2.7", "3.9", "4.2"} <= parts["section"]
    assert parts["slip"] == {*(str(k) for k in range(1, 40)), "8b"}


def test_every_section_and_slip_that_the_code_cites_is_in_the_specification():
    parts = parts_of_specification()
    cited = {path: citations(path.read_text(encoding="utf-8")) for path in SOURCES}
    missing = [
        f"{path.relative_to(ROOT)}: {kind} {number}"
        for path, found in cited.items()
        for kind, number in found
        if number not in parts[kind]
    ]
    assert not missing
    assert sum(map(len, cited.values())) > 50


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Source: section 2.3 of docs/algorithms.md.", [("section", "2.3")]),
        ("Sections 2.3, 2.4 and 3 of\n    docs/algorithms.md", [("section", n) for n in ("2.3", "2.4", "3")]),
        ("see docs/algorithms.md 3.8; and more", [("section", "3.8")]),
        ("# as docs/algorithms.md\n# 4.2 says, 3 rows", [("section", "4.2")]),
        ("docs/algorithms.md, section 1.4", [("section", "1.4")]),
        ("(docs/algorithms.md, slip 20)", [("slip", "20")]),
        ("docs/algorithms.md, slips 29 to 31 and 8b", [("slip", n) for n in ("29", "31", "8b")]),
        ("section 6 of the specification", [("section", "6")]),
        ("spec 2.4: 5 rows", [("section", "2.4")]),
        ("docs/algorithms.md says how, in 3 lines", []),
    ],
)
def test_the_finder_of_citations_reads_every_spelling(text, expected):
    assert citations(text) == expected


# -- links -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_relative_link_leads_to_a_file(document):
    links = re.findall(r"\]\((?!https?://|#)([^)#\s]+)[^)]*\)", document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []
