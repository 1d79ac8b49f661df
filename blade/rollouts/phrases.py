"""What a text is, by how it is worded: a tool's error, a provider's error, a sandbox's end, a refusal, a plan.

Grammars rather than lists of sentences: who speaks, what is denied, what is gone. Each looks only where such a text
would have to say it: the opening of an answer, its last sentence, the first and the last line of what a tool said.
"""

import re
from zlib import crc32

FLAGS = re.IGNORECASE | re.VERBOSE
LOWERED = re.VERBOSE
"""For texts in lower case: an expression that need not mind case is three times faster."""

TOOL_ERROR = re.compile(
    rb"""(?:["\s]|\\[nrt"])*+(?:
        \{(?:\s|\\[nrt])*+(?:\\*"\w+\\*"\s*:\s*(?:null|true|false|-?[\d.]+|\\*"[^"\\]{0,40}\\*"|\[\s*\]|\{\s*\})\s*,\s*){0,3}
            \\*"(?:error|errors|exception|error_message|error_code|err)\\*"\s*:
            (?!\s*(?:null|false|0|\\*"\\*"|\[\s*\]|\{\s*\}))
      | \{(?:\s|\\[nrt])*+\\*"(?:status|state|type|outcome|result)\\*"\s*:\s*
            \\*"(?:error|fail|failed|failure|exception)\\*"
      | \{(?:\s|\\[nrt])*+\\*"(?:success|succeeded|ok|is_success)\\*"\s*:\s*false
      | \{(?:\s|\\[nrt])*+\\*"(?:is_?error|failed)\\*"\s*:\s*true
      | [^\w"{]{0,4}(?:error|exception|traceback|fatal|failed|failure)\b
      | (?:\w+\.){0,6}\w+(?:error|exception)\b\s*[:(]
      | (?:[\w'-]{1,20}\s+){0,4}(?:error|exception|failed|failure)\s*(?:[:(.]|-?\d|["\\]|$)
      | http[/\d.]*\s*(?:error|status)?\s*:?\s*[45]\d\d\b
      | [45]\d\d\s+(?:bad|not|internal|service|gateway|forbidden|unauthorized|too|conflict|client|server)\b
      | <tool_use_error>
      | exit(?:ed)?\s+(?:with\s+)?(?:code|status):?\s*[1-9]
      | (?:unable|not\s+able)\s+to\b | (?:cannot|can't|could\s+not|couldn't)\s+\w
      | (?:invalid|unknown|unsupported|unrecognized)\s+\w
      | (?:permission|access|request)\s+(?:denied|rejected|refused)
      | no\s+such\s+(?:file|directory|tool|function|command|container|table|column|key|host|user|module)\b
      | (?:tool|function|command|call)\s+(?:call\s+)?(?:failed|rejected|refused|not\s+found|error)
      | (?:ba|z)?sh:\s
    )""",
    FLAGS,
)
"""How a tool's answer begins when the tool failed, be it decoded or with quotes and line breaks still escaped."""
OPENING = 120

DATA = re.compile(r"\s*(?:\{\s*\"|\[\s*[\[{\"\d])")
"""How data begins: words in it are somebody's, not the tool's."""
EDGE = 400

GONE = r"""(?:not\s+(?:be\s+)?(?:running|found|reachable|responding|available|started|connect\w*) | no\s+(?:such|longer)
    | cannot\s+connect | terminated | killed | crash\w* | died | dead | unreachable | lost | stopped | exited | paused
    | stopping | not\s+ready | gone | closed | unavailable | unresponsive | evicted | shut\s?down | disconnected
    | failed)"""
DESTROYED = r"""(?:no\s+longer | disconnected | initiali[sz]ation\s+failed | exited | terminated
    | killed | crash\w* | died | lost | unreachable | shut\s?down
    | stopped\s+responding)"""
