"""Dictionaries and tables of records."""


def price_of(prices: dict[str, int], name: str) -> int | None:
    """Return the price of a thing, or None when the prices do not have it.

    >>> price_of({"pen": 2}, "ink") is None
    True
    """
    return prices.get(name)


def swap(table: dict[str, str]) -> dict[str, str]:
    """Return a dictionary in which keys and values have changed places.

    >>> swap({"a": "x", "b": "y"})
    {'x': 'a', 'y': 'b'}
    """
    return {value: key for key, value in table.items()}


def count_words(text: str) -> dict[str, int]:
    """Count how often every word occurs, in small letters. The signs . , ! ? at the end of a word do not belong to it.

    >>> count_words("Yes, yes! No.")
    {'yes': 2, 'no': 1}
    """
    counts: dict[str, int] = {}
    for word in text.lower().split():
        word = word.rstrip(".,!?")
        if word:
            counts[word] = counts.get(word, 0) + 1
    return counts


def merge_stock(first: dict[str, int], second: dict[str, int]) -> dict[str, int]:
    """Add up two stocks, which say how many there are of each thing. Leave out things of which there are none then.

    >>> merge_stock({"nut": 2, "nail": 1}, {"nail": -1})
    {'nut': 2}
    """
    names = list(first) + [name for name in second if name not in first]
    totals = {name: first.get(name, 0) + second.get(name, 0) for name in names}
    return {name: total for name, total in totals.items() if total != 0}


def group_by_length(words: list[str]) -> dict[int, list[str]]:
    """Group words by their length. The words of a group are in alphabetical order and each is there once.

    >>> group_by_length(["so", "be", "cat", "so"])
    {2: ['be', 'so'], 3: ['cat']}
    """
    groups: dict[int, list[str]] = {}
    for word in sorted(set(words)):
        groups.setdefault(len(word), []).append(word)
    return groups


def best_customers(orders: list[tuple[str, int]], count: int) -> list[str]:
    """Return the names of the customers whose orders add up to the most, the best one first.

    Customers with the same sum are in alphabetical order. Those whose sum is not above zero are left out.

    >>> best_customers([("Bo", 5), ("Al", 2), ("Al", 3)], 2)
    ['Al', 'Bo']
    """
    sums: dict[str, int] = {}
    for name, amount in orders:
        sums[name] = sums.get(name, 0) + amount
    good = [name for name in sums if sums[name] > 0]
    return sorted(good, key=lambda name: (-sums[name], name))[:count]


def word_index(pages: list[str]) -> dict[str, list[int]]:
    """Return for every word, in small letters, the numbers of the pages it stands on, from 1 and in order.

    Words of fewer than four letters are left out.

    >>> word_index(["Blue sky", "the Blue lake"])
    {'blue': [1, 2], 'lake': [2]}
    """
    index: dict[str, list[int]] = {}
    for number, page in enumerate(pages, start=1):
        for word in page.lower().split():
            if len(word) >= 4 and number not in index.setdefault(word, []):
                index[word].append(number)
    return index
