"""Upload of a prepared repository to the hub: one commit, or two where the second card names the first commit."""

from pathlib import Path
from typing import NamedTuple

from seedbed import manifests
from seedbed.encoders.export.card import REVISION
from seedbed.io import UserError, read_json, write_json
from seedbed.manifests import MANIFEST
from seedbed.publish import leaderboard
from seedbed.publish.repositories import CARD, REPOSITORY

TAG = "seedbed"
"""Tag in the card of everything that is published."""


class Uploaded(NamedTuple):
    """What became of it."""

    commit: str
    public: bool
    """Whether everybody sees it."""


def upload(output: Path, name: str, kind: str, *, public: bool, replace: bool) -> Uploaded:
    """Create a repository on the hub, if there is none, and commit what `repositories.lay_out` wrote.

    Before writing, an existing repository is checked: whether it is public, and whether seedbed uploaded it. After the
    commit, its hash becomes the model's revision in mteb's files. huggingface_hub takes its token from `hf auth login`
    or the environment.

    Args:
        public: True if everyone may see it; False: only its owners.
        replace: True if a repository with other content may be overwritten.

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
        others = [one.rfilename for one in found.siblings or [] if one.rfilename != ".gitattributes"]
        if others and TAG not in (found.tags or []) and not replace:
            raise UserError(f"{name}: holds {others[0]!r} and no card of Seedbed's; give another --name, or --replace")
        message = "Add what Seedbed made"
        where = {"repo_id": name, "repo_type": kind}
        done = api.upload_folder(**where, folder_path=output / REPOSITORY, commit_message=message)
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
    return Uploaded(done.oid, not found.private)
