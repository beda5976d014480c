"""One encoder of several seeds: the mean of their weights, perhaps with a share of the encoder before training."""

from pydantic import Field

from seedbed.encoders.objectives import START, Copy


class Averaged(Copy):
    """The mean of the weights of a recipe's encoders, weight by weight, over all of its seeds (model soup, uniform).

    With a `share` it is (1 - share) times that mean plus share times the weights from which their training started,
    which keeps more of what the encoder could do before. Sources: Wortsman et al. (2022, "Model soups: averaging
    weights of multiple fine-tuned models improves accuracy without increasing inference time"), section 2; of the share
    Wortsman et al. (2022, "Robust fine-tuning of zero-shot models"), section 3.

        recipes:
          xllora-averaged: {from: xllora, data: {corpus: text}, objective: averaged}
          xllora-near: {from: xllora, data: {corpus: text}, objective: {averaged: {share: 0.25}}}
    """

    of_seeds = True

    share: float = Field(0.0, ge=0, lt=1)
    """The share of the weights before training; then one seed is enough."""

    @property
    def of_start(self) -> bool:
        """The weights before training have a share."""
        return self.share > 0

    def copied(self, encoder, texts, folders):
        """See `compression.copies.averaged`; the texts only say how far the mean is from the first seed's encoder."""
        from seedbed.encoders.compression.copies import averaged, interpolated
        from seedbed.encoders.models.loading import load, open_encoder

        seeds = [folder for name, folder in sorted(folders.items()) if name not in ("weights", START)]
        mean = averaged(encoder, map(open_encoder, seeds))
        return interpolated(mean, load(folders[START], pooling="mean"), self.share) if self.share else mean
