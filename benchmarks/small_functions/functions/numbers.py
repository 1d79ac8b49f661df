"""Small arithmetic and well-known rules for whole numbers."""


def double_and_add(first: int, second: int) -> int:
    """Return twice the first number plus the second number.

    >>> double_and_add(3, 4)
    10
    """
    return 2 * first + second


def to_minutes(hours: int, minutes: int) -> int:
    """Return how many minutes a time of hours and minutes is in all.

    >>> to_minutes(2, 5)
    125
    """
    return 60 * hours + minutes


def is_between(number: int, first: int, second: int) -> bool:
    """Say whether a number lies between two others, which may come in any order. The borders count as between.

    >>> is_between(5, 9, 5)
    True
    """
    return min(first, second) <= number <= max(first, second)


def digit_sum(number: int) -> int:
    """Add the digits of a whole number, again and again until one digit is left. The sign does not matter.

    >>> digit_sum(-987)
    6
    """
    number = abs(number)
    while number > 9:
        number = sum(int(digit) for digit in str(number))
    return number


def collatz_steps(number: int) -> int:
    """Count the steps from a number to 1: an even number is halved, an odd one is multiplied by 3 and 1 is added.

    Raise a ValueError for numbers below 1.

    >>> collatz_steps(6)
    8
    """
    if number < 1:
        raise ValueError("number must be at least 1")
    steps = 0
    while number != 1:
        number = number // 2 if number % 2 == 0 else 3 * number + 1
        steps += 1
    return steps


def roman(number: int) -> str:
    """Write a number from 1 to 3999 in Roman numerals. Raise a ValueError for any other number.

    >>> roman(1994)
    'MCMXCIV'
    """
    if not 1 <= number <= 3999:
        raise ValueError("number must be from 1 to 3999")
    out = ""
    values = [1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1]
    signs = ["M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"]
    for value, sign in zip(values, signs, strict=True):
        out += sign * (number // value)
        number %= value
    return out


def unit_fractions(top: int, bottom: int) -> list[int]:
    """Write a fraction between 0 and 1 as a sum of different fractions 1/n, always taking the largest one that fits.

    Return the numbers n in that order.

    >>> unit_fractions(7, 15)
    [3, 8, 120]
    """
    out = []
    while top > 0:
        number = -(-bottom // top)
        out.append(number)
        top, bottom = top * number - bottom, bottom * number
    return out
