"""What may be wrong with what is stored of a task, or with what its assessor knows: each is one thing to be found."""

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import replace

from assessor.rules.clock import Stretch, milliseconds
from evaluation.terms import SegmentKind
from loadtest.desk.checks import Record, check_task
from loadtest.desk.window import Act, Ledger

Plant = Callable[[Record, Ledger], None]


def lose_one(record: Record, ledger: Ledger) -> None:
    del record.log[10]


def lose_the_last(record: Record, ledger: Ledger) -> None:
    record.log.pop()


def double_one(record: Record, ledger: Ledger) -> None:
    record.log.append(replace(record.log[-1], seq=len(record.log) + 1))


def invent_one(record: Record, ledger: Ledger) -> None:
    del ledger.acts[record.log[5].op_id]


def swap_two(record: Record, ledger: Ledger) -> None:
    """Two operations changed places, and the receipts with them."""
    first, second = record.log[6], record.log[7]
    acts: list[Act] = [ledger.acts[logged.op_id] for logged in (first, second)]
    first.seq, second.seq = second.seq, first.seq
    acts[0].seq, acts[1].seq = first.seq, second.seq
    record.log.sort(key=lambda logged: logged.seq)


def forget_a_receipt(record: Record, ledger: Ledger) -> None:
    ledger.acts[record.log[4].op_id].outcome = ""


def keep_what_was_given_up(record: Record, ledger: Ledger) -> None:
    """The assessor kept the other window's version, and this one was written all the same."""
    ledger.acts[record.log[4].op_id].outcome = "theirs"


def forget_a_step(record: Record, ledger: Ledger) -> None:
    record.state["undo"].pop()


def turn_time_round(record: Record, ledger: Ledger) -> None:
    record.stretches.append(stretch(record, 2000, 1000))


def credit_too_much(record: Record, ledger: Ledger) -> None:
    record.stretches.append(stretch(record, -3_600_000, 0))


def freeze_less(record: Record, ledger: Ledger) -> None:
    record.frozen[0].pop()


def freeze_twice(record: Record, ledger: Ledger) -> None:
    record.frozen.append(record.frozen[0])


def stretch(record: Record, start: int, end: int) -> Stretch:
    opened = milliseconds(record.opened)
    return Stretch("window-1", 1, SegmentKind.READING, opened + start, opened + end)


PLANTS: list[Plant] = [
    lose_one,
    lose_the_last,
    double_one,
    invent_one,
    swap_two,
    forget_a_receipt,
    keep_what_was_given_up,
    forget_a_step,
    turn_time_round,
    credit_too_much,
    freeze_less,
    freeze_twice,
]


def overlooked(plants: Iterable[Plant], done: tuple[Record, Ledger]) -> list[str]:
    missed = []
    for plant in plants:
        record, ledger = deepcopy(done)
        plant(record, ledger)
        if not check_task(record, ledger).violations:
            missed.append(plant.__name__)
    return missed
