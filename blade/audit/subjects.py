"""What a number is about, as a set of plain words: the same quantity has the same words however a sentence is built.

Words are cut to their stems, phrases that mean one thing become one word (`did not pass` is `fail`, `success rate` is
`passrate`), and words that narrow nothing are dropped. Standard library only.
"""

import re
from functools import lru_cache

from blade.audit.claims import Claim, clause_around

PHRASES: tuple[tuple[str, str], ...] = (
    (r"not (?:yet )?always (?:pass(?:ed|es)?|solved)|(?:less|lower) than always", "notalways"),
    (
        r"(?:always|consistently)[ -](?:pass(?:ed|es|ing)?|solve[sd]?|succeed(?:s|ed|ing)?)|pass(?:ed|es)? every time",
        "always",
    ),
    (r"sometimes[ -](?:pass(?:ed|es|ing)?|solve[sd]?|succeed(?:s|ed|ing)?)", "sometimes"),
    (r"never[ -](?:pass(?:ed|es|ing)?|solve[sd]?|succeed(?:s|ed|ing)?)", "never"),
    (r"no (?:known )?outcome|without (?:a |any )?(?:known )?outcome", "nooutcome"),
    (
        r"(?:(?:did|do|does|is|are|was|were|have|has|had)(?: not|n[’']t)|not)(?: known to have| be| been)? pass(?:ed)?",
        "fail",
    ),
    (r"without (?:a |any )?score|not scored|no score|unscored", "unscored"),
    (r"without (?:a |any )?row", "missing"),
    (r"could not be (?:used|read|parsed)|malformed|unreadable|(?:bad|broken|unusable) lines?", "malformed"),
    (r"(?:ended )?before (?:a |any )?verdict", "noverdict"),
    (r"ran out of (?:tokens|turns|context)(?:, turns)?(?: or (?:turns|context))?|truncated", "truncated"),
    (r"(?:mean|average|avg\.?) (?:reward|score)", "meanreward"),
    (r"weighted by rollouts|rollout[ -]weighted|micro[ -]averaged?|micro", "micro"),
    (r"(?:success|pass|solve)[ -]rate|accuracy|headline(?: score| metric| number)?|score", "passrate"),
    (r"standard errors?|\bse\b", "se"),
    (r"(?:95 ?%[ -])?(?:confidence )?intervals?|\bcis?\b", "interval"),
    (r"judged by (?:a )?readers?|read by (?:a )?readers?", "judged"),
    (r"drafts? by (?:a )?rule|by rule(?: alone)?|draft (?:causes?|labels?)", "draft"),
    (r"retry (?:value|gain|benefit)", "retry"),
    (r"knowledge gaps?", "kg"),
    (r"unreliable knowledge", "uk"),
    (r"behaviou?ral issues?", "bi"),
    (r"(?:task or verifier|task/verifier|verifier) issues?", "ti"),
    (r"infrastructure reliability", "ir"),
    (r"data artifacts?", "da"),
)
PHRASE = re.compile("|".join(rf"(?P<p{n}>\b(?:{words})\b)" for n, (words, _) in enumerate(PHRASES)), re.IGNORECASE)
TOKEN = re.compile(r"`[^`]*`|pass[@^]\w+|p\d\d\b|[a-zà-ÿ]+(?:[_'’-][a-zà-ÿ0-9]+)*", re.IGNORECASE)
STEMS = {
    **dict.fromkeys(
        ("passed", "passes", "passing", "succeed", "succeeds", "succeeded", "success", "successes"), "pass"
    ),
    **dict.fromkeys(("successful", "solved", "solves", "correct", "succeeding", "solve"), "pass"),
    **dict.fromkeys(
        ("failed", "fails", "failing", "failure", "failures", "unsuccessful", "unsolved", "incorrect"), "fail"
    ),
    **dict.fromkeys(
        ("attempt", "attempts", "sample", "samples", "trial", "trials", "completion", "completions"), "rollout"
    ),
    **dict.fromkeys(("trajectory", "trajectories", "episode", "episodes"), "rollout"),
    **dict.fromkeys(("problem", "problems", "question", "questions", "instance", "instances"), "task"),
    **dict.fromkeys(("scores", "scoring"), "score"),
    **dict.fromkeys(("missed", "absent"), "missing"),
    **dict.fromkeys(("excluded", "excluding", "exclude", "excludes", "left", "ignoring"), "without"),
    **dict.fromkeys(("included", "including", "includes", "counted", "counting", "counts"), "include"),
    **dict.fromkeys(("duplicate", "duplicates", "duplicated"), "duplicate"),
    **dict.fromkeys(("labelled", "labeled", "labels", "labelling"), "label"),
    **dict.fromkeys(("median", "medians"), "median"),
    **dict.fromkeys(("mean", "average", "avg", "means", "averaged", "averages"), "mean"),
    **dict.fromkeys(("causes", "caused"), "cause"),
    **{"infra": "infrastructure", "always": "always", "sometimes": "sometimes", "notalways": "notalways"},
    **{"lies": "lie", "series": "series", "tokens": "token", "less": "less"},
    **dict.fromkeys(("gains", "gained", "headroom"), "gain"),
    **dict.fromkeys(("judged",), "judged"),
    **dict.fromkeys(("expected", "expects"), "expected"),
}
NEUTRAL_WORDS = (
    "a about above according account accounts achieve achieved achieves across again agent all also altogether am "
    "amount an analysed analyzed and approximately are around as at be been being below benchmark both but by came "
    "can come comes comprise comprises computed contain contains count cover covers dataset did do does each eg "
    "entire equal equals estimated eval evaluated evaluation every exactly fewer find following for found fraction "
    "everything drop drops dropped fall falls fell rise rises rose climb climbs climbed use uses used take takes took "
    "need needs needed stop stops stopped carry carries stay stays mere disappointing mediocre good bad amounts "
    "time times "
    "from full get gets got had has have having he hence her here high higher his however i ie if in include "
    "includes into is it its just lay least less lie lies low lower made make makes may measured merely model more "
    "most my namely no not now number observe observed of on one only onto or other others our out over overall "
    "per percent percentage proportion rate reach reached remain remaining remains report respectively rest result "
    "roughly run said saw say says section see seen set share she show showed shown shows sit sits so stand stands "
    "still stood summary system table than that the their them then there therefore these they this those thus to "
    "total up value versus vs was we well were what when where which while who whole will with yet your "
)
NEUTRAL = frozenset(NEUTRAL_WORDS.split())
"""Words that do not narrow what a number is about."""
COUNTING = frozenset({"n", "count", "number", "rollout", "occurrence", "case", "hit", "frequency", "time", "fail"})
"""Headers of a column that only says how many there are of what its row names."""
VERB = re.compile(
    r"\s(?:may|might|can|could|will|would|shall|should|must|is|are|was|were|be|has|have|had|do|does|did|that|which|who|it|they|"
    r"always|never|sometimes|also|only)\s"
)
WHOLE = re.compile(r"\s(?:tasks|rollouts)\b")
NOUN_END = re.compile(r"[.,;:()—–\d`“”\"|→]|\s(?:of|in|on|at|by|for|from|to|with|over|than|as|and|or|but|while)\s")


