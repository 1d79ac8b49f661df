"""Texts in small formats, read."""


def parse_point(text: str) -> tuple[int, int]:
    """Read two whole numbers that are separated by a comma.

    >>> parse_point("3, -4")
    (3, -4)
    """
    first, second = text.split(",")
    return int(first), int(second)


def parse_duration(text: str) -> int:
    """Read a time such as "1h20m", "45m" or "2h" and return it in minutes. Raise a ValueError for any other form.

    >>> parse_duration("1h20m")
    80
    """
    hours, mark, rest = text.partition("h")
    if not mark:
        hours, rest = "0", text
    if rest and not (rest.endswith("m") and rest[:-1].isdigit()):
        raise ValueError(text)
    if not hours.isdigit() or text == "":
        raise ValueError(text)
    return 60 * int(hours) + (int(rest[:-1]) if rest else 0)


def parse_pairs(text: str) -> dict[str, int]:
    """Read pairs such as "a=1; b=2" into a dictionary. Spaces do not matter, and of a key given twice the first counts.

    >>> parse_pairs("a=1; b=2; a=3")
    {'a': 1, 'b': 2}
    """
    out: dict[str, int] = {}
    for part in text.split(";"):
        if part.strip():
            key, _, value = part.partition("=")
            out.setdefault(key.strip(), int(value))
    return out


def mask_mail(address: str) -> str:
    """Hide the part of a mail address before the @: all but its first and last letter become *.

    A part of one or two letters becomes * altogether.

    >>> mask_mail("anna@post.example")
    'a**a@post.example'
    """
    name, _, host = address.partition("@")
    hidden = name[0] + "*" * (len(name) - 2) + name[-1] if len(name) > 2 else "*" * len(name)
    return f"{hidden}@{host}"


def evaluate(text: str) -> int:
    """Work out a sum of whole numbers with + - and *, where * binds more strongly. There are no brackets.

    Spaces may stand between numbers and signs, and a number may begin with zeros, which change nothing.

    >>> evaluate("2+3*4-1")
    13
    """
    total, product, number, sign, operator = 0, 1, "", 1, "+"
    for letter in [*text.replace(" ", ""), "+"]:
        if letter.isdigit():
            number += letter
            continue
        product = product * int(number) if operator == "*" else int(number)
        number = ""
        if letter != "*":
            total += sign * product
            sign = 1 if letter == "+" else -1
        operator = letter
    return total


def expand_ranges(text: str) -> list[int]:
    """Write out a list of numbers and ranges such as "1-3,7". A range whose first number is larger counts down.

    >>> expand_ranges("1-3,7,5-4")
    [1, 2, 3, 7, 5, 4]
    """
    out: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        begin, end = int(first), int(last or first)
        out += range(begin, end + 1) if begin <= end else range(begin, end - 1, -1)
    return out


def first_unbalanced(text: str) -> int:
    """Return the place of the first bracket of ( ) [ ] { } that has no partner, or -1 when all have one.

    A closing bracket that does not fit the last open one has no partner, and reading stops there. Of opening brackets
    that are never closed, the leftmost is meant.

    >>> first_unbalanced("a(b]c)")
    3
    """
    partner = {")": "(", "]": "[", "}": "{"}
    waiting: list[int] = []
    for place, letter in enumerate(text):
        if letter in partner.values():
            waiting.append(place)
        elif letter in partner:
            if not waiting or text[waiting[-1]] != partner[letter]:
                return place
            waiting.pop()
    return waiting[0] if waiting else -1
