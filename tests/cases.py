"""Many small cases as one test: pytest takes longer to collect, run and report a case than our rules to decide it."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

Test = Callable[..., None]


def each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, which is for cases that take their time; every case that fails is named."""
    told, own = list(cases), (names,) if isinstance(names, str) else names

    def decorate(test: Test) -> Test:
        def all_cases(**given: Any) -> None:
            failed: list[Exception] = []
            for case in told:
                values = dict(zip(own, (case,) if isinstance(names, str) else case, strict=True))
                try:
                    test(**given, **values)
                # A group is what another `each`, below this one, has found.
                except (AssertionError, ExceptionGroup) as error:
                    error.add_note(f"where {', '.join(f'{name} = {value!r}' for name, value in values.items())}")
                    failed.append(error)
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(told)} cases", failed)

        # Under its own name; what the cases give is no fixture.
        all_cases.__name__, all_cases.__doc__, all_cases.__module__ = test.__name__, test.__doc__, test.__module__
        rest = [one for one in inspect.signature(test).parameters.values() if one.name not in own]
        all_cases.__dict__["__signature__"] = inspect.Signature(rest)
        return all_cases

    return decorate
