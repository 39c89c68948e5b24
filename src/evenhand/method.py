"""What a method is: a value that holds its own options, and the text that names it.

A method is a frozen dataclass. Its fields are its options, each made by `option` with
what it does and how it is read. Its text form, `flips(weight=rational(2))`, is what the
command line, scenarios, records and messages use; `parse` reads it and runs nothing. A
class that names itself is in the registry from then on, and whatever lists, offers,
certifies, simulates, replays or documents methods finds it there.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import keyword
import numbers
import re
import warnings
from fractions import Fraction
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Self,
    TypeVar,
    dataclass_transform,
)

from evenhand.errors import OptionError, listing, must_be, name_of, quote, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evenhand.claims import Claim, Json

Job = Literal["compare", "rank", "select"]
ROOMS: Mapping[Job, str] = {"compare": "ab", "rank": "ranking"}
WORDS = {"true": True, "false": False, "none": None}
LONGEST = 1000
NAME = r"[A-Za-z][A-Za-z0-9_]*(-[A-Za-z][A-Za-z0-9_]*)*"
EXAMPLES: Mapping[Job, str]
EXAMPLES = {
    "compare": "guarded(eps=0.2)",
    "rank": "safe(noise=1)",
    "select": "smooth(slope=0.2)",
}
Chosen = TypeVar("Chosen", bound="Method")


class Call(NamedTuple):
    """A text form, taken apart.

    Attributes:
        name: What is called.
        given: Values by position: literals, or the text of a name or of a call.
        named: Values by option.
    """

    name: str
    given: tuple[Any, ...]
    named: dict[str, Any]


def parse(text: str, what: str = "method", example: str = "safe(noise=1)") -> Call:
    """Take a text form apart; nothing of it is run.

    Args:
        text: A name, with options in brackets.
        what: What it is called in a message.
        example: One that is right, for a message.

    Raises:
        OptionError: If it is no text form; the message has the place.

    Examples:
        >>> parse("ties(start=uniform, noise=3)").named
        {'start': 'uniform', 'noise': 3}
        >>> parse("flips(")
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: method must be a name, with options in brackets,
        got 'flips(', wrong at character 6. Write for instance safe(noise=1).
    """
    source = text.strip()
    # flips-uniform is a name, not a difference; places and lengths stay.
    hyphens = r"'[^']*'|\"[^\"]*\"|(?<=[A-Za-z])-(?=[A-Za-z])"
    plain = re.sub(hyphens, lambda match: "_" if match[0] == "-" else match[0], source)
    try:
        return _call(plain, source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        place = getattr(error, "offset", None) or 1
        raise OptionError(
            f"{what} must be a name, with options in brackets, got {quote(text)}, "
            f"wrong at character {place}. Write for instance {example}."
        ) from None


def _call(plain: str, source: str) -> Call:
    strange = not plain.isascii() or not plain.isprintable() or "#" in plain
    if strange or len(plain) > LONGEST:
        raise ValueError(source)
    with warnings.catch_warnings(action="ignore"):
        body = ast.parse(plain, mode="eval").body
    call = body if isinstance(body, ast.Call) else ast.Call(body, [], [])
    positional = tuple(_value(argument, source) for argument in call.args)
    named = {
        str(argument.arg): _value(argument.value, source) for argument in call.keywords
    }
    if len(named) < len(call.keywords) or not isinstance(call.func, ast.Name):
        raise ValueError(source)
    return Call(ast.get_source_segment(source, call.func) or "", positional, named)


def _value(node: ast.expr, source: str) -> Any:  # noqa: ANN401 - whatever a literal is
    written = ast.get_source_segment(source, node)
    if isinstance(node, ast.Name):
        return WORDS.get(node.id.lower(), written)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return written
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):
        raise SyntaxError(source, ("", 1, node.col_offset + 1, source)) from None


def option(default: object, says: str, read: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - a field of any type
    """Make a field of a method.

    Args:
        default: What it is if nobody says.
        says: What it does, for `evenhand methods NAME`.
        read: From what was given, also as text, to the value; or an error.

    Examples:
        >>> option(1.0, "How much.", float).default
        1.0
    """
    return dataclasses.field(default=default, metadata={"says": says, "read": read})


def reader(
    name: str,
    rule: str,
    holds: Callable[[Any], bool],
    kind: Callable[[Any], Any] = lambda value: value,
) -> Callable[[Any], Any]:
    """Return what reads an option of which something must hold.

    Args:
        name: Its name.
        rule: What it must be, in words.
        holds: The same as a test.
        kind: What it is stored as.

    Examples:
        >>> reader("name", "text", lambda value: isinstance(value, str))("parity")
        'parity'
    """

    def read(value: object) -> Any:  # noqa: ANN401 - whatever holds
        if not holds(value):
            raise must_be(name, rule, value)
        return kind(value)

    return read


def choice(name: str, *choices: str) -> Callable[[Any], str]:
    """Return what reads an option that is one of several words.

    Examples:
        >>> choice("scan", "paper", "parity")("parity")
        'parity'
    """
    # What is no text may not even be comparable.
    rule = f"one of {listing(choices)}"
    return reader(name, rule, lambda value: isinstance(value, str) and value in choices)


def flag(name: str) -> Callable[[Any], bool]:
    """Return what reads an option that is true or false.

    Examples:
        >>> flag("anchored")(False)
        False
    """
    return reader(name, "True or False", lambda value: isinstance(value, bool))


def number(
    name: str, rule: str, holds: Callable[[Any], bool]
) -> Callable[[Any], float]:
    """Return what reads an option that is a number.

    Args:
        name: Its name.
        rule: What it must be, in words.
        holds: The same as a test; nothing holds of NaN.

    Examples:
        >>> number("eps", "a number below 0.5", lambda eps: eps < 0.5)(1 / 8)
        0.125
    """

    def real(value: object) -> bool:
        counts = isinstance(value, numbers.Real) and not isinstance(value, bool)
        return counts and holds(value)

    return reader(name, rule, real, float)


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Method:
    """One way to decide, with its options; every subclass is a frozen dataclass.

    Attributes:
        job: "compare" for two items, "rank" for many.
        name: What `method=` and `--method` take.
        assumes: What must hold of the reviewers and of the assignment.
        best: What is proved of its answer if that holds.
        reference: Where to read about it.
        default: Whether it is used when no method is named.
        own: Whether it is a user's function.
    """

    job: ClassVar[Job]
    name: ClassVar[str] = ""
    assumes: ClassVar[str] = "nothing"
    best: ClassVar[Claim]
    reference: ClassVar[str] = ""
    default: ClassVar[bool] = False
    own: ClassVar[bool] = False
    registry: ClassVar[dict[tuple[Job, str], type[Method]]] = {}

    def __init_subclass__(cls, **arguments: object) -> None:
        """Make it a dataclass, and register it if it names itself."""
        super().__init_subclass__(**arguments)
        dataclasses.dataclass(frozen=True, kw_only=True, repr=False)(cls)
        if not isinstance(vars(cls).get("name"), str):
            return
        if not re.fullmatch(NAME, cls.name) or keyword.iskeyword(cls.name):
            rule = "letters, digits and hyphens"
            raise must_be("name of a method", rule, cls.name)
        registered = cls.registry.get((cls.job, cls.name), cls)
        if not hasattr(cls, "best"):
            raise OptionError(f"method {cls.name} must say its best claim, as best.")
        if (registered.__module__, registered.__qualname__) != (
            cls.__module__,
            cls.__qualname__,
        ):
            raise OptionError(f"name of a method must be new, got {cls.name!r} again.")
        cls.registry[cls.job, cls.name] = cls

    def __post_init__(self) -> None:
        """Check every option, and read those that are given as text."""
        for name, field in self.options().items():
            if "read" in field.metadata:
                value = field.metadata["read"](getattr(self, name))
                object.__setattr__(self, name, value)

    @classmethod
    def options(cls) -> dict[str, dataclasses.Field[Any]]:
        """Return its options by name, as fields of a dataclass."""
        return {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]  # a dataclass

    @classmethod
    def from_options(cls, options: Mapping[str, object]) -> Self:
        """Make one from options by name.

        Raises:
            OptionError: If it has no such option, or a value is not one.
        """
        fields = cls.options()
        for name in options:
            if name not in fields:
                raise OptionError(unknown("option", name, fields, of=cls.name))
        return cls(**options)

    @classmethod
    def of_function(cls, function: Callable[..., object]) -> Self:
        """Make one of a user's function."""
        raise NotImplementedError

    @classmethod
    def summary(cls) -> str:
        """Return what it does, in a line."""
        return (inspect.getdoc(cls) or "").partition("\n")[0]

    @classmethod
    def describe(cls) -> dict[str, Json]:
        """Return what it is as plain values, as in `evenhand methods --json`."""
        return {
            "job": cls.job,
            "name": cls.name,
            "summary": cls.summary(),
            "assumes": cls.assumes,
            "best": cls.best.to_dict(),
            "default": cls.default,
            "claims": cls.best.sentence(),
            "reference": cls.reference,
            "options": [
                {
                    "name": name,
                    "default": as_json(field.default),
                    "says": field.metadata.get("says", ""),
                }
                for name, field in cls.options().items()
            ],
        }

    def parameters(self) -> dict[str, Json]:
        """Return its options by name, as in the JSON of a result."""
        values = {name: getattr(self, name) for name in self.options()}
        return {
            name: as_json(value) for name, value in values.items() if value is not None
        }

    def __str__(self) -> str:
        """Return the text form: the name, and the options that are not the default."""
        parts = [
            name
            if field.default is False
            else f"{name}={_option_text(getattr(self, name))}"
            for name, field in self.options().items()
            if getattr(self, name) != field.default
        ]
        return f"{self.name}({', '.join(parts)})" if parts else self.name

    __repr__ = __str__


