"""Pack tables, figures, audits, cards and configuration into one zip with a page to read."""

import json
from pathlib import Path

from scripts.cli import arguments, pair, run
from seedbed.io import atomic, read_json
from seedbed.languages import registry
from seedbed.tables import answer, making
from seedbed.tables.report import GROUPS, report
from seedbed.tables.settings import Forecast
from seedbed.tables.standing import standing


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "output")
    parser.add_argument("--title", required=True)
    for group in GROUPS:
        parser.add_argument(f"--{group}", nargs="*", type=Path, default=[])
    parser.add_argument("--sample", type=int, default=5, help="mined pairs of a language, rejected triplets of a file")
    parser.add_argument("--anchors", type=int, default=60, help="anchors of a language, with every method's triplets")
    parser.add_argument("--max-megabytes", type=float, default=20, help="larger files stay out of the zip")
    parser.add_argument(
        "--best", nargs="*", type=Path, default=[], help="manifest of the best encoder of each language"
    )
    parser.add_argument(
        "--encoders", nargs="*", type=pair, default=[], help="LANGUAGE=FOLDER of each encoder that the answer lists"
    )
    parser.add_argument("--benchmarks", type=Path, help="what jobs took; left out, the page does not say")
    parser.add_argument("--prices", default="{}", help="JSON: seedbed.tables.settings.Forecast")
    parser.add_argument(
        "--gpus", default="{}", help="JSON: folder of benchmarks -> GPUs of a job, if the device is one"
    )
    parser.add_argument("--answer", type=Path, help="Markdown: the best encoders, as the page begins with them")
    args = parser.parse_args(argv)

    files = {group: getattr(args, group) for group in GROUPS}
    best = {str(manifest.parent): read_json(manifest)["best"] for manifest in args.best}
    encoders: dict[str, list[answer.Listed]] = {}
    for language, folder in args.encoders:
        encoders.setdefault(language, []).append(answer.Listed.of(Path(folder)))
    text, families = answer.text(best, encoders), {code: facts.get("family", "") for code, facts in registry().items()}
    made = making.told(args.benchmarks, Forecast.load(args.prices), json.loads(args.gpus)) if args.benchmarks else {}
    shown = {"answer": text, "made": made, "languages": standing(best.values(), families)}
    limits = {"sample": args.sample, "anchors": args.anchors, "max_megabytes": args.max_megabytes}
    report(files, args.output, args.title, **shown, **limits)
    if args.answer:
        with atomic(args.answer) as temporary:
            temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run(main)
