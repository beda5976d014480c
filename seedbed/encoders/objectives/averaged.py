"""One encoder of several seeds: the mean of their weights, perhaps with a share of the encoder before training."""

from typing import Self

from pydantic import Field, model_validator

from seedbed.encoders.objectives import Copy
from seedbed.encoders.settings import Reference


class Averaged(Copy):
    """The mean of the weights of a recipe's encoders, weight by weight, over all of its seeds (model soup, uniform).

    With `base` it is (1 - share) times that mean plus share times the weights of `base`, mostly the encoder before
    training, which keeps more of what that could do. Sources: Wortsman et al. (2022, "Model soups: averaging weights of
    multiple fine-tuned models improves accuracy without increasing inference time"), section 2; of the share Wortsman
    et al. (2022, "Robust fine-tuning of zero-shot models"), section 3.

        recipes:
          xllora-averaged: {from: xllora, data: {sentences: text}, objective: averaged}
          xllora-and-base:
            from: xllora
            data: {sentences: text}
            objective: {averaged: {base: {backbone: labse, recipe: base}, share: 0.25}}
    """

    of_seeds = True

    base: Reference | None = None
    """An encoder with weights of the same shapes, which has a share of the mean."""
    share: float = Field(0.0, ge=0, lt=1)
    """The share of `base`."""

    @model_validator(mode="after")
    def _have_both(self) -> Self:
        if (self.base is None) == bool(self.share):
            raise ValueError("averaged: base and share go together; give both, or neither")
        return self

    def copied(self, encoder, texts, folders):
        """See `encoders.copies.averaged`; the texts only say how far the mean is from the first seed's encoder."""
        from seedbed.encoders.backbone import open_encoder
        from seedbed.encoders.copies import averaged, interpolated

        seeds = [folder for name, folder in sorted(folders.items()) if name not in ("weights", "base")]
        mean = averaged(encoder, map(open_encoder, seeds))
        return interpolated(mean, open_encoder(folders["base"]), self.share) if self.base else mean
