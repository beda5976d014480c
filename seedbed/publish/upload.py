"""Upload of a prepared repository to the hub: one commit, or two where the second card names the first commit."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from seedbed import manifests
from seedbed.encoders.export.card import REVISION
from seedbed.io import UserError, read_json, write_json
from seedbed.manifests import MANIFEST
from seedbed.publish import leaderboard
from seedbed.publish.repositories import CARD, REPOSITORY

if TYPE_CHECKING:
    from huggingface_hub.hf_api import DatasetInfo, ModelInfo

TAG = "seedbed"
"""Tag in the card of everything that is published."""


class Uploaded(NamedTuple):
    """The outcome of an upload."""

    commit: str
    public: bool
    """Whether everybody sees it."""
    deleted: list[str]
    """Files that were in the repository, and are not in the upload."""


def upload(output: Path, name: str, kind: str, *, public: bool, replace: bool) -> Uploaded:
    """Create a repository on the hub, if there is none, and commit what `repositories.lay_out` wrote.

    Before writing, an existing repository is checked: whether it is public, whether seedbed uploaded it, and whether it
    has files that are not in the upload. Such files are deleted, because a left-over `adapter_config.json` or `*.py`
    would be loaded with the model. After the commit, its hash becomes the model's revision in mteb's files.
    huggingface_hub takes its token from `hf auth login` or the environment.

    Args:
        name: owner/name of the repository.
        kind: "model" or "dataset".
        public: True if everyone may see it; False: only its owners.
        replace: True if a repository with other content may be overwritten, and its other files deleted.

    Returns:
        The last commit, who sees it, and what was deleted.

    Raises:
        UserError: the repository is public and `public` is False; it has other content and `replace` is False; the hub
            is not available, or refuses the token, the name or the card.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HTTPError, OfflineModeIsEnabled, RepositoryNotFoundError

    api = HfApi()
    try:
        try:
            found = api.repo_info(name, repo_type=kind)
        except RepositoryNotFoundError:
            api.create_repo(name, repo_type=kind, private=not public)
            found = api.repo_info(name, repo_type=kind)
        if not (public or found.private):
            raise UserError(f"{name}: everybody can see that repository; give --public, or make it private on the hub")
        left = _left_over(found, output / REPOSITORY, name, replace=replace)
        message = "Add what Seedbed made"
        where = {"repo_id": name, "repo_type": kind}
        gone = {"delete_patterns": ["*"]} if left else {}  # huggingface_hub deletes nothing that it uploads
        done = api.upload_folder(**where, folder_path=output / REPOSITORY, commit_message=message, **gone)
        said = (output / REPOSITORY / CARD).read_text(encoding="utf-8")
        if REVISION in said:  # whoever follows it runs this code, whatever comes later
            card = said.replace(REVISION, done.oid).encode()
            message = "Name the commit of its code"
            done = api.upload_file(**where, path_or_fileobj=card, path_in_repo=CARD, commit_message=message)
    except UserError:
        raise
    except OfflineModeIsEnabled:
        raise UserError(f"{name}: HF_HUB_OFFLINE is set, so nothing was sent; set it to 0 for this command") from None
    except (HTTPError, OSError, ValueError) as error:
        raise UserError(f"{name}: the hub did not take it ({' '.join(str(error).split())[:300]})") from None
    leaderboard.revised(output / leaderboard.FOLDER, done.oid)
    known = read_json(output / MANIFEST)
    kept = {file: digest for file, digest in known["files"].items() if file.startswith(f"{REPOSITORY}/")}
    revised = manifests.write(output, known)["files"]
    write_json(known | {"files": revised | kept}, output / MANIFEST)
    return Uploaded(done.oid, not found.private, left)


def _left_over(found: "ModelInfo | DatasetInfo", repository: Path, name: str, *, replace: bool) -> list[str]:
    """Files of a repository on the hub that are not in the upload; UserError: they may not be deleted."""
    there = [one.rfilename for one in found.siblings or [] if one.rfilename != ".gitattributes"]
    left = sorted(file for file in there if not (repository / file).is_file())
    otherwise = "give another --name, or --replace, which deletes it"
    if there and TAG not in (found.tags or []) and not replace:
        raise UserError(f"{name}: holds {there[0]!r} and no card of Seedbed's; {otherwise}")
    if left and not replace:
        raise UserError(f"{name}: holds {left[0]!r}, which is not in this upload; {otherwise}")
    return left
