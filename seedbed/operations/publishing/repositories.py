"""Folders as the hub takes them: an encoder, an adapter or a set of triplets, with a card that is checked."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from seedbed import licences, manifests
from seedbed.encoders import card
from seedbed.encoders.endpoint import TRANSPORT
from seedbed.encoders.fusion import members_of
from seedbed.generators import adapter_card
from seedbed.io import UserError, atomic_directory, read_json, write_json
from seedbed.operations.publishing import leaderboard, results, triplets
from seedbed.operations.publishing.checks import language_of, require_card
from seedbed.operations.publishing.wishes import Wishes

REPOSITORY = "repository"
"""What is uploaded, below the output; beside it lies what goes to mteb."""
LORA = "adapter_config.json"


def lay_out(what: Path, wishes: Wishes, output: Path) -> str:
    """Write what goes to the hub to `output`, whole or not at all; whether it is a "model" or a "dataset".

    Raises:
        UserError: it is none of the three; the hub would refuse its card, see `checks.require_card`; it is a server's
            or several encoders'; a number is another encoder's; an adapter's base is nowhere on the hub; a wish is none
            for its kind; the output holds other files.
    """
    kind, write = kind_of(what)
    if wishes.scores and write is not encoder:
        raise UserError(f"--scores: encoders alone have scores, and {what} is none; leave it out")
    if wishes.base and write is triplets.write:
        raise UserError(f"--base: {what} has no weights that came from a model; leave it out")
    _require_output(what, output)
    with atomic_directory(output) as directory:
        repository = directory / REPOSITORY
        repository.mkdir(parents=True)
        write(what, wishes, repository, directory)
        require_card(repository / "README.md")
    return kind


def kind_of(what: Path) -> tuple[str, Callable[[Path, Wishes, Path, Path], None]]:
    """What a path is, as the hub calls it, and what lays it out; UserError: nothing that can be published."""
    if (what / "modules.json").is_file():
        return "model", encoder
    if (what / LORA).is_file():
        return "model", adapter
    if what.suffix == ".tsv" and what.with_suffix(".audit.json").is_file():
        return "dataset", triplets.write
    if (what / manifests.MANIFEST).is_file() and "members" in read_json(what / manifests.MANIFEST):
        raise UserError(f"{what}: a fusion has no weights of its own; publish its encoders")
    raise UserError(f"{what}: no encoder (modules.json), adapter ({LORA}) or audited triplets (.tsv with .audit.json)")


def _require_output(what: Path, output: Path) -> None:
    """What is there already is of an earlier call, since it is replaced; a UserError if it is anything else."""
    place, own = output.resolve(), what.resolve()
    ours = place.is_dir() and {file.name for file in place.iterdir()} <= {REPOSITORY, leaderboard.FOLDER}
    if output.exists() and (not ours or place == own or place in own.parents):
        raise UserError(f"--output {output}: holds other files, which would be lost; give a folder that is not there")


def encoder(what: Path, wishes: Wishes, repository: Path, output: Path) -> None:
    """An encoder with its scores in its card; beside it what mteb's leaderboard takes."""
    manifest = manifests.read(what / manifests.MANIFEST)
    if TRANSPORT in manifest["files"] or members_of(what, manifest):
        raise UserError(f"{what}: a server, or other encoders, make its vectors; there are no weights to publish")
    folder = wishes.scores or scores_of(what, manifest)
    found = results.of_encoder(folder, manifest)
    best = manifest.get("best", {})
    if not found and (wishes.scores or best):
        raise UserError(f"{folder}: no scores of {what}; give their folder by --scores, or run Snakemake")
    about = _seen(manifest["about"])
    languages = [language_of(code) for code in _languages(about)]
    metadata: dict[str, Any] = {"language": languages or ["multilingual"]}
    if wishes.licence:
        metadata |= {"license_name": None, "license_link": None} | wishes.licence.metadata
    elif not licences.of_model(about):
        raise UserError(_unlicensed(what, about))
    chose = best["dev"]["task"] if best else ""
    if tests := [one for one in found if one.task != chose]:
        metadata |= {"eval_results": results.metadata(tests), "model_name": wishes.name.rpartition("/")[2]}
        metadata |= {"metrics": sorted({one.metric_type for one in metadata["eval_results"]})}
    metadata |= {"datasets": sorted(_hubs(about, "")) or None}
    about |= {"base_model": wishes.base} if wishes.base else {}
    if others := _hubs(about, licences.BACKBONE):
        metadata |= {"base_model": [*filter(None, [about.get("base_model")]), *others]}
    _copy(what, repository, {*manifest["files"]} - {"README.md"})
    said = {"place": wishes.name, "metadata": metadata, "limits": _limits(about)}
    said["results"] = results.section(found, chose)
    training = {key: value for key, value in manifest["training"].items() if key not in ("pivot", "saved_from")}
    text = card.text(repository, about, training, manifest["versions"], **said)
    (repository / "README.md").write_text(text, encoding="utf-8")
    leaderboard.write(repository, about, found, wishes.name, metadata, output / leaderboard.FOLDER)


