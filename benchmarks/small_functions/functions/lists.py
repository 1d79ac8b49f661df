"""Lists cut, filtered and searched for runs."""

from typing import Any


def last_item(items: list[Any], default: Any) -> Any:
    """Return the last item of a list, or the default when the list is empty.

    >>> last_item([1, 2, 3], 0)
    3
    """
    return items[-1] if items else default


def total_positive(numbers: list[int]) -> int:
    """Return the sum of all numbers that are greater than zero.

    >>> total_positive([3, -1, 4])
    7
    """
    return sum(number for number in numbers if number > 0)


def without_repeats(items: list[Any]) -> list[Any]:
    """Return the items in their order, leaving out every item that is equal to the one right before it.

    >>> without_repeats([1, 1, 2, 1])
    [1, 2, 1]
    """
    return [item for place, item in enumerate(items) if place == 0 or item != items[place - 1]]


def chunks(items: list[Any], size: int) -> list[list[Any]]:
    """Cut a list into lists of the given size. When items are left over, the first list is the shorter one.

    >>> chunks([1, 2, 3, 4, 5], 2)
    [[1], [2, 3], [4, 5]]
    """
    left = len(items) % size
    first = [items[:left]] if left else []
    return first + [items[place : place + size] for place in range(left, len(items), size)]


def running_max(numbers: list[int]) -> list[int]:
    """Return for every place the largest of the numbers up to and including that place.

    >>> running_max([2, 1, 5, 3])
    [2, 2, 5, 5]
    """
    out: list[int] = []
    for number in numbers:
        out.append(max(number, out[-1]) if out else number)
    return out


def longest_rise(numbers: list[int]) -> list[int]:
    """Return the longest part of neighbouring numbers in which every number is greater than the one before it.

    Of parts that are equally long, return the last one. Return [] for an empty list.

    >>> longest_rise([1, 2, 2, 3, 1])
    [2, 3]
    """
    best: list[int] = []
    part: list[int] = []
    for number in numbers:
        part = [*part, number] if part and number > part[-1] else [number]
        if len(part) >= len(best):
            best = part
    return best


def peaks(numbers: list[int]) -> list[int]:
    """Return the places of all peaks, from the left.

    A peak is a number, or a run of equal numbers, with a smaller number on both sides; a run is told by its first
    place. The first and the last number have only one side and are never part of a peak.

    >>> peaks([1, 3, 3, 2, 5])
    [1]
    """
    found = []
    for place in range(1, len(numbers) - 1):
        end = place
        while end < len(numbers) - 1 and numbers[end + 1] == numbers[place]:
            end += 1
        if end < len(numbers) - 1 and numbers[place - 1] < numbers[place] > numbers[end + 1]:
            found.append(place)
    return found