BOX = r"\b(?:containers?|sandbox(?:es)?|pods?|docker\s+(?:daemon|engine)|oci\s+runtime|vm|virtual\s+machine)\b"
PLACE = r"\b(?:(?:execution|runtime)\s+environment|runtime|workspace|kernel|machine|worker|instance|engine\s+core)\b"
SANDBOX_FAULT = re.compile(
    rf"""
        {BOX}[^\n]{{0,80}}\b{GONE} | \b{GONE}\b[^\n]{{0,60}}{BOX}
      | {PLACE}[^\n]{{0,60}}\b{DESTROYED} | \b{DESTROYED}[^\n]{{0,40}}{PLACE}
      | (?:sandbox|container|kernel)_?(?:error|exception|timeout)
      | (?:sandbox|container|kernel|runtime)_?(?:dead|died|unreachable|terminated|disconnected)
      | \bis\s+the\s+{BOX}
      | oom[\s_-]?kill | out\s+of\s+memory | cannot\s+allocate\s+memory | memory\s+(?:cgroup|limit)
      | no\s+space\s+left\s+on\s+device | disk\s+quota\s+exceeded
      | \b(?:code|status|signal)\s*:?\s*(?:137|sigkill)\b | \bkilled\s*$ | rpc\s+error:\s+code\s*=\s*unavailable
    """,
    FLAGS,
)
"""What a tool's answer says when the machine under it is gone, or has no memory or disk left."""

TIMED_OUT = re.compile(
    r"timed\s+out|timeout\s*error|time-?out\s+(?:exceeded|expired|reached)|deadline\s+exceeded", FLAGS
)
"""What a tool's answer says when the tool took too long."""

ERROR_OPENING = re.compile(
    r"""\W{0,4}(?:
        (?:\w+\.){0,6}\w*(?:error|exception|timeout|unavailable|disconnected)(?:error)?\b\s*(?:code|[:(\d-]|$)
      | (?:[\w-]+\s+){0,4}(?:api|https?|server|request|upstream|provider|internal)\s+(?:error|failed|failure)
      | an?\s+(?:\w+\s+){0,2}error\s+occurred | <(?:!doctype|html) | (?:\w+\s+){1,4}failed\s*[:(-] | \w*error\w*\]
      | (?:connection|network)\s+(?:error|reset|refused|aborted|closed|timed\s+out)\W*$
      | (?:[\w.-]+:\s*)?(?:http\S*\s*)?[45]\d\d\b(?!\.\d)(?=\W+\w)
      | [{\[][^}]{0,200}?(?:error|exception|fault\b|"message") | "(?:error|object|type|code|status|message)"\s*:
    )""",
    FLAGS,
)
"""How a message begins that is an error and not an answer."""
PROVIDER_TERMS = re.compile(
    r"""rate[\s_-]?limit | too\s+many\s+requests | quota | throttl | overload
      | resource[\s_]?(?:has\s+been\s+)?exhausted | service[\s_]?unavailable | bad\s+gateway | gateway\s+time-?\s?out
      | internal[\s_]?(?:server|service)?[\s_]?(?:error|exception) | server[\s_]?(?:had\s+an\s+)?error | api_error
      | model_?error | upstream | connection\s?(?:error|reset|refused|aborted|closed|failure) | max\s+retries
      | engine\w*\s*(?:dead|died|loop) | (?:unable\s+to|cannot)\s+process\s+(?:your|the)\s+request | high\s+demand
      | remote\s+end\s+closed | server\s?disconnected | timed?[\s-]?out
      | (?:error|exception|status|code|http)\W{1,4}(?:code\W{1,3})?(?:429|500|502|503|504|529)(?!\d)
    """,
    FLAGS,
)
"""What only somebody who serves models says; a number by itself is an answer."""

CAN_NOT = r"""(?:can(?:no|['’])t | can\s+not | won['’]t | will\s+not | (?:a|['’])m\s+(?:unable|not\s+able)\s+to
    | (?:(?:would|['’]d)\s+)?(?:rather\s+not|prefer\s+not\s+to) | (?:a|['’])m\s+not\s+(?:going|willing)\s+to
    | do(?:n['’]t|\s+not)\s+have\s+the\s+ability\s+to
    | do(?:n['’]t|\s+not)\s+(?:think|feel|believe)\s+(?:that\s+)?(?:i\s+(?:should|can)|it\s+is\s+appropriate\s+to))"""