def adapter(what: Path, wishes: Wishes, repository: Path, output: Path) -> None:
    """An adapter with the card that its job wrote, or with another base, which peft then loads."""
    manifest = manifests.read(what / manifests.MANIFEST)
    config = read_json(what / LORA)
    if wishes.base:
        config |= {"base_model_name_or_path": wishes.base, "revision": None}
    elif not adapter_card.is_on_the_hub(manifest):
        known = config["base_model_name_or_path"]
        raise UserError(f"{what}: its base is {known!r} here, and peft looks for it on the hub; give --base owner/name")
    _copy(what, repository, {*manifest["files"]} - {"README.md", LORA})
    write_json(config, repository / LORA)
    adapter_card.write(repository, manifest, place=wishes.name, base=wishes.base, licence=wishes.licence)


def scores_of(encoder: Path, manifest: Mapping[str, Any]) -> Path:
    """Where a study has the scores of an encoder: <results>/encoders/... and <results>/scores/... go alike.

    The best of a language lies in <results>/best/{lang}; its manifest says which of the encoders it is.

    Raises:
        UserError: the encoder does not lie in a study's results.
    """
    parts = encoder.absolute().parts
    if "best" in manifest and parts[-2] == "best":
        about = manifest["about"]
        return Path(*parts[:-2], "scores", *(str(about[key]) for key in ("backbone", "recipe", "language", "seed")))
    if len(parts) < 6 or parts[-5] != "encoders":
        raise UserError(f"{encoder}: not below the results of a study; say where its scores are by --scores")
    return Path(*parts[:-5], "scores", *parts[-4:])


def _copy(what: Path, repository: Path, names: set[str]) -> None:
    """Copy files of a folder; no links, whose times of change would look like an edit of the study's own files."""
    for name in sorted(names):
        file = repository / name
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(what / name, file)


def _languages(about: Mapping[str, Any]) -> list[str]:
    """The languages of an encoder; of what is for any, none."""
    codes = about.get("languages") or [about.get("language")]
    return [code for code in codes if code and code != "mul"]


def _seen(about: Mapping[str, Any]) -> dict[str, Any]:
    """What a manifest says, without where files lie on this machine."""
    records = [record | {"origin": results.shown(record.get("origin", ""))} for record in about.get("data", [])]
    return {**about, "data": records} if records else dict(about)


def _hubs(about: Mapping[str, Any], role: str) -> list[str]:
    """The repositories of the hub of what an encoder learnt from or has in it, by its role; data have none."""
    records = [record for record in about.get("data", []) if record.get("role", "") == role]
    found = (results.repository_of(record.get("origin", "")) for record in records)
    return [*dict.fromkeys(filter(None, found))]


def _unlicensed(what: Path, about: Mapping[str, Any]) -> str:
    several = "and the hub takes one licence; say which by --licence"
    if not licences.is_stated(about.get("licence")) and (unknown := licences.unknown(about)):
        return f"{what}: {' and '.join(map(_unknown, unknown))}; such terms may bind it, so give --licence"
    if len(terms := licences.reaching(licences.stated_in(about))) > 1:
        return f"{what}: the terms of {', '.join(one.name for one in terms)} bind what learnt from outputs, {several}"
    weights = licences.of_weights(about)
    if len(weights) > 1 and all(map(licences.found, weights)):
        return f"{what}: it has weights under {' and '.join(dict.fromkeys(weights))}, {several}"
    stated = about.get("licence") or next((one for one in weights if not licences.found(one)), "")
    if licences.is_stated(stated):
        return f"{what}: the hub has no licence {stated!r}; give --licence other --licence-name NAME --licence-link URL"
    backbone = about.get("backbone", "")
    return f"{what}: no licence; state that of backbone {backbone} (`licence:` of its source), or give --licence"


def _unknown(record: Mapping[str, Any]) -> str:
    """What is amiss with the licence of a model whose outputs an encoder learnt from."""
    stated = record.get("licence", "")
    amiss = f"a licence that nobody here knows, {stated!r}" if licences.is_stated(stated) else "no licence"
    return f"{record['role']} {record['name']} states {amiss}"


def _limits(about: Mapping[str, Any]) -> str:
    """What must be said of the data's licences."""
    said = []
    records = about.get("data", [])
    if names := [one["name"] for one in records if "-nc" in one.get("licence", "").casefold()]:
        said.append(f"Not for commercial use are the data {', '.join(names)}, from which it learnt.")
    if names := [one["name"] for one in records if not licences.is_stated(one.get("licence"))]:
        said.append(f"Nobody has stated the licence of {', '.join(names)}.")
    for terms in licences.reaching(licences.stated_in(about)):
        said.append(
            f"A model wrote, translated or judged what it learnt from; its terms ({terms.link}) go with the encoder."
        )
    return " ".join(said)
