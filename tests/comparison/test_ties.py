from blade.comparison.ranking import letters, tie_groups


def test_groups_hold_runs_that_cannot_be_told_apart_and_may_overlap() -> None:
    # Only the best and the worst of four are apart: the two between belong to both groups.
    assert tie_groups(4, {(0, 3): True, (0, 1): False, (1, 3): False}) == [[0, 1, 2], [1, 2, 3]]


def test_runs_that_are_all_apart_stand_alone_and_tied_ones_together() -> None:
    assert tie_groups(3, {(0, 1): True, (0, 2): True, (1, 2): True}) == [[0], [1], [2]]
    assert tie_groups(3, {}) == [[0, 1, 2]]


def test_letters_go_on_after_z() -> None:
    assert [letters(0), letters(25), letters(26)] == ["a", "z", "a2"]
