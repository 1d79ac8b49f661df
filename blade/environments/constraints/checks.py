"""The rules that instruction ids stand for: each says whether a text keeps it.

Ids and their arguments are named as IFEval names them, where it has them, so that its rows can be judged; the rules
are written from what the ids say. `CHECKS` holds all of them.
"""

import inspect
import json
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

RELATIONS = {
    "at least": operator.ge,
    "at most": operator.le,
    "exactly": operator.eq,
    "less than": operator.lt,
    "more than": operator.gt,
}

SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)\]*_]*(?=\s|$)")
RULE = re.compile(r"^\s*\*\s?\*\s?\*\s*$", re.MULTILINE)
"""A line of three asterisks, which separates paragraphs."""


def compare(count: int, relation: str, number: int) -> bool:
    """Whether a count is, say, at least a number."""
    return bool(RELATIONS[relation](count, number))


def words(text: str) -> list[str]:
    """What stands between spaces, signs that stand alone left out: "don't" and "well-known" are one word each."""
    return [word for word in text.split() if re.search(r"\w", word)]


def sentences(text: str) -> list[str]:
    """Parts that end with a full stop, a question or an exclamation mark; a last part without one counts too."""
    return [part for part in SENTENCE_END.split(text) if re.search(r"\w", part)]


def lines(text: str) -> list[str]:
    """Lines that say something."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def paragraphs(text: str, *, anywhere: bool = False) -> list[str]:
    """Parts between lines of three asterisks, or between any three; empty ones at the ends do not count."""
    parts = [part.strip() for part in (text.split("***") if anywhere else RULE.split(text))]
    return [part for place, part in enumerate(parts) if part or 0 < place < len(parts) - 1]


def occurrences(text: str, word: str, *, whole_word: bool = True) -> int:
    """How often a word or phrase occurs, in any case; as a whole word, "drop" does not occur in "raindrops"."""
    pattern = rf"(?<!\w){re.escape(word)}(?!\w)" if whole_word else re.escape(word)
    return len(re.findall(pattern, text, re.IGNORECASE))


def plain_word(word: str) -> str:
    return re.sub(r"^\W+|\W+$", "", word).casefold()


def has_letters(text: str) -> bool:
    return any(letter.isalpha() for letter in text)


def number_paragraphs(text: str, num_paragraphs: int, anywhere: bool = False) -> bool:
    """Three asterisks separate paragraphs, on a line of their own unless they may stand `anywhere`."""
    parts = paragraphs(text, anywhere=anywhere)
    return len(parts) == num_paragraphs and all(parts)


def nth_paragraph_first_word(text: str, num_paragraphs: int, nth_paragraph: int, first_word: str) -> bool:
    parts = [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]
    if len(parts) != num_paragraphs or not 0 < nth_paragraph <= len(parts):
        return False
    return plain_word(parts[nth_paragraph - 1].split()[0]) == plain_word(first_word)


def capital_words(text: str, capital_frequency: int, capital_relation: str = "at least") -> bool:
    shouted = [word for word in words(text) if word == word.upper() and has_letters(word)]
    return compare(len(shouted), capital_relation, capital_frequency)


def quoted(text: str) -> bool:
    bare = text.strip()
    return len(bare) > 1 and bare[0] == bare[-1] == '"'


def numbered_list(text: str, num_items: int) -> bool:
    """Lines numbered 1., 2., ... and no other lines."""
    starts = [re.match(r"(\d+)[.)]\s+\S", line) for line in lines(text)]
    return [int(start[1]) if start else None for start in starts] == list(range(1, num_items + 1))


def is_json(text: str) -> bool:
    bare = re.sub(r"^```(?:json)?\s*\n|\n?```$", "", text.strip(), flags=re.IGNORECASE)
    try:
        json.loads(bare)
    except (ValueError, RecursionError):
        return False
    return True


def two_responses(text: str) -> bool:
    parts = [part.strip() for part in text.split("******")]
    return len(parts) == 2 and all(parts) and parts[0] != parts[1]


CHECKS: dict[str, Callable[..., bool]] = {
    "length_constraints:number_words": lambda text, num_words, relation="at least": compare(
        len(words(text)), relation, num_words
    ),
    "length_constraints:number_sentences": lambda text, num_sentences, relation="at least": compare(
        len(sentences(text)), relation, num_sentences
    ),
    "length_constraints:number_lines": lambda text, num_lines, relation="exactly": compare(
        len(lines(text)), relation, num_lines
    ),
    "length_constraints:words_per_line": lambda text, num_words, relation="exactly": all(
        compare(len(words(line)), relation, num_words) for line in lines(text)
    ),
    "length_constraints:number_paragraphs": number_paragraphs,
    "length_constraints:nth_paragraph_first_word": nth_paragraph_first_word,
    "keywords:existence": lambda text, keywords, whole_word=True: all(
        occurrences(text, word, whole_word=whole_word) for word in keywords
    ),
    # At least one of several beginnings of words: "recycl" is there in "recycling".
    "keywords:any_of": lambda text, keywords: any(
        re.search(rf"(?<!\w){re.escape(word)}", text, re.IGNORECASE) for word in keywords
    ),
    "keywords:forbidden_words": lambda text, forbidden_words: (
        not any(occurrences(text, word) for word in forbidden_words)
    ),
    "keywords:frequency": lambda text, keyword, frequency, relation="at least", whole_word=True: compare(
        occurrences(text, keyword, whole_word=whole_word), relation, frequency
    ),
    "keywords:letter_frequency": lambda text, letter, let_frequency, let_relation="at least": compare(
        text.casefold().count(letter.casefold()), let_relation, let_frequency
    ),
    "change_case:english_lowercase": lambda text: text == text.lower() and has_letters(text),
    "change_case:english_capital": lambda text: text == text.upper() and has_letters(text),
    "change_case:capital_word_frequency": capital_words,
    "punctuation:no_comma": lambda text: "," not in text,
    "punctuation:no_punctuation": lambda text: not re.search(r"[^\w\s]|_", text),
    "startend:end_checker": lambda text, end_phrase: (
        text.strip().strip('"').casefold().endswith(end_phrase.strip().casefold())
    ),
    "startend:start_checker": lambda text, start_phrase: (
        text.strip().strip('"').casefold().startswith(start_phrase.strip().casefold())
    ),
    "startend:quotation": quoted,
    "detectable_format:number_bullet_lists": lambda text, num_bullets: (
        len(re.findall(r"^\s*(?:\*(?!\*)|-)\s*\S", text, re.MULTILINE)) == num_bullets
    ),
    "detectable_format:numbered_list": numbered_list,
    "detectable_format:number_highlighted_sections": lambda text, num_highlights: (
        len(re.findall(r"\*\*[^*\n]*\w[^*\n]*\*\*|(?<!\*)\*[^*\n]*\w[^*\n]*\*(?!\*)", text)) >= num_highlights
    ),
    "detectable_format:title": lambda text: re.search(r"<<[^<>\n]*\w[^<>\n]*>>", text) is not None,
    "detectable_format:json_format": is_json,
    "detectable_format:multiple_sections": lambda text, section_spliter, num_sections: (
        len(re.findall(rf"{re.escape(section_spliter.strip())}\s+\d+", text)) >= num_sections
    ),
    "detectable_format:constrained_response": lambda text: any(
        f"My answer is {word}." in text for word in ("yes", "no", "maybe")
    ),
    "detectable_content:number_placeholders": lambda text, num_placeholders: (
        len(re.findall(r"\[[^\[\]\n]+\]", text)) >= num_placeholders
    ),
    "detectable_content:postscript": lambda text, postscript_marker: (
        re.search(rf"(?<!\w){re.escape(postscript_marker)}[ \t]*\n?[ \t]*\S", text, re.IGNORECASE) is not None
    ),
    "combination:repeat_prompt": lambda text, prompt_to_repeat: (
        text.strip().casefold().startswith(prompt_to_repeat.strip().casefold())
    ),
    "combination:two_responses": two_responses,
}
"""Rules by instruction id; the names of their parameters are those of the instruction's arguments."""


def arguments_for(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a rule among those given; nulls and what other rules want are left out."""
    wanted = list(inspect.signature(CHECKS[name]).parameters)[1:]
    return {key: given[key] for key in wanted if given.get(key) is not None}


def missing_arguments(name: str, given: Mapping[str, Any]) -> list[str]:
    """Arguments a rule cannot do without and that are not given."""
    parameters = list(inspect.signature(CHECKS[name]).parameters.values())[1:]
    return [p.name for p in parameters if p.default is p.empty and given.get(p.name) is None]