def methods(job: Job | None = None) -> tuple[type[Method], ...]:
    """List the methods.

    Args:
        job: "compare" or "rank" for the methods of one job only.

    Returns:
        The classes of methods, in the order in which the paper builds them up.

    Examples:
        >>> [method.name for method in methods("compare")]
        ['coin', 'sign', 'mean', 'median', 'trimmed', 'votes', 'guarded']
    """
    jobs = [kind for kind in ROOMS if job in (None, kind)]
    for kind in jobs:
        importlib.import_module(f"evenhand.{ROOMS[kind]}.methods")
    return tuple(
        cls for kind in jobs for (its, _), cls in Method.registry.items() if its == kind
    )


def as_method(
    method: object,
    kind: type[Chosen],
    what: str = "method",
    keep: Callable[[type[Chosen]], bool] = lambda _: True,
) -> Chosen:
    """Return a method from its name, its text form, its class, itself or a function.

    Args:
        method: What names it.
        kind: What it must be.
        what: What it is called in a message.
        keep: Which of the registered ones will do.

    Raises:
        OptionError: If there is no such method or option.
    """
    registered = {
        cls.name: cls
        for cls in Method.registry.values()
        if issubclass(cls, kind) and keep(cls)
    }
    if isinstance(method, type) and issubclass(method, kind) and method.name:
        method = method()
    if isinstance(method, kind) and (method.name or method.own):
        if not keep(type(method)):
            raise OptionError(unknown(what, str(method), registered))
        return method
    if isinstance(method, str):
        call = parse(method, what, EXAMPLES[kind.job])
        if call.name not in registered:
            raise OptionError(unknown(what, call.name, registered))
        chosen = registered[call.name]
        return chosen.from_options(
            call.named | _positional_option(chosen, call, method)
        )
    if callable(method) and not isinstance(method, type):
        return kind.of_function(method)
    raise must_be(what, "a name or a function", method)


