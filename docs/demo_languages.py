"""Count what the packages of the demo have of each language, as the demo reads it: docs/demo-languages.md.

python docs/demo_languages.py    six minutes; downloads two wheels, of 104 and 8 MB, unless `downloads` has them
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import yaml

from seedbed.corpora.read.assets import Store
from seedbed.corpora.read.fetch import fetch
from seedbed.corpora.settings import Kind, Source
from seedbed.languages import registry
from seedbed.study.model import Study
from seedbed.tables.cells import grid

PAGE = Path("docs/demo-languages.md")
HEAD = """# The demo's languages

For someone without a file of text: any language of this list can be added to the demo by its code; the table says how
much text there is.

<!-- needs: network, minutes -->

    make demo LANGUAGES="swh yor"

Text comes from the translated interfaces of Kolibri (MIT) and, for languages that it lacks, Django (BSD), out of
packages that are not installed. They have no graded pairs: translations choose the best encoder (`kolibri-dev`), and
others report (`kolibri-bitext`). Few sentences train little, and few test items give wide intervals or none. Languages
for which Django has fewer than 32 such messages (Frisian, Kabyle, Luxembourgish, Tamil) are left out: they fill no
batch. Any other language needs a text: [your language](your-language.md).

<!-- counted: python docs/demo_languages.py -->

"""
HEADS = ["code", "language", "package", "sentences that train", "translations that choose", "translations that report"]


def counted(study: Study, code: str, folder: Path) -> list[str]:
    """The row of a language.

    What either test has is no text to train on: the workflow leaves such sentences out of anchors and pairs.
    """
    text = study.corpus("text", code)
    choose, report = (
        texts(study, study.test(task, code), "parallel", folder) for task in ("kolibri-dev", "kolibri-bitext")
    )
    train = {*texts(study, text, "text", folder)} - {*choose, *report}
    return [code, study.facts(code)["name"], *text.package, *(str(len(each)) for each in (train, choose, report))]


def texts(study: Study, source: Source, kind: Kind, folder: Path) -> list[str]:
    """The texts in the language of a corpus."""
    blocks, _ = fetch(source, kind, Store(Path(study.downloads), folder / "lock.json"), study.cleaning)
    return [text for block in blocks for text in block["text"]]


def main() -> None:
    covered = [code for code, row in registry().items() if row["kolibri"] or row["django"]]
    config = yaml.safe_load(Path("config/demo.yaml").read_text(encoding="utf-8"))
    study = Study.model_validate(config | {"languages": {code: {} for code in covered}})
    with tempfile.TemporaryDirectory() as folder:
        rows = [counted(study, code, Path(folder)) for code in covered if code != study.pivot]
    PAGE.write_text(f"{HEAD}{grid([HEADS, *rows])}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
