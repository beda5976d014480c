"""What a command line gives is what a file would have."""

from seedbed.yamls import typed


def test_texts_that_are_numbers_become_numbers_and_others_stay():
    given = {"seeds": ["1", "-2"], "rate": "5e-5", "on": "true", "off": ["false"], "deep": [{"of": ["0.5"]}]}
    assert typed(given) == {"seeds": [1, -2], "rate": 5e-5, "on": True, "off": [False], "deep": [{"of": [0.5]}]}
    for same in ("nan", "inf", "", "hau", "1a", "adjacent-100", "/data/2", "1_000", "0123", "٣", None, 3, True):
        assert typed([same]) == [same] and type(typed(same)) is type(same)