def _positional_option(chosen: type[Method], call: Call, text: str) -> dict[str, Any]:
    """Return values without a name: of a single option, or names of switches."""
    options = list(chosen.options())
    switches = [name for name in options if chosen.options()[name].default is False]
    if all(value in switches and value not in call.named for value in call.given):
        return dict.fromkeys(call.given, True)
    if len(options) != 1 or len(call.given) > 1 or call.named:
        raise OptionError(
            f"options of {chosen.name} must be named, got {quote(text)}. It has "
            f"{listing(options) or 'none'}."
        )
    return {options[0]: call.given[0]}


def as_json(value: object) -> Json:
    """Return an option as a plain value: a method by its text, a weight by its parts.

    Examples:
        >>> as_json((1, 5))
        [1, 5]
    """
    if isinstance(value, Method):
        return str(value)
    if hasattr(value, "to_dict"):
        plain: Json = value.to_dict()
        return plain
    if callable(value):
        return name_of(value)
    if isinstance(value, tuple | list):
        return [as_json(part) for part in value]
    if isinstance(value, numbers.Real) and not isinstance(value, bool | int):
        return float(value)
    return value if isinstance(value, bool | int | None) else str(value)


def _option_text(value: object) -> str:
    if isinstance(value, str):
        return value if re.fullmatch(r"[A-Za-z][\w-]*", value) else repr(value)
    if callable(value) and not hasattr(value, "to_dict"):
        return f"{name_of(value)}()"
    return str(float(value) if isinstance(value, Fraction) else value)
