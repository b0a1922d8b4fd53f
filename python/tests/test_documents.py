"""The examples in the documents and their output."""

import doctest
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = sorted((ROOT / "python" / "guide").glob("*.py"))
EXAMPLES = sorted((ROOT / "python" / "examples").glob("*.py"))
TWINS = ROOT / "crates" / "l0star" / "examples"
PAGES = [ROOT / "README.md", ROOT / "python" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
DOCUMENTS = [page for page in PAGES if "```python\n>>>" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_examples_of_documents(document):
    blocks = re.findall(r"^```python\n(.*?)^```", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert blocks
    text = "\n".join(blocks)
    examples = doctest.DocTestParser().get_doctest(text, {}, document.name, str(document), 0)
    said = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples, out=said.append)
    assert not said, "".join(said)


@pytest.mark.parametrize("script", GUIDE, ids=lambda path: path.stem)
def test_guide(script, capsys):
    names = runpy.run_path(str(script))
    assert capsys.readouterr().out
    check = {
        "choosing_k": lambda: names["model"].k_ < 10 and all(result.status == "optimal" for result in names["path"]),
        "credit_card": lambda: names["model"].status_ == "optimal" and names["agrees"] > 0.95,
        "which_genes": lambda: names["exact"].gap_ <= 0.01 and names["exact"].objective_ <= names["greedy"].objective_,
    }
    assert check[script.stem]()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_print_what_their_twins_in_rust_print(example, capsys):
    runpy.run_path(str(example))
    # A test of the engine compares the output of the twin with the same file.
    assert capsys.readouterr().out == (TWINS / "output" / f"{example.stem}.txt").read_text(encoding="utf-8")


def test_every_example_has_a_twin():
    assert {path.stem for path in EXAMPLES} == {path.stem for path in TWINS.glob("*.rs")}
    assert EXAMPLES
