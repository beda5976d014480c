"""Paper 002 at its own scale: its plan, job by job."""

from pathlib import Path

import pytest

from tests.asking import study_of
from tests.workflow import plans
from tests.workflow.conftest import Project
from tests.workflow.test_lazretrieval import LANGUAGES, LAZ, write
from tests.workflow.test_neighxlm import counts


@pytest.fixture(scope="module")
def plan(project: Project) -> plans.Planned:
    return plans.made(project, "config/lira.yaml", "all_lira")


def test_no_job_asks_for_less_than_it_is_forecast_to_take(plan: plans.Planned) -> None:
    assert plan.short == []


def test_the_papers_scale_is_planned_as_computed_by_hand(plan: plans.Planned) -> None:
    languages, translators, variants = 26, 8, 6
    # Languages of MLQA, Belebele and STS22, and orders of two of STS22; of MGSM and X-CSQA. Five and eight are shared.
    mlqa, belebele, sts22, orders, mgsm, xcsqa = 7, languages, 10, 8, 10, 16
    of_mlqa_and_sts22, shared = 5, 2  # MGSM and X-CSQA have 18 languages: two shares, by their hashes
    ntrex, queries, graded = languages, 7, 5  # what features, rankings and correlations are learnt from
    plain, tables = 6, 10  # encoders as they are; 2 and 11 need LazRetrieval
    # Texts of MLQA, Belebele and MGSM whose chosen English is counted, and passages beside a human's English.
    shares, deviation, of_sts22_and_deviation = mlqa + belebele + mgsm, languages - 1, sts22 - 1
    pairs, static, passes, critics = 4, 3, 4, 2  # mT5-XL beside four; pass@0 to 3; without the judge, the similarity
    # Before the model that reasons: mT5-XL beside its embeddings, and that without the judge, the similarity.
    reasoned = 1 + critics
    ablated = critics + 1  # and without queues
    tests, learnt = mlqa + belebele + sts22, ntrex + queries + graded
    anchored, ranked, translated = pairs + critics + passes, pairs + ablated + passes, pairs + passes
    assert plan.counts == {
        # Norms are of a file of STS22's first texts, which stability shares.
        "fetch_corpus": tests + orders + sts22 + mgsm + xcsqa + learnt + shares + deviation,
        "fetch_model": translators + 1 + 1 + plain + 1 + 1,  # the judge, the model that reasons, twice, and mT5-XL
        # By each, whatever is read, and what no training text may repeat: of tests that no encoder reads, no English.
        "translate": translators * (tests + orders + learnt + sts22 - 1 + mgsm + xcsqa + shares + deviation),
        "judge": tests + orders + learnt + mgsm + xcsqa + shares + deviation,
        # Rankings first, then correlations.
        "train_encoder": plain + static + anchored + reasoned + 2 * ranked + translated,
        "choose_translations": (
            # Once for LiRA, the English path and LiRA without queues: tables 1 and 5 have all tests, those of two
            # languages too.
            pairs * (tests + orders)
            + passes * tests  # table 7
            + critics * (2 * sts22 + of_mlqa_and_sts22)  # table 8: Belebele and MLQA are scored in the same jobs
            + (pairs + critics + passes) * (queries + graded)  # each is trained on the one, then on the other
            + (pairs + passes) * deviation + critics * of_sts22_and_deviation
            + pairs * shares  # figure 10
            + reasoned * (mgsm + xcsqa)  # tables 3, 4 and 8
        ),
        "score": (
            # A language's tests are one job. Of table 8's ablations only STS22 is asked; features alone are one.
            (plain + 2 * pairs) * (belebele + orders)
            + 2 * passes * belebele
            + (ablated + 1) * sts22
            + (plain + static) * sts22  # tables 9 and 10
            + pairs * shares
            + shared  # all variants of the model that reasons
        ),
        "describe_classifier": variants,
        "plan_table": tables, "tabulate": tables, "plot": 3,  # figures 4, 5 and 10
    }  # fmt: skip


def test_the_pages_have_the_numbers_of_the_plan(plan: plans.Planned) -> None:
    jobs, counts = sum(plan.counts.values()), plan.counts
    page = Path("docs/papers/lira.md").read_text()
    assert f"{jobs:,} jobs, {counts['translate']:,} of them translate, {counts['judge']} judge" in page
    assert f"{len(study_of('config/lira.yaml').languages)} languages" in page
    assert f"instead of {jobs:,})" in Path("docs/quality.md").read_text()


def test_with_a_place_the_tables_of_lazretrieval_are_planned_too(
    project: Project, plan: plans.Planned, tmp_path: Path
) -> None:
    for lang in LANGUAGES:
        write(tmp_path, lang)
    without = plan.counts
    options = ["all_lira", "--dry-run", "--quiet", "rules", "--config", f"paths={{laz: {tmp_path}}}"]
    found = counts(project.snakemake(*options, config="config/lira.yaml"))
    languages, translators = len(LANGUAGES), 8
    sets = {"laz", "laz-shares", "laz-query", "laz-item"}
    assert sets == {*LAZ}
    more = {rule: found[rule] - without[rule] for rule in ("fetch_corpus", "translate", "judge", "train_encoder")}
    assert more == {
        "fetch_corpus": len(sets) * languages,
        "translate": 2 * translators * languages,  # of lengths nothing is translated
        "judge": 2 * languages,
        "train_encoder": 0,
    }
    for rule, least in {
        # Of four pairs and of pass@0 to 3; figure 10 is of LiRA.
        "choose_translations": languages * (4 + 4) + languages * 4,
        "score": 2 * languages * 6 + 4 * languages,  # lengths are of each plain encoder; table 8 asks for new languages
        "tabulate": 2,
        "plot": 1,
    }.items():
        assert found[rule] - without[rule] >= least, rule
