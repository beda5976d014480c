"""One encoder of several seeds: the mean of their weights."""

from seedbed.encoders.objectives import Copy


class Averaged(Copy):
    """The mean of the weights of a recipe's encoders, weight by weight, over all of its seeds (model soup, uniform).

    Source: Wortsman et al. (2022, "Model soups: averaging weights of multiple fine-tuned models improves accuracy
    without increasing inference time"), section 2.

        recipes:
          xllora-averaged: {from: xllora, data: {sentences: text}, objective: averaged}
    """

    of_seeds = True

    def copied(self, encoder, texts, folders):
        """See `encoders.copies.averaged`; the texts only say how far the mean is from the first seed's encoder."""
        from seedbed.encoders.backbone import open_encoder
        from seedbed.encoders.copies import averaged

        others = [folder for name, folder in sorted(folders.items()) if name != "weights"]
        return averaged(encoder, map(open_encoder, others))
