"""Work that is shared by workers: what was finished is never lost."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from itertools import islice

import pytest

from holdrank.parallel.spread import spread
from holdrank.parallel.workers import Parcel
from holdrank.status import Clock


def squared(_parcel, number, _clock):
    if number < 0:
        raise RuntimeError("lost")
    return number * number, True


class AtOnce(Executor):
    """Does everything when it is handed over, so that all of it is done at the first look."""

    def submit(self, function, /, *args, **options):
        future: Future = Future()
        try:
            future.set_result(function(*args, **options))
        except RuntimeError as error:
            future.set_exception(error)
        return future


@pytest.mark.parametrize("fails", range(5))
def test_what_ended_well_comes_before_what_failed(fails):
    work = {str(k): (-1 if k == fails else k,) for k in range(5)}
    results = spread(squared, work, Parcel(None), Clock(), executor=AtOnce())
    found = dict(islice(results, 4))
    with pytest.raises(RuntimeError, match="lost"):
        next(results)
    assert found == {str(k): k * k for k in range(5) if k != fails}
