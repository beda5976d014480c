"""Multilingual distillation: a sentence and its translation are trained towards a teacher's vector of the sentence."""

from seedbed.encoders.objectives import LANGUAGE, Objective
from seedbed.encoders.settings import Reference
from seedbed.io import UserError

BATCH = 64
"""Texts that the teacher encodes at a time."""


class Distillation(Objective):
    """sentence-transformers' MSELoss on parallel text, towards the vectors of a teacher M for the pivot sentences.

    The mean over the batch of ((M(s_j) - M'(s_j))^2 + (M(s_j) - M'(t_j))^2) / 2 for sentences s_j of the pivot language
    and their translations t_j, where M' is the encoder in training. Source: Reimers and Gurevych (2020, "Making
    monolingual sentence embeddings multilingual using knowledge distillation"), section 2, but for the factor.

        recipes:
          student:
            data: {corpus: parallel}
            objective: {distillation: {teacher: {backbone: labse, recipe: published}}}
    """

    shapes = (("pivot", "text"),)
    optional = (LANGUAGE + "pivot",)

    teacher: Reference
    """An encoder of the study with vectors of as many dimensions. It reads the texts once, before the first step."""

    def loss(self, encoder, table, training, folders):
        """Build an MSELoss whose labels are the teacher's vectors of the rows' pivot sentences, with the prompt of the
        language that the table's column LANGUAGE gives.

        Raises:
            UserError: the teacher cannot be loaded or has no prompt for that language, or its vectors have another
                width.
        """
        import torch
        from sentence_transformers.sentence_transformer.losses import MSELoss

        from seedbed.encoders.losses.rows import RowLabelLoss
        from seedbed.encoders.models.inference import opened

        languages = {*table.get(LANGUAGE + "pivot", ())}
        language = languages.pop() if len(languages) == 1 else ""
        teacher, width = opened(folders["teacher"], BATCH, language=language), encoder.get_embedding_dimension()
        if teacher.width != width:
            raise UserError(
                f"distillation.teacher: its vectors have {teacher.width} dimensions, those of the encoder in training "
                f"{width}; take a teacher, or a backbone, of the other's width"
            )
        return RowLabelLoss(MSELoss(encoder), torch.from_numpy(teacher.encode(table["pivot"].tolist())))
