"""Folders as the hub takes them: an encoder, an adapter or a set of triplets, with a card that is checked."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from seedbed import licences, manifests, model_files, origins
from seedbed.encoders.endpoint import TRANSPORT
from seedbed.encoders.export import card
from seedbed.encoders.models.ensemble import members_of
from seedbed.generators.lora import adapter_card
from seedbed.io import UserError, atomic_directory, is_own, read_json, sha256, write_json
from seedbed.publish import leaderboard, results, triplets
from seedbed.publish.checks import language_of, require_card, require_public
from seedbed.publish.options import Options
from seedbed.tables.settings import Statistics

REPOSITORY = "repository"
"""Folder below the output with everything that is uploaded; mteb's files are next to it."""
LORA = "adapter_config.json"
CARD = "README.md"
LAID_OUT = "laid_out"
"""In the manifest of an output: the name on the hub for which it was laid out."""


def lay_out(what: Path, options: Options, output: Path) -> str:
    """Write the files of a repository for the hub into `output`, all or none; returns "model" or "dataset".

    A card that a person has edited in `output` is not overwritten.

    Raises:
        UserError: it is no encoder, adapter or triplets; the hub would refuse its card, see `checks.require_card`; it
            is an encoder behind an API or a fusion; a score belongs to another encoder; an adapter's base is not on the
            hub; an option does not apply to this kind; its files are not those of its manifest; its card reveals this
            machine, see `checks.require_public`; the output contains other files, or edits that would be lost.
    """
    kind, write = kind_of(what)
    if options.scores and write is not encoder:
        raise UserError(f"--scores: encoders alone have scores, and {what} is none; leave it out")
    if options.base and write is triplets.write:
        raise UserError(f"--base: {what} has no weights that came from a model; leave it out")
    edited = _require_output(what, output)
    with atomic_directory(output) as directory:
        repository = directory / REPOSITORY
        repository.mkdir(parents=True)
        write(what, options, repository, directory)
        card = repository / CARD
        made = manifests.write(directory, {LAID_OUT: options.name})["files"]
        if edited:
            if made[f"{REPOSITORY}/{CARD}"] != edited.of:
                raise UserError(
                    f"{output / REPOSITORY / CARD}: you have edited it, and the card would be another today; move it "
                    f"away, lay it out anew, and put your edits in"
                )
            card.write_text(edited.text, encoding="utf-8")
        require_card(card)
        require_public(card, (Path.home(), Path.cwd(), what.absolute().parent))
    return kind


def kind_of(what: Path) -> tuple[str, Callable[[Path, Options, Path, Path], None]]:
    """The hub's type of a path, "model" or "dataset", and the function that writes its repository.

    Raises:
        UserError: it cannot be published.
    """
    if (what / "modules.json").is_file():
        return "model", encoder
    if (what / LORA).is_file():
        return "model", adapter
    if what.suffix == ".tsv" and what.with_suffix(".audit.json").is_file():
        return "dataset", triplets.write
    if (what / manifests.MANIFEST).is_file() and "members" in read_json(what / manifests.MANIFEST):
        raise UserError(f"{what}: a fusion has no weights; publish its encoders")
    raise UserError(f"{what}: no encoder (modules.json), adapter ({LORA}) or audited triplets (.tsv with .audit.json)")


class Edited(NamedTuple):
    """A card as a person has left it."""

    text: str
    of: str
    """Digest of the card that was laid out."""


def _require_output(what: Path, output: Path) -> Edited | None:
    """Check that the output folder has only files of an earlier call, since it is replaced; returns its card if a
    person has edited it.

    Raises:
        UserError: it has other files than those in the earlier call's list.
    """
    place, own = output.resolve(), what.resolve()
    if output.is_symlink():
        raise UserError(f"--output {output}: a link; give the folder itself")
    if own in place.parents:
        raise UserError(f"--output {output}: lies in {what}, which a job wrote; give a folder elsewhere")
    if not output.exists() or (output.is_dir() and not [*output.iterdir()]):
        return None
    lost = f"--output {output}: holds other files, which would be lost; give a folder that is not there"
    marked = output / manifests.MANIFEST
    known = read_json(marked) if output.is_dir() and marked.is_file() else {}
    if LAID_OUT not in known or place == own or place in own.parents:
        raise UserError(lost)
    there = {str(file.relative_to(output)) for file in output.rglob("*") if file.is_symlink() or not file.is_dir()}
    if others := sorted(there - {*known["files"], manifests.MANIFEST}):
        raise UserError(f"{lost} ({others[0]})")
    changed = sorted(name for name in there & {*known["files"]} if sha256(output / name) != known["files"][name])
    if others := [name for name in changed if name != f"{REPOSITORY}/{CARD}"]:
        raise UserError(
            f"{output / others[0]}: changed since it was laid out, and would be lost; give another --output"
        )
    card = output / REPOSITORY / CARD
    return Edited(card.read_text(encoding="utf-8"), known["files"][changed[0]]) if changed else None


