"""What the documents say holds: their Python blocks run, their commands exist, and what is cited or linked is there."""

import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import documents
import pytest
from documents import FENCE, ROOT

ALGORITHMS = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")
SOURCES = sorted(path for folder in ("aesara_nondecomp", "benchmarks", "studies", "tests")
                 for path in (ROOT / folder).rglob("*.py") if path != Path(__file__))  # fmt: skip
PATTERNS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md", "benchmarks/**/*.md", "studies/**/*.md")
DOCUMENTS = [path for pattern in PATTERNS for path in sorted(ROOT.glob(pattern))
             if ROOT / "docs" / "repository" not in path.parents]  # fmt: skip  # copies that `make docs` makes

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


# -- commands --------------------------------------------------------------------------------------------------------

COMMAND = re.compile(
    r"(?:mpirun -n \d+ )?((?:aesara-nondecomp|python -m (?:aesara_nondecomp|benchmarks|studies)|make) \w.*)"
)


def commands(text):
    """The words of each command of ours that a text shows, on a line of a fenced block or between backticks."""
    lines = [line for _, block in FENCE.findall(text) for line in block.replace("\\\n", " ").splitlines()]
    spans = re.findall(r"`([^`\n]+)`", FENCE.sub("", text))
    return [shlex.split(match[1], comments=True) for part in [*lines, *spans] if (match := COMMAND.match(part))]


def documented_commands():
    return {tuple(words): path.name for path in DOCUMENTS for words in commands(path.read_text(encoding="utf-8"))}


def parse(words, monkeypatch):
    """Let the program that a command names read its options, and do no more; SystemExit for a usage error."""
    program, *options = words if words[0] == "aesara-nondecomp" else words[2:]
    if program in ("aesara-nondecomp", "aesara_nondecomp"):
        import_module("aesara_nondecomp.cli.parser").build_parser().parse_args(options)
    elif not {"COMMAND", "NAME", "STUDY"} & set(options):  # placeholders
        monkeypatch.setattr(import_module(f"{program}.{options[0]}"), "main", lambda options: 0)
        import_module(f"{program}.__main__").main(options)


@pytest.mark.parametrize("words", sorted(documented_commands()), ids=" ".join)
def test_a_documented_command_has_the_options_it_is_shown_with(words, monkeypatch):
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    else:
        parse(words, monkeypatch)


def test_the_finder_of_commands_reads_blocks_and_spans():
    lines = ("make demo   # the user's", "aesara-nondecomp train 'a b.csv' \\", "  --target y", "mpirun -n 2 make test")
    text = "\n".join(["```", *lines, "```", "as `python -m benchmarks demo --output out` does; `make` and make haste"])
    assert commands(text) == [
        ["make", "demo"],
        ["aesara-nondecomp", "train", "a b.csv", "--target", "y"],
        ["make", "test"],
        ["python", "-m", "benchmarks", "demo", "--output", "out"],
    ]


def test_an_option_that_does_not_exist_is_found(monkeypatch):
    for words in (["aesara-nondecomp", "train", "--new"], ["python", "-m", "benchmarks", "demo", "--new"]):
        with pytest.raises(SystemExit):
            parse(words, monkeypatch)


# -- examples --------------------------------------------------------------------------------------------------------

# Each text once: README.md begins as docs/start.md does.
EXAMPLES = list({block.code: block for path in DOCUMENTS for block in documents.blocks(str(path.relative_to(ROOT)))
                 if path.name != "CONTRIBUTING.md"}.values())  # fmt: skip


def needs_mpirun(block):
    return "mpi4py" in block.code


@pytest.mark.parametrize("block", [block for block in EXAMPLES if not needs_mpirun(block)], ids=str)
def test_the_example_runs_as_written(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    documents.run(block)


@pytest.mark.parametrize("block", [block for block in EXAMPLES if needs_mpirun(block)], ids=str)
def test_the_example_for_several_processes_runs_under_mpirun(block, tmp_path):
    mpi = import_module("parallel.test_parallel")
    if not mpi.has_mpi():
        pytest.skip("needs mpi4py and mpirun: the extra `mpi`")
    script = tmp_path / "example.py"
    script.write_text(block.code, encoding="utf-8")
    command = [str(mpi.MPIRUN), "-n", "1", sys.executable, script]  # two would wait for each other 4,000 times
    done = subprocess.run(command, cwd=tmp_path, env=mpi.environment(), capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run.npz").exists() == ("run.npz" in block.code)
