"""Paper 004 at its own scale: its plan, job by job."""

from math import comb

import pytest

from tests.asking import study_of
from tests.workflow import plans


@pytest.fixture(scope="module")
def plan(project):
    return plans.made(project, "config/modular.yaml", "all_modular")


def test_sts17_has_the_orders_of_appendix_c2_and_each_side_is_read_from_its_languages_file():
    """Reimers and Gurevych's sets, and those of Cer et al., by name; Hercig and Král's by the files of both sides."""
    study = study_of("config/modular.yaml")
    codes = {
        "ar": "arb",
        "cs": "ces",
        "de": "deu",
        "en": "eng",
        "es": "spa",
        "fr": "fra",
        "it": "ita",
        "nl": "nld",
        "tr": "tur",
    }
    found = {}
    for order in study.tasks["sts17"].orders():
        source = study.test("sts17", order)
        if source.hub:
            found[order] = source.config
        else:
            member = {"first": source.member, "second": source.join["sentence2"]["member"]}
            sides = [member[side].removesuffix(f".{side}.txt").rpartition(".")[2].lower() for side in member]
            found[order] = "-".join(sides)
            assert source.join["score"]["member"] == "dataset/STS.2017.gs.track5.first-second.txt"
    listed = "en-ar en-tr es-en de-en en-fr en-cs cs-en de-fr fr-de cs-de de-cs cs-fr fr-cs en-de fr-en nl-en it-en"
    assert found == {"-".join(codes[code] for code in order.split("-")): order for order in listed.split()}


def test_no_job_asks_for_less_than_it_is_forecast_to_take(plan):
    assert plan.short == []


def test_the_papers_scale_is_planned_as_computed_by_hand(plan):
    languages, turkic, backbones, tables = 23, 6, 6, 10
    graded, belebele = 22, 22  # languages of STS17, K-STS, STS22 and STR24: all but Dutch; of Belebele: all but Uyghur
    # Pairs of STS17, of K-STS, and those of STS22 that STS17 does not have; of Belebele, and of K-STS with Uyghur.
    graded_pairs, every_pair = 11 + 15 + 5, comb(belebele, 2) + 5
    single, modular = 3, languages + turkic  # Single_m, _c, _mc; an encoder a language of LaBSE, and six of Glot500
    shards = 13  # 624,683 rows, at most 650,000, 50,000 a shard
    assert plan.counts == {
        # Text; English paraphrases of two kinds; tests of one language: 7, 6, 10, 6 and 22; of two with files of their
        # own, in one order or two: 5 and 6 pairs of STS17, 8 of STS22.
        "fetch_corpus": languages + 2 + 7 + turkic + 10 + 6 + belebele + 5 + 2 * 6 + 8,
        "fetch_model": backbones + 1 + 1,  # BERTbek, and the translator
        "sample_text": languages, "select_anchors": languages,
        "synthesise": (languages - 1) * shards, "join_triplets": languages - 1, "audit_triplets": languages - 1,
        "train_vocabulary": modular, "adapt_backbone": modular,
        # Five backbones as they are; three single ones of three; Multi_m and _mc; English of other data, alignment
        # to it in six languages; two of table 11.
        # Table 6: two more alignments, whose encoders six languages show.
        "train_encoder": 5 + 3 * single + 2 * modular + 1 + turkic + 2 + 2 * turkic,
        "align_encoders": 2,
        "embed_pivot": 3,  # English of LaBSE, of Glot500, and of other data
        "score": sum(
            [
                # Tables 1 and 5: four as they are; single ones of Glot500, SONAR; Single_c and _mc of LaBSE; Multi.
                (4 + 2 * single + 2 + 1) * (graded + graded_pairs),
                languages + graded_pairs,  # LaBSE as it is: Belebele in one language too (table 4)
                2 * (languages + every_pair),  # Single_m and Multi_m of LaBSE: tables 2, 3, 4 and 12
                1 + every_pair,  # Multi_mc: of one language only English, in table 7
                2 * (turkic + comb(turkic, 2)),  # Multi_m and Multi_mc of Glot500, table 13
                2 * (1 + 5),  # table 7: English and five pairs with it, with adapters and without
                2 + 1,  # table 11
                2 * comb(turkic, 2),  # table 6
            ]
        ),
        "plan_table": tables, "tabulate": tables, "plot": 1,
    }  # fmt: skip