def encoder(what: Path, options: Options, repository: Path, output: Path) -> None:
    """Write an encoder with its scores in its card into `repository`, and mteb's result files into `output`.

    Raises:
        UserError: as `lay_out`.
    """
    manifest = manifests.of(what)
    if TRANSPORT in manifest["files"] or members_of(what, manifest):
        raise UserError(f"{what}: a server, or other encoders, make its vectors; there are no weights to publish")
    folder = options.scores or scores_of(what, manifest)
    best = manifest.get("best", {})
    # Only the choice of a best encoder records the study's statistics; other encoders have the defaults.
    found = results.of_encoder(folder, manifest, Statistics(**best.get("statistics", {})))
    if not found and (options.scores or best):
        raise UserError(f"{folder}: no scores of {what}; give their folder by --scores, or run Snakemake")
    about = _seen(manifest["about"])
    languages = [best["language"]] if best else []  # maybe of an encoder that was trained on others
    languages = [*dict.fromkeys(map(language_of, languages + _languages(about)))]
    about |= {"best_encoder_of": best["name"]} if best else {}
    metadata: dict[str, Any] = {"language": languages or ["multilingual"]}
    if options.licence:
        metadata |= {"license_name": None, "license_link": None} | options.licence.metadata
    elif not licences.of_model(about):
        raise UserError(_unlicensed(what, about))
    chose = best["dev"]["tasks"] if best.get("dev") else []
    if tests := [one for one in found if one.task not in chose]:
        metadata |= {"eval_results": results.metadata(tests), "model_name": options.name.rpartition("/")[2]}
        metadata |= {"metrics": sorted({one.metric_type for one in metadata["eval_results"]})}
    metadata |= {"datasets": sorted(_hubs(about, "")) or None}
    about |= {"base_model": options.base} if options.base else {}
    if others := _hubs(about, licences.BACKBONE):
        metadata |= {"base_model": [*filter(None, [about.get("base_model")]), *others]}
    _copy(what, repository, manifest["files"], {CARD})
    said = {"place": options.name, "metadata": metadata, "limits": _limits(about)}
    said["results"] = results.section(found, chose)
    training = {key: value for key, value in manifest["training"].items() if key not in ("pivot", "saved_from")}
    text = card.text(repository, about, training, manifest["versions"], **said)
    (repository / CARD).write_text(text, encoding="utf-8")
    leaderboard.write(repository, about, tests, options.name, metadata, output / leaderboard.FOLDER)


def adapter(what: Path, options: Options, repository: Path, output: Path) -> None:
    """Write an adapter with a card. Its base is `options.base` if given, which peft then loads, else its manifest's.

    Raises:
        UserError: as `lay_out`.
    """
    manifest = manifests.of(what)
    config = read_json(what / LORA)
    if options.base:
        config |= {"base_model_name_or_path": options.base, "revision": None}
    elif not adapter_card.is_on_the_hub(manifest):
        known = config["base_model_name_or_path"]
        raise UserError(f"{what}: its base is {known!r} here, and peft looks for it on the hub; give --base owner/name")
    _copy(what, repository, manifest["files"], {CARD, LORA})
    write_json(config, repository / LORA)
    adapter_card.write(repository, manifest, place=options.name, base=options.base, licence=options.licence)


