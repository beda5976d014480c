"""What was laid out goes to the hub, in one commit."""

from pathlib import Path

from seedbed.io import UserError
from seedbed.operations.publishing import leaderboard
from seedbed.operations.publishing.repositories import REPOSITORY


def upload(output: Path, name: str, kind: str, *, private: bool) -> str:
    """Make a repository, if there is none, and commit what `repositories.lay_out` wrote; the commit's digest.

    mteb's files then have it as the model's revision. Who may write is the hub's matter: huggingface_hub takes its
    token from where `hf auth login` or the environment left it.

    Raises:
        UserError: the hub cannot be reached, refuses the token, the name or the card.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HTTPError, OfflineModeIsEnabled

    api = HfApi()
    try:
        api.create_repo(name, repo_type=kind, private=private, exist_ok=True)
        message = "Add what Seedbed made"
        done = api.upload_folder(repo_id=name, repo_type=kind, folder_path=output / REPOSITORY, commit_message=message)
    except OfflineModeIsEnabled:
        raise UserError(f"{name}: HF_HUB_OFFLINE is set, so nothing was sent; set it to 0 for this command") from None
    except (HTTPError, OSError, ValueError) as error:
        raise UserError(f"{name}: the hub did not take it ({' '.join(str(error).split())[:300]})") from None
    leaderboard.revised(output / leaderboard.FOLDER, done.oid)
    return done.oid
