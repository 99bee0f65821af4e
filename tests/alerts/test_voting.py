"""Voting: two samples or two heads for what is costly, whatever the level; no failed head ignored."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from alerts.alarms import Level
from alerts.voting import SAME_GAS, Ballot, Fitness, Gate, Run, WhenFailed, Why, tally
from sensors.readings import DetectorId
from sensors.stamps import SECOND, Instant

GATE = Gate(Level.A2, heads=2, samples=2)


def head(name, level=None, samples=0, fitness=Fitness.WATCHING):
    """A head's ballot; `samples` at its own level."""
    run = Run()
    for moment in range(samples):
        run = run.after(level, Instant(moment))
    return Ballot(DetectorId(name), level, run, fitness)


def runs(levels):
    """The run after samples at these levels."""
    run = Run()
    for moment, level in enumerate(levels):
        run = run.after(level, Instant(moment))
    return run


levels = st.none() | st.sampled_from(Level)
ballots = st.lists(
    st.builds(
        Ballot,
        st.text("abc", min_size=1, max_size=3).map(DetectorId),
        levels,
        st.lists(levels, max_size=4).map(runs),
        st.sampled_from(Fitness),
    ),
    max_size=6,
    unique_by=lambda ballot: ballot.detector,
)
gates = st.builds(
    Gate,
    st.sampled_from(Level),
    heads=st.integers(1, 4),
    samples=st.integers(1, 3),
    when_failed=st.sampled_from(WhenFailed),
)


def test_one_sample_of_one_head_is_not_enough_and_the_second_is():
    quiet = head("b")
    assert not tally(GATE, [head("a", Level.A2, 1), quiet]).passed
    second = tally(GATE, [head("a", Level.A2, 2), quiet])
    assert second.why is Why.SAMPLES
    assert (second.votes, second.needed, second.of) == (("a",), 2, 2)


def test_two_heads_are_enough_with_one_sample_each():
    assert tally(GATE, [head("a", Level.A2, 1), head("b", Level.A2, 1), head("c")]).why is Why.HEADS


def test_one_head_at_the_highest_level_passes_alone_with_its_second_sample():
    gate, others = replace(GATE, heads=4, samples=9), [head("b"), head("c")]
    assert not tally(gate, [head("a", Level.A3, 1), *others]).passed
    assert tally(gate, [head("a", Level.A3, 2), *others]).why is Why.HIGHEST
    assert tally(gate, [replace(head("a", Level.A3), run=runs([Level.A2, Level.A3])), *others]).why is Why.HIGHEST


def test_a_level_below_the_gate_is_no_vote():
    assert not tally(GATE, [head("a", Level.A1, 9), head("b", Level.A1, 9)]).passed


def test_a_failed_head_is_removed_and_the_votes_asked_for_shrink_with_it():
    gate, failed = replace(GATE, heads=3, samples=9), head("c", fitness=Fitness.FAILED)
    left = tally(gate, [head("a", Level.A2, 1), head("b", Level.A2, 1), failed])
    assert (left.why, left.needed, left.of) == (Why.HEADS, 2, 2)


def test_the_last_head_left_passes_with_its_second_sample_in_a_row_and_never_with_its_first():
    failed = head("b", fitness=Fitness.FAILED)
    for gate in (GATE, replace(GATE, heads=5, samples=9)):
        first = tally(gate, [head("a", Level.A2, 1), failed])
        assert (first.passed, first.needed, first.of) == (False, 2, 1)
        assert tally(gate, [head("a", Level.A2, 2), failed]).why is Why.SAMPLES


def test_who_asks_for_one_head_or_one_sample_gets_what_was_asked_for():
    for gate in (replace(GATE, heads=1), replace(GATE, samples=1)):
        assert tally(gate, [head("a", Level.A2, 1), head("b")]).passed


def test_a_failed_head_votes_where_the_depot_says_so():
    gate = replace(GATE, when_failed=WhenFailed.VOTES)
    assert tally(gate, [head("a", Level.A2, 1), head("b", fitness=Fitness.FAILED), head("c")]).votes == ("a", "b")
    assert tally(gate, [head("b", fitness=Fitness.FAILED), head("c", fitness=Fitness.FAILED)]).passed


def test_a_head_that_a_person_set_aside_does_not_vote_but_leaves_its_place():
    gate = replace(GATE, when_failed=WhenFailed.VOTES)
    counted = tally(gate, [head("a", fitness=Fitness.SET_ASIDE), head("b"), head("c")])
    assert (counted.votes, counted.of) == ((), 2)


def test_a_sample_that_is_heard_twice_counts_once():
    once = Run().after(Level.A2, Instant(5))
    assert once.after(Level.A2, Instant(5)).at(Level.A2) == 1
    assert once.after(Level.A3, Instant(6)).at(Level.A2) == 2
    assert once.after(Level.A1, Instant(6)).after(Level.A2, Instant(6)).at(Level.A2) == 1


