"""What the site adds to the pages of docs: other pages, the reference of the command, notebooks, and links that work.

The variable L0STAR names the command, NOTEBOOKS the folder with the notebooks that were run.
"""

from __future__ import annotations

import os
import posixpath
import re
import subprocess
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[3]

#: Pages that are elsewhere in the repository → where the site has them.
PLACES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "bench/README.md": "benchmarks.md",
    "bench/peers/README.md": "benchmarks-peers.md",
    "python/README.md": "reference/package.md",
    "LICENSE-MIT": "LICENSE-MIT",
    "LICENSE-APACHE": "LICENSE-APACHE",
}
#: Folders → the page that speaks of them.
FOLDERS = {"docs/results": "results/README.md", "bench/peers": "benchmarks-peers.md"}

PYTHON = """# Python classes and functions

[The Python package](package.md) is the overview. Everything here can be imported from `l0star`.

"""

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
OPTION = re.compile(r"^ {2,6}(-.*?|[<\[].*?|[a-z][\w-]*)(?: {2,}(\S.*))?$")


def on_files(files, config):
    """Add the pages that are not in docs."""
    for source, place in PLACES.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / source)))
    files.append(File.generated(config, "site.css", content=(Path(__file__).parent / "site.css").read_text()))
    files.append(File.generated(config, "reference/command.md", content=command_reference()))
    files.append(File.generated(config, "reference/python.md", content=PYTHON + python_reference()))
    for path in sorted(Path(os.environ["NOTEBOOKS"]).rglob("*")):
        if path.is_file():
            place = f"notebooks/{path.relative_to(os.environ['NOTEBOOKS']).as_posix()}"
            files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Make links between files of the repository links between pages, and leave out what only the tests need."""
    here = page.file.src_uri
    origin = next((source for source, place in PLACES.items() if place == here), f"docs/{here}")
    made = []
    # Blocks of code are every other part.
    for at, part in enumerate(re.split(r"(^ *```.*?^ *```$)", markdown, flags=re.MULTILINE | re.DOTALL)):
        if at % 2 == 0:
            made.append(LINK.sub(lambda link: linked(link, origin, here, files), part))
        elif part.startswith("```rust"):
            made.append(re.sub(r"^#(?: .*)?\n", "", part, flags=re.MULTILINE))
        else:
            made.append(part)
    return "".join(made)


def linked(link, origin, here, files):
    """Give a link as the page `here` has it, which was written in the file `origin`."""
    image, text, target = link.groups()
    path, _, anchor = target.partition("#")
    if re.match(r"[a-z]+:", target) or not path:
        return link.group()
    source = posixpath.normpath(posixpath.join(posixpath.dirname(origin), path))
    place = PLACES.get(source) or FOLDERS.get(source) or source.removeprefix("docs/")
    if source.startswith("docs/notebooks/") and source.endswith(".py"):
        place = place.removesuffix(".py") + ".md"
    is_page = source in PLACES or source in FOLDERS or source.startswith("docs/")
    relative = posixpath.relpath(place, posixpath.dirname(here) or ".")
    if place.startswith("rustdoc/"):
        # It is put there when the pages are made.
        return f'<a href="{relative}">{text}</a>'
    if is_page and files.get_file_from_path(place):
        return f"{image}[{text}]({relative}{'#' + anchor if anchor else ''})"
    if (ROOT / source).exists():
        # A file of the repository that is no page: it is named, not linked to.
        return text if "`" in text or source in text else f"{text} (`{source}`)"
    raise PluginError(f"{origin}: there is no {target}")


def command_reference():
    """Put the help of every command, as clap prints it, into tables."""
    names = re.findall(r"^  ([a-z]+) ", help_of().split("Commands:")[1].split("Options:")[0], flags=re.MULTILINE)
    parts = [
        "# All options\n\nMade from the help of the command. [The command](options.md) explains the frequent ones.\n"
    ]
    for name in names:
        if name != "help":
            parts.append(f"## l0star {name}\n\n{tables(help_of(name))}")
    return "\n".join(parts)


def help_of(*command):
    """Give what `--help` prints."""
    words = [os.environ["L0STAR"], *command, "--help"]
    return subprocess.run(words, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def tables(text):
    """Make tables of sections of options, and leave all else as it is."""
    made = []
    for block in re.split(r"\n(?=\S)", text):
        heading, _, rest = block.partition("\n")
        if heading.startswith("Usage:"):
            made.append(f"```text\n{heading.removeprefix('Usage: ')}\n```\n")
        elif re.match(r"(Examples|Exit codes|Formats).*", heading) or not rest.strip():
            made.append(f"```console\n{rest.rstrip()}\n```\n" if heading == "Examples:" else f"{block.strip()}\n")
        else:
            made.append(f"**{heading.removesuffix(':')}**\n\n| option | meaning |\n|---|---|\n{rows(rest)}\n")
    return "\n".join(made)


def rows(text):
    """Make one row of a table of each option; the lines that follow it belong to its meaning."""
    options: list[list[str]] = []
    for line in text.splitlines():
        match = OPTION.match(line)
        if match:
            options.append([match[1].strip(), match[2] or ""])
        elif options and line.strip():
            options[-1][1] += f" {line.strip()}"
    cell = str.maketrans({"|": "\\|", "<": "&lt;", "*": "\\*", "[": "\\["})
    return "\n".join(f"| `{name}` | {meaning.strip().translate(cell)} |" for name, meaning in options)


def python_reference():
    """Make a section of every public name, in the order of use."""
    import l0star

    first = ["solve", "SparseRegressor", "SparseClassifier", "SparseRegressorCV", "SparseClassifierCV", "sparse_path"]
    names = [*first, *(name for name in l0star.__all__ if name not in first and name != "__version__")]
    return "\n".join(f"::: l0star.{name}\n" for name in names if hasattr(l0star, name))


def on_post_build(config):
    """Refuse pages that would load something from another host."""
    loads = re.compile(
        r"<(?:script|img|iframe|source)[^>]*\ssrc=[\"']?(?:https?:)?//|<link[^>]*\shref=[\"']?(?:https?:)?//"
    )
    for path in Path(config.site_dir).rglob("*.html"):
        found = loads.search(path.read_text(encoding="utf-8"))
        if found:
            raise PluginError(f"{path} loads from another host: {found.group()}")
