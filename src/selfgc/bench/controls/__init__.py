"""The controls of the judge: what must come out of views whose verdict is known beforehand."""
