"""Checks the answers to the notebooks' exercises. An answer that is still ... counts as not given."""


class NotYet(Exception):
    """The exercise has no answer yet."""


def check(answer):
    """@check(answer), written above a function of asserts, calls it with the answer and prints the result.

    An answer may be a value or a function; a function that returns ... has not been written yet."""
    def run(test):
        try:
            if answer is ...:
                raise NotYet
            test(_asked(answer) if callable(answer) and not isinstance(answer, type) else answer)
            print("Right.")
        except NotYet:
            print("Not answered yet: put your answer in the place of the dots above, and run both cells.")
        except AssertionError as wrong:
            print(f"Not yet: {wrong}")
        except Exception as error:
            if isinstance(answer, type) or getattr(error, "of_answer", False):  # so that the answer's line is shown
                raise
            print(f"Not yet: the check does not accept the answer, and stops with {type(error).__name__}: {error}")
    return run


def _asked(function):
    def of(*args, **named):
        try:
            value = function(*args, **named)
        except Exception as error:
            error.of_answer = True
            raise
        if value is ...:
            raise NotYet
        assert value is not None, "it returns None; is there a return statement?"
        return value
    return of
