"""Runs the examples, which must print the documented output."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .conftest import program

FOLDER = Path(__file__).parent.parent / "examples"
PRINTED = {
    "batching": r"calls: 200 right: True in fewer batches: True\n",
    "calculator": r"2 \+ 2 = 4\.0\n1 / 4 = 0\.25\n1 / 0 : INVALID_ARGUMENT: nothing divides by zero\nsyntax = .*",
    "image": r"grey: \(64, 48\) 76\n",
    "numpy_arrays": r"shape: \(512, 512\) mean: 0\.0 deviation: 1\.0\n",
    "streaming": r"count: \[0, 1, 2, 3, 4\]\nmean: 3\.0\nshout: \['A', 'B'\]\n",
}


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_an_example_runs(name: str) -> None:
    assert re.fullmatch(PRINTED[name], program((FOLDER / f"{name}.py").read_text()), re.DOTALL)


def test_each_example_has_its_test() -> None:
    assert sorted(PRINTED) == sorted(file.stem for file in FOLDER.glob("*.py"))
