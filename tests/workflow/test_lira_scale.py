"""Paper 002 at its own scale: its plan, job by job."""

from tests.workflow.test_neighxlm import counts


def test_the_papers_scale_is_planned_as_computed_by_hand(project):
    found = counts(project.snakemake("all_lira", "--dry-run", "--quiet", "rules", config="config/lira.yaml"))
    languages, translators, variants = 26, 8, 2
    # Languages of MLQA, Belebele and STS22, and orders of two of STS22; of MGSM and X-CSQA. Five and eight are shared.
    mlqa, belebele, sts22, orders, mgsm, xcsqa = 7, languages, 10, 8, 10, 16
    of_mlqa_and_sts22, shared = 5, 2  # MGSM and X-CSQA have 18 languages: two shares, by their hashes
    ntrex, queries, graded = languages, 7, 5  # what features, rankings and correlations are learnt from
    plain, tables = 6, 10  # encoders as they are; 2 and 11 need LazRetrieval
    # Texts of MLQA, Belebele and MGSM whose chosen English is counted, and passages beside a human's English.
    shares, deviation, of_sts22_and_deviation = mlqa + belebele + mgsm, languages - 1, sts22 - 1
    pairs, static, passes, critics = 4, 3, 4, 2  # mT5-XL beside four; pass@0 to 3; without the judge, the similarity
    ablated = critics + 1  # and without queues
    tests, learnt = mlqa + belebele + sts22, ntrex + queries + graded
    anchored, ranked, translated = pairs + critics + passes, pairs + ablated + passes, pairs + passes
    assert found == {
        # Norms are of a file of STS22's first texts, which stability shares.
        "fetch_corpus": tests + orders + sts22 + mgsm + xcsqa + learnt + shares + deviation,
        "fetch_model": translators + 1 + 1 + plain + 1,  # the judge, the model that reasons, and mT5-XL
        # By each, whatever is read, and what no training text may repeat: of tests that no encoder reads, no English.
        "translate": translators * (tests + orders + learnt + sts22 - 1 + mgsm - 1 + xcsqa - 1 + shares + deviation)
        + 2,  # English that the model that reasons is asked in
        "judge": tests + orders + learnt + shares + deviation,
        "train_encoder": plain + static + anchored + 2 * ranked + translated,  # rankings first, then correlations
        "choose_translations": (
            # LiRA and the English path: tables 1 and 5 have all tests, those of two languages too.
            2 * pairs * (tests + orders)
            + 2 * passes * tests  # table 7
            + ablated * (2 * sts22 + of_mlqa_and_sts22)  # table 8: Belebele and MLQA are scored in the same jobs
            + ranked * (queries + graded)  # each is trained on the one, then on the other
            + (pairs + passes) * deviation + ablated * of_sts22_and_deviation
            + pairs * shares  # figure 10
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
        "plan_table": tables, "tabulate": tables, "plot": 3, "all_lira": 1,  # figures 4, 5 and 10
        "total": 4310,
    }  # fmt: skip