@lru_cache(maxsize=50_000)
def words_of(text: str) -> frozenset[str]:
    """The words of a text that say what it is about."""
    return frozenset(ordered_words(text))


def ordered_words(text: str) -> list[str]:
    """The same, in their order."""
    joined = PHRASE.sub(_one_word, text.replace("\u00a0", " "))
    stems = [stem(token) for token in TOKEN.findall(joined)]
    return [word for word in stems if word and word not in NEUTRAL]


def _one_word(found: re.Match[str]) -> str:
    place = next(int(name[1:]) for name, words in found.groupdict().items() if words is not None)
    return PHRASES[place][1]


def stem(token: str) -> str:
    """A word without its plural, and common forms as one."""
    word = token if token.startswith("`") else token.lower().replace("’", "'")
    if word in STEMS:
        return STEMS[word]
    if word.startswith("`") or len(word) <= 3 or word.endswith(("ss", "us", "is", "'s")):
        return STEMS.get(word, word.removesuffix("'s"))
    if word.endswith("ies"):
        return word[:-3] + "y"
    singular = word[:-1] if word.endswith("s") else word
    return STEMS.get(singular, singular)


def noun_behind(claim: Claim) -> str:
    """The words right behind a number: `36 scored rollouts` has `scored rollouts`."""
    rest = claim.words[claim.end : claim.end + 80]
    end = NOUN_END.search(rest)
    return rest[: end.start()] if end else rest


def counted_by(claim: Claim) -> int:
    """How many characters behind a number name what it counts, its verb left out."""
    noun = noun_behind(claim)
    if claim.words[: claim.start].endswith("s of ") and (whole := WHOLE.match(noun)):
        return whole.end()  # `5 rollouts of 4 tasks hit the limit`: it is rollouts that do
    adverb = re.match(r"\s(?:always|never|sometimes|also|only)(?=\s)", noun)
    verb = VERB.search(noun, adverb.end() if adverb else 0)
    return verb.start() if verb else len(noun)


def clause_of(claim: Claim) -> str:
    """The clause a claim stands in, without its own words; of a cell, its row and column.

    A number behind a colon or in brackets, with nothing beside it, is about what stands before.
    """
    if claim.table is not None:
        return claim.subject.replace("|", " ")
    first, last = clause_around(claim.words, claim.start, claim.end)
    while True:
        clause = f"{claim.words[first : claim.start]} {claim.words[claim.end : last]}"
        if first == 0 or words_of(clause):
            return clause
        first, _ = clause_around(claim.words, first - 1, first - 1)