WHAT = r"""(?:your\s+request | that | this | it | such | so | assistance | help | information | guidance | advice
    | instructions
    | content | material | a\s+response | the\s+(?:requested|information|answer|content))"""
HELP = rf"""(?:be\s+able\s+to\s+)?(?:(?:assist|comply|fulfill?|respond|engage|participate|condone|browse)\b
    | help\b(?!\s+but) | answer\b(?!\s+(?:with|definit|exact|precis|certain))
    | (?:provide|offer|give|share|support|discuss|complete|continue|do|create|write|generate|produce|satisfy)\s+
        (?:you\s+)?(?:(?:with|to|any)\s+)?{WHAT}\b)"""
REFUSAL = re.compile(
    rf"""
        \bi\b[^.!?\n]{{0,60}}?\s*\b{CAN_NOT}\s+{HELP} | \bi\s*{CAN_NOT}\s+{HELP}
      | \bi\s*(?:am|['’]m)\s+not\s+(?:programmed|designed|allowed|permitted)\s+to\b
      | \bi\s*(?:(?:['’]m|am|must|have|need|will|['’]ll|would|do|respectfully|afraid|i|going|to)\s*){{0,8}}
            \b(?:decline|refuse|turn\s+(?:this|that)(?:\s+\w+)?\s+down)\b
      | \b(?:not|isn['’]t)\s+(?:something|anything|a\s+(?:request|task|question|thing))\s+(?:that\s+)?
            i\s*(?:can|could|['’]m\s+able\s+to|am\s+able\s+to|will|would|should)\s+(?:help|assist|do|answer|support|provide)
      | (?:\bnot|n['’]t)\s+(?:feel\s+)?comfortable\s+
            (?:with|\w+ing\b)
      | \b(?:against|violat\w+|violation\s+of|breaks?|conflicts?\s+with)\s+
            (?:my|our|(?:the\s+)?(?:usage|content|safety))\s+(?:\w+\s+){{0,2}}(?:guideline|polic|principle|rule|programming)
      | \b(?:inappropriate|unethical|irresponsible|not\s+appropriate)\s+
            (?:for\s+me\s+to\b|(?:or\s+\w+\s+)?to\s+(?:help|assist|provide|ask|request)\b)
      | \bi\s*(?:am|['’]m)\s+(?:programmed|designed)\s+(?:not\s+to|to\s+(?:avoid|be\s+(?:helpful|harmless|safe)))
      | \bas\s+an?\s+(?:ai|(?:large\s+)?language\s+model)\b[^.]{{0,40}}
            (?:\bi\s*{CAN_NOT}|not\s+able|unable|not\s+appropriate|do(?:n['’]t|\s+not)\s+(?:feel|have|provide|answer))
    """,
    LOWERED,
)
"""Somebody who declines to do the task, rather than one who failed at a part of it."""
REFUSAL_WINDOW = 300

COULD_NOT = r"(?:could\s*n(?:['’]t|ot)|could\s+not|cannot|can['’]t)"
FAILED_AT = re.compile(
    rf"""\b(?:
        (?:i|we)\s+(?:still\s+)?(?:{COULD_NOT}|was\s+(?:not\s+able|unable)|wasn['’]t\s+able|am\s+unable
            |did(?:n['’]t|\s+not)\s+(?:manage|succeed)|failed\s+to|have\s+stopped)
      | (?:it|this|that|which|step|call|command|request|change|tests?|attempt|operation)\s+(?:still\s+|again\s+)?
            (?:{COULD_NOT}|fail(?:s|ed)?\s+(?:with|again|because|to)|is\s+not\s+possible
            |did(?:n['’]t|\s+not)\s+(?:work|succeed|go\s+through))
      | unfortunately | unsuccessful | without\s+success | not\s+possible | (?:not|n['’]t)\s+allow\w*
      | was\s+(?:refused|rejected|denied) | no\s+changes?\s+(?:was|were|have) | made\s+no\s+change
      | nothing\s+(?:was|has\s+been)\s+changed
    )""",
    LOWERED,
)
"""An answer that owns up to something that did not work."""

