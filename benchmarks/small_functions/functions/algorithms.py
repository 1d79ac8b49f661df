"""Small algorithms with an edge to watch."""


def fizz(number: int) -> str:
    """Return "fizz" for numbers that can be divided by 3, and the number itself as text for all others.

    >>> fizz(6)
    'fizz'
    """
    return "fizz" if number % 3 == 0 else str(number)


def transpose(rows: list[list[int]]) -> list[list[int]]:
    """Turn rows into columns. Rows that are shorter than the longest one are filled with 0 at their end.

    >>> transpose([[1, 2, 3], [4]])
    [[1, 4], [2, 0], [3, 0]]
    """
    width = max((len(row) for row in rows), default=0)
    return [[row[place] if place < len(row) else 0 for row in rows] for place in range(width)]


def find_place(numbers: list[int], wanted: int) -> int:
    """Return where a number stands in a sorted list; if it is not there, where it would have to be put in.

    Of several places of equal numbers, return the first.

    >>> find_place([1, 3, 3, 8], 5)
    3
    """
    return sum(number < wanted for number in numbers)


def merge_ranges(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join ranges of whole numbers that overlap or follow each other without a gap, and sort them.

    Both ends belong to a range, so (1, 2) and (3, 5) become (1, 5).

    >>> merge_ranges([(4, 6), (1, 3), (8, 9)])
    [(1, 6), (8, 9)]
    """
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged


def fewest_coins(amount: int, coins: list[int]) -> int:
    """Return the smallest number of coins that make up an amount exactly, or -1 when there is no way.

    There are as many coins of each value as are needed.

    >>> fewest_coins(6, [1, 3, 4])
    2
    """
    best = [0] + [amount + 1] * amount
    for value in range(1, amount + 1):
        best[value] = min([best[value - coin] + 1 for coin in coins if coin <= value], default=amount + 1)
    return best[amount] if best[amount] <= amount else -1


def spiral(rows: list[list[int]]) -> list[int]:
    """Read a table along a spiral: along the first row, down the last column, back along the last row, and so on.

    >>> spiral([[1, 2], [4, 3]])
    [1, 2, 3, 4]
    """
    out: list[int] = []
    left = [list(row) for row in rows]
    while left:
        out += left.pop(0)
        left = [list(column) for column in zip(*left, strict=True)][::-1]
    return out


def steps_apart(first: str, second: str) -> int:
    """Return how many steps turn one word into another. A step puts in one letter or takes out one letter.

    >>> steps_apart("cut", "cat")
    2
    """
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, start=1):
        above, row = row, [i]
        for j, other in enumerate(second, start=1):
            row.append(above[j - 1] if letter == other else min(above[j], row[j - 1]) + 1)
    return row[-1]
