"""Texts turned into other texts or counted."""


def shout(text: str) -> str:
    """Return the text in capital letters with one exclamation mark at its end.

    >>> shout("hello")
    'HELLO!'
    """
    return text.upper() + "!"


def first_word(text: str) -> str:
    """Return the first word of a text, words being separated by spaces. Return "" when there is none.

    >>> first_word("  good morning ")
    'good'
    """
    words = text.split()
    return words[0] if words else ""


def count_vowels(text: str) -> int:
    """Count the vowels (a, e, i, o, u) in a text, small and capital ones.

    >>> count_vowels("Apple pie")
    4
    """
    return sum(letter in "aeiou" for letter in text.lower())


def mirror(text: str) -> str:
    """Return the text followed by itself read backwards, without saying its last letter twice.

    >>> mirror("abc")
    'abcba'
    """
    return text + text[-2::-1] if len(text) > 1 else text


def initials(name: str) -> str:
    """Return the first letters of all parts of a name as capital letters, with a full stop after each.

    Parts are separated by spaces or hyphens.

    >>> initials("ada mary-jane berg")
    'A.M.J.B.'
    """
    return "".join(f"{part[0].upper()}." for part in name.replace("-", " ").split())


def squeeze(text: str) -> str:
    """Replace every run of a letter that is repeated by the letter and the length of the run.

    Letters that are not repeated stay as they are.

    >>> squeeze("aaabccd")
    'a3bc2d'
    """
    out = ""
    place = 0
    while place < len(text):
        end = place
        while end < len(text) and text[end] == text[place]:
            end += 1
        out += text[place] + (str(end - place) if end - place > 1 else "")
        place = end
    return out


def shift_words(text: str) -> str:
    """Move every letter of every word on in the alphabet by the length of its word, from z on to a.

    Words are separated by single spaces. Capital letters stay capital, signs and digits stay as they are and count
    for the length.

    >>> shift_words("Hi zoo")
    'Jk crr'
    """
    moved = []
    for word in text.split(" "):
        letters = ""
        for letter in word:
            if letter.isalpha():
                base = ord("A") if letter.isupper() else ord("a")
                letter = chr((ord(letter) - base + len(word)) % 26 + base)
            letters += letter
        moved.append(letters)
    return " ".join(moved)
