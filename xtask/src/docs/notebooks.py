"""Run the notebooks of docs/notebooks: `notebooks.py FROM TO` writes NAME.ipynb, and NAME.md with its pictures, to TO.

A notebook that has been run with the same source and the same package is not run again.
"""

import hashlib
import sys
from pathlib import Path

import jupytext
import l0star._core
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient
from nbconvert import MarkdownExporter
from nbformat import NotebookNode

SOURCES, TO = Path(sys.argv[1]), Path(sys.argv[2])


def stamp(source: Path) -> str:
    """Hash what a run depends on."""
    parts = [source.read_bytes(), Path(__file__).read_bytes(), Path(l0star._core.__file__).read_bytes()]
    parts += [path.read_bytes() for path in sorted(Path(l0star.__file__).parent.glob("*.py"))]
    return hashlib.blake2b(b"".join(parts)).hexdigest()


def run(source: Path) -> None:
    """Run one notebook and write it."""
    name = source.stem
    done = TO.parent / f"{name}.stamp"
    if (TO / f"{name}.md").exists() and done.exists() and done.read_text() == stamp(source):
        print(f"{name}: as it was")
        return
    print(f"{name}: runs", flush=True)
    notebook = jupytext.read(source)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    # Sockets of the file system: nobody else can listen.
    manager = AsyncKernelManager(kernel_name="python3", transport="ipc")
    NotebookClient(notebook, timeout=1200, km=manager).execute()
    refuse_warnings(name, notebook)
    jupytext.write(notebook, TO / f"{name}.ipynb")
    exporter = MarkdownExporter()
    text, resources = exporter.from_notebook_node(notebook, {"output_files_dir": name, "unique_key": name})
    for file, content in resources["outputs"].items():
        path = TO / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    title, rest = text.lstrip().split("\n", 1)
    note = f"*Run when this page was built; [download the notebook]({name}.ipynb).*"
    (TO / f"{name}.md").write_text(f"{title}\n\n{note}\n{fenced(rest)}", encoding="utf-8")
    done.write_text(stamp(source))


def refuse_warnings(name: str, notebook: NotebookNode) -> None:
    """Stop at what a notebook says on standard error, and make one of consecutive pieces of its output."""
    for cell in notebook.cells:
        pieces: list[NotebookNode] = []
        for output in cell.get("outputs", []):
            if output.output_type == "stream" and output.name == "stderr":
                sys.exit(f"{name}: a cell warns:\n{output.text}")
            if output.output_type == "stream" and pieces and pieces[-1].output_type == "stream":
                pieces[-1].text += output.text
            else:
                pieces.append(output)
        if "outputs" in cell:
            cell.outputs = pieces


def fenced(text: str) -> str:
    """Make blocks of text of indented output."""
    lines: list[str] = []
    inside, is_output = False, False
    for line in text.split("\n"):
        if line.startswith("```"):
            inside = not inside
        indented = not inside and line.startswith("    ") and bool(line.strip())
        if indented and not is_output:
            lines.append("``` { .text .notebook-output }")
        if is_output and not indented and line.strip():
            while lines and not lines[-1].strip():
                lines.pop()
            lines += ["```", ""]
        is_output = (indented or (is_output and not line.strip())) and not inside
        lines.append(line[4:] if indented else line)
    return "\n".join([*lines, "```"] if is_output else lines)


TO.mkdir(parents=True, exist_ok=True)
for notebook in sorted(SOURCES.glob("*.py")):
    run(notebook)