def samples(*taken_at: tuple[float, Level | None]) -> Run:
    run = Run()
    for at_s, level in taken_at:
        run = run.after(level, Instant(round(at_s * SECOND)))
    return run


def test_gas_that_swings_about_a_level_confirms_itself_though_no_two_samples_in_a_row_reach_it():
    run = samples((0, Level.A2), (0.5, Level.A1), (1, Level.A2), (1.5, None), (2, Level.A1), (2.5, None), (3, Level.A1))
    assert (run.at(Level.A2), run.at(Level.A1)) == (2, 5)


def test_two_spikes_of_noise_an_hour_apart_are_one_sample_each():
    spike = (0.0, Level.A3), (0.5, None)
    assert samples(*spike, (3600, Level.A3)).at(Level.A1) == 1
    assert samples(*spike, (60, Level.A3)).at(Level.A3) == 2
    assert samples(*spike, (60.1, Level.A3)).at(Level.A3) == 1


def test_a_head_that_is_read_once_in_five_minutes_confirms_itself_by_two_samples_in_a_row():
    assert samples((0, Level.A2), (300, Level.A2)).at(Level.A2) == 2
    assert samples((0, Level.A2), (300, Level.A1), (600, Level.A2)).at(Level.A2) == 1


def test_what_nothing_has_confirmed_for_a_minute_is_forgotten():
    assert samples((0, Level.A2), (1, Level.A2), (60, Level.A1)).at(Level.A2) == 2
    assert samples((0, Level.A2), (1, Level.A2), (62, Level.A1)).at(Level.A2) == 0


@given(st.lists(st.tuples(st.floats(0.1, 100), levels), max_size=12))
def test_samples_in_a_row_always_confirm_each_other_and_a_higher_level_never_more_than_a_lower(steps):
    run, in_a_row, at_s = Run(), 0, 0.0
    for step_s, level in steps:
        at_s += step_s
        run = run.after(level, Instant(round(at_s * SECOND)))
        in_a_row = in_a_row + 1 if level is not None and level >= Level.A2 else 0
        assert run.at(Level.A2) >= in_a_row
        assert run.at(Level.A1) >= run.at(Level.A2) >= run.at(Level.A3)


@given(st.lists(st.tuples(st.floats(0.1, 100), levels), max_size=12))
def test_two_samples_count_exactly_if_neighbours_or_within_a_minute(steps):
    run, at_s, past, neighbours = Run(), 0.0, None, False
    for step_s, level in steps:
        at_s += step_s
        run = run.after(level, Instant(round(at_s * SECOND)))
        if level is None:
            neighbours = False
            continue
        assert (run.at(Level.A1) >= 2) is (
            past is not None and (neighbours or round((at_s - past) * SECOND) <= SAME_GAS)
        )
        past, neighbours = at_s, True


@given(gates, ballots)
def test_the_highest_level_always_passes_with_its_second_sample(gate, cast):
    assert tally(gate, [*cast, head("alone", Level.A3, 2)]).passed


@given(gates, levels, st.lists(st.sampled_from((Fitness.FAILED, Fitness.SET_ASIDE, Fitness.WATCHING)), max_size=5))
def test_one_sample_of_one_head_opens_no_gate_that_asks_for_two(gate, level, others):
    gate = replace(gate, heads=gate.heads + 1, samples=gate.samples + 1, when_failed=WhenFailed.REMOVED)
    cast = [head(f"o{place}", fitness=fitness) for place, fitness in enumerate(others)]
    assert not tally(gate, [head("a", level, 1), *cast]).passed


@given(gates, ballots)
def test_one_more_head_with_gas_never_closes_a_gate(gate, cast):
    more = [*cast, head("more", gate.level, 1)]
    assert tally(gate, more).passed or not tally(gate, cast).passed


@given(gates, ballots)
def test_a_head_that_fails_never_closes_a_gate(gate, cast):
    """Whatever it counts for: what was enough before it failed is enough after."""
    for place, one in enumerate(cast):
        failed = [*cast[:place], replace(one, fitness=Fitness.FAILED), *cast[place + 1 :]]
        assert tally(gate, failed).passed or not tally(gate, cast).passed


@given(gates, ballots)
def test_without_gas_only_failed_heads_that_vote_can_open_a_gate(gate, cast):
    calm = [replace(one, level=None, run=Run()) for one in cast]
    counted = tally(gate, calm)
    if gate.when_failed is WhenFailed.REMOVED:
        assert not counted.passed
    assert set(counted.votes) <= {one.detector for one in calm if one.fitness is Fitness.FAILED}


@given(gates, ballots)
def test_never_more_votes_are_asked_for_than_heads_are_left_but_for_the_second(gate, cast):
    counted = tally(gate, cast)
    assert min(2, gate.heads) <= counted.needed <= max(2, counted.of)
    assert len(counted.votes) <= counted.of