def scores_of(encoder: Path, manifest: Mapping[str, Any]) -> Path:
    """The folder of an encoder's scores: for <results>/encoders/..., the same path below <results>/scores/.

    A language's best encoder is <results>/best/{lang}; its manifest says which encoder it is a copy of.

    Raises:
        UserError: the encoder is not in a study's results.
    """
    parts = encoder.absolute().parts
    if "best" in manifest and parts[-2] == "best":
        about = manifest["about"]
        return Path(*parts[:-2], "scores", *(str(about[key]) for key in ("backbone", "recipe", "language", "seed")))
    if len(parts) < 6 or parts[-5] != "encoders":
        raise UserError(f"{encoder}: not below the results of a study; say where its scores are by --scores")
    return Path(*parts[:-5], "scores", *parts[-4:])


def _copy(what: Path, repository: Path, files: Mapping[str, str], but: set[str]) -> None:
    """Copy the files of a manifest; no hard links, because their changed times would look like an edit of the original.

    Args:
        files: name -> digest; each file is compared with it, since the folder may have been made by anyone.
        but: names of files that are not copied.

    Raises:
        UserError: a file is outside the folder, or does not have the digest of the manifest.
    """
    model_files.check(what)
    for name, digest in sorted(files.items()):
        if not model_files.is_inside(name) or not is_own(what / name, what):
            raise UserError(f"{what}: its manifest names {name!r}, which is no file in this folder; make it again")
        if sha256(what / name) != digest:
            raise UserError(f"{what / name}: not what its job wrote; put it back, or make it again")
        if name not in but:
            (repository / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(what / name, repository / name)


def _languages(about: Mapping[str, Any]) -> list[str]:
    """The languages of an encoder; of what is for any, none."""
    codes = about.get("languages") or [about.get("language")]
    return [code for code in codes if code and code != "mul"]


def _seen(about: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a manifest, without paths on this machine."""
    records = [record | {"origin": origins.public(record.get("origin", []))} for record in about.get("data", [])]
    return {**about, "data": records} if records else dict(about)


def _hubs(about: Mapping[str, Any], role: str) -> list[str]:
    """Repositories on the hub of an encoder's models and training data, by role; data sets have none."""
    records = [record for record in about.get("data", []) if record.get("role", "") == role]
    return [*dict.fromkeys(name for record in records for name in origins.hubs(record.get("origin", [])))]


def _unlicensed(what: Path, about: Mapping[str, Any]) -> str:
    several = "and the hub takes one licence; say which by --licence"
    if not licences.is_stated(about.get("licence")) and (unknown := licences.unknown(about)):
        return f"{what}: {' and '.join(map(_unknown, unknown))}; such terms may bind it, so give --licence"
    if len(terms := licences.reaching(licences.stated_in(about))) > 1:
        return (
            f"{what}: the terms of {', '.join(one.name for one in terms)} bind encoders trained on outputs, {several}"
        )
    weights = licences.of_weights(about)
    if len(weights) > 1 and all(map(licences.found, weights)):
        return f"{what}: it has weights under {' and '.join(dict.fromkeys(weights))}, {several}"
    stated = about.get("licence") or next((one for one in weights if not licences.found(one)), "")
    if licences.is_stated(stated):
        return f"{what}: the hub has no licence {stated!r}; give --licence other --licence-name NAME --licence-link URL"
    backbone = about.get("backbone", "")
    return f"{what}: no licence; state that of backbone {backbone} (`licence:` of its source), or give --licence"


def _unknown(record: Mapping[str, Any]) -> str:
    """Problems with the licence of a model on whose outputs an encoder was trained."""
    stated = record.get("licence", "")
    amiss = f"a licence that nobody here knows, {stated!r}" if licences.is_stated(stated) else "no licence"
    return f"{record['role']} {record['name']} states {amiss}"


def _limits(about: Mapping[str, Any]) -> str:
    """What must be said of the data's licences."""
    said = []
    records = about.get("data", [])
    terms = [(record["name"], record.get("licence", "").casefold()) for record in records]
    barred = [name for name, stated in terms if any(one in stated for one in licences.NON_COMMERCIAL)]
    if names := ", ".join(dict.fromkeys(barred)):
        said.append(f"Not for commercial use are the data {names}, on which it was trained.")
    if names := ", ".join(dict.fromkeys(name for name, stated in terms if not licences.is_stated(stated))):
        said.append(f"Nobody has stated the licence of {names}.")
    for one in licences.reaching(licences.stated_in(about)):
        said.append(f"A model wrote, translated or judged its training data; the model's terms ({one.link}) apply too.")
    return " ".join(said)