NEXT_STEP = re.compile(
    r"""(?:^|[.!?:;\n]\s*|,\s+|\b(?:now|next|first|then|so)\b,?\s+)
        (?:let\s+me | let['’]s | time\s+to
          | i\s*(?:['’]ll|will|['’]m\s+going\s+to|am\s+going\s+to|need\s+to|want\s+to|should|have\s+to))
        \s+(?:(?:now|next|first|also|just|quickly)\s+)*
        (?:check|look|verify|open|read|run|search|try|continue|start|begin|review|examine|inspect|see|find|test
          |go\s+(?:through|over|on)|analy[sz]e|investigate|fetch|get|retrieve|confirm|make\s+sure|do\s+(?:that|this)
          |use|call|query)\b
        [^.!?:\n]{0,120}[.:…]*\s*$""",
    LOWERED,
)
"""A text whose last sentence says what comes next."""
PLAN_WINDOW = 220


NAMES = re.compile(r"[\da-f](?:[\da-f]{5,}|(?<=\d)\d*)")
"""Numbers and ids: what differs between two copies of one sentence."""
FEWEST_LETTERS = 12
"""Shorter last words (an option, a name, "done") are the same by chance."""
MACHINE = re.compile(
    r"[{}<>\[\]]|https?://|\w(?:Error|Exception)\b|\w\.\w+\.\w"
    r"|\b[45]\d\d:?\s[A-Z]|(?i:error|status|code|http)\W{1,4}[45]\d\d\b"
)
"""Signs that nobody who answers a person writes."""
MACHINE_BIT = 1 << 30
BRACKET, STATUS, DOTTED = map(re.compile, (r"[{}<>\[\]]", r"[45]\d\d", r"\.\w+\."))
"""One of these, or a word of `is_machine_made`, is in whatever a machine wrote; each is looked for much faster."""


def is_machine_made(text: str) -> bool:
    """Whether a text has signs that nobody who answers a person writes."""
    if BRACKET.search(text):
        return True
    likely = "://" in text or "Error" in text or "Exception" in text or STATUS.search(text) or DOTTED.search(text)
    return bool(likely) and MACHINE.search(text) is not None


def fingerprint(text: str, *, fewest: int = FEWEST_LETTERS) -> int:
    """A number that two texts share when they differ in numbers and ids alone; its highest bit says: by a machine."""
    opening = text[:240]
    words = " ".join(NAMES.sub("#", opening.lower()).split())[:160]
    if len(words) < fewest:
        return 0
    return (crc32(words.encode("utf-8", "replace")) % MACHINE_BIT) | (MACHINE_BIT if is_machine_made(opening) else 0)


def is_refusal(answer: str) -> bool:
    """Whether an answer opens by declining the task."""
    return REFUSAL.search(answer[:REFUSAL_WINDOW].lower()) is not None


def is_provider_error(message: str) -> bool:
    """Whether a message is the error of whoever serves the model."""
    return ERROR_OPENING.match(message.strip(" '\"")) is not None and PROVIDER_TERMS.search(message) is not None


def owns_up(answer: str) -> bool:
    """Whether an answer says that something did not work."""
    return any(FAILED_AT.search(part.lower()) is not None for part in {answer[:EDGE], answer[-EDGE:]})


def announces(answer: str) -> bool:
    """Whether an answer ends by saying what comes next."""
    return NEXT_STEP.search(answer[-PLAN_WINDOW:].lower()) is not None


def is_sandbox_fault(told: str) -> bool:
    """Whether a tool's answer says that its machine is gone."""
    return any(SANDBOX_FAULT.search(line) is not None for line in edges(told))


def is_timeout(told: str) -> bool:
    """Whether a tool's answer says that it took too long."""
    return any(TIMED_OUT.search(line) is not None for line in edges(told))


def edges(told: str) -> tuple[str, ...]:
    """The first and the last line of a tool's answer, where its own words stand; none of data."""
    if DATA.match(told) and TOOL_ERROR.match(told[:OPENING].encode("utf-8", "replace")) is None:
        return ()
    first = next((line for line in told[:EDGE].splitlines() if line.strip()), "")
    last = next((line for line in reversed(told[-EDGE:].splitlines()) if line.strip()), "")
    return first, last
