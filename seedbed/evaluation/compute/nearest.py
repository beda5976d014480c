"""Cost of classification by nearest training texts, counted and timed."""

from dataclasses import replace

from seedbed.encoders.models.inference import Opened, is_remote
from seedbed.evaluation.classification import vote
from seedbed.evaluation.compute import formulae
from seedbed.evaluation.compute.cost import Cost, Counted, Timed, dtype_of, sample, sizes_of
from seedbed.evaluation.compute.measuring import flops, reading, seconds
from seedbed.evaluation.compute.settings import Compute
from seedbed.evaluation.scores import Trial
from seedbed.evaluation.scoring import texts
from seedbed.io import UserError


def retrieval(encoder: Opened, name: str, question: Trial, kept: Trial, spec: Compute) -> tuple[Cost, Cost]:
    """Count and time the vote of nearest training texts (see `protocols.knn`) on the whole data set.

    The code does less than the formula: a distinct text is encoded once, and distances come from one matrix product (2
    (n_dim + 1) operations a pair); exact distances of the few nearest are not counted.

    Args:
        question: the task, with embeddings that are computed at each call.
        kept: the task, with precomputed embeddings.

    Returns:
        The cost of the whole, and of retrieval without the vote.

    Raises:
        UserError: several encoders, or one behind an API.
    """
    if encoder.encoder is None or is_remote(encoder.encoder):
        raise UserError("compute.encoder: several encoders or a server's have no pass to count; take one with weights")
    test, train, sizes = question.test, question.train, sizes_of(question, spec)
    distinct = texts(question.task, test, train)
    some, k = sample(distinct, spec.sample), min(max(question.task.k), len(train))
    with reading(encoder.encoder[0]) as read:
        forward = flops(lambda: encoder.encode(some)) / len(some)
    corpus, queries = kept.embed(train["text"], test["text"])
    found = train["label"].to_numpy()[kept.search(queries, corpus, k)]
    width = queries.shape[1]
    encoding = seconds(lambda: question.embed(train["text"], test["text"]), spec.repeats, warm=True)
    timed = [
        Timed("encoding", len(distinct), encoding),
        Timed("search", len(test), seconds(lambda: kept.search(queries, corpus, k), spec.repeats)),
        Timed("vote", len(test), seconds(lambda: vote(found), spec.repeats)),
    ]
    shots = Cost(
        method="search for shots",
        model=name,
        sizes=sizes,
        formula=lambda train: formulae.retrieval(sizes._replace(train=train), dimensions=width, forward=forward),
        done=len(distinct) * forward + 2 * sizes.train * sizes.test * (width + 1),
        span=timed[0].span.plus(timed[1].span),
        scaled=False,
        dtype=dtype_of(encoder.encoder),
        symbols={"n_dim": width},
        counted=[Counted("f_M", forward, len(some), read)],
        timed=timed,
    )
    return replace(shots, method="retrieval", span=shots.span.plus(timed[2].span)), shots
