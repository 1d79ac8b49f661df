"""How much a short text sounds like a refusal, a service in trouble, a lost machine, a tool's no, bad news or a plan.

Weak hints, one for each thing such a text would speak of, and none of them proof: a closer look adds what the rest of
the run tells. The words are those in which people and machines commonly speak of these things, English first, with
the stock apologies of a few other languages.
"""

import re

WINDOW = 400
"""Characters at the beginning of a text in which it says what it is."""


def words(listed: str) -> re.Pattern[str]:
    """A pattern of words and phrases with commas between; each is a beginning, and with a full stop a whole word."""
    entries = [entry.split() for entry in listed.replace("\n", " ").split(",")]
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(as_pattern(entry) for entry in entries if entry)})", re.IGNORECASE)


def as_pattern(entry: list[str]) -> str:
    phrase = " ".join(entry)
    escaped = r"[\s_-]+".join(re.escape(part) for part in phrase.removesuffix(".").split())
    return escaped.replace("'", "['’]") + (r"\b" if phrase.endswith(".") else "")


FILLER = frozenset(
    """
    able about after again also anything because been before being both cannot could does doing done each else even
    everything from have here hope into just kind know like make many more most much need nothing only other over part
    please said same should some something sorry still such take than that their them then there these they thing this
    those understand unable until very want were what when where which while will with would your yours
    answer answering assist help question request response
    """.split()  # noqa: SIM905
)
"""Words of four letters and more that are about nothing."""

SELF = r"(?<!\w)(?:i|i['’](?:m|d|ll|ve)|me|my|mine|we|we['’]re|our|(?:this|the)\s+assistant|an?\s+ai)\b"
NO = r"""(?:n['’]t\b|(?<!\w)(?:(?:not|cannot|never|no|pass|stop|only|rather|better)\b|unable|refrain|avoid|declin|refus
    |abstain|withhold|beyond|outside|against|without|irresponsib|unanswered|off[\s-]limits))"""
DENIAL = re.compile(
    rf"""{SELF}[^.!?\n]{{0,80}}?{NO} | {NO}[^.!?\n]{{0,60}}?{SELF}
      | \A\W*(?:no(?=[.!]|\W*\Z) | (?:(?:sorry|afraid),?\s+(?:but\s+)?(?:no|not)|nope|can['’]?t|cannot|won['’]?t)\b
            | unable)""",
    re.IGNORECASE | re.VERBOSE,
)
"""Somebody who speaks of himself and says no."""
PASSIVE = re.compile(
    r"\b(?:not|never|cannot)\s+(?:\w+\s+){0,2}\w+ed\b|\b(?:reject|block|refus|declin|flagg|filter|withh|prevent|violat)\w*",
    re.I,
)
"""Something that was not done, or done away with, by nobody in particular."""
FOREIGN = re.compile(
    r"""lo\s+siento | no\s+puedo | no\s+es\s+posible | désolé | (?:ne|n['’])\s?(?:peux|puis|suis)[^.]{0,20}\bpas\b
      | tut\s+mir\s+leid | (?:kann|darf|werde)\b[^.]{0,40}\bnicht\b | mi\s+dispiace | non\s+posso | não\s+posso
      | desculp | lamento | het\s+spijt | kan\s+(?:ik\s+)?(?:\w+\s+){0,3}niet | przepraszam | nie\s+mogę
      | извин | не\s+могу | к\s+сожалению | 抱歉 | 对不起 | 對不起 | 无法 | 無法 | 不能 | 申し訳 | できません | 죄송
      | 수\s?없 | آسف | لا\s+يمكن | क्षमा | माफ़ | नहीं\s+(?:कर|दे)""",
    re.IGNORECASE | re.VERBOSE,
)
"""The same in other languages."""
APOLOGY = words("sorry, apolog, afraid., unfortunately, regret, forgive, pardon, understand that")
NORM = words(
    """policy., policies., guideline, ethic, unethic, moral, immoral, safe., safety, safely, unsafe, harm, appropriate,
    inappropriate, permit, permission, allow, forbid, prohibit, restrict, comply, complian, principle,
    responsib, irresponsib, legal, illegal, comfortable, uncomfortable, boundar, flagged, sensitive, instructed,
    programm, trained, designed, ai., language model, assistant., capabilit, scope., willing, cross a line,
    crosses a line, values., standard., standards., terms of, privacy, danger, violat, moderat, filter,
    right thing, not right, not be right"""
)
REQUEST = words(
    """request, task., question, topic, prompt., subject., this matter, conversation, query, this kind, that kind,
    this type, this sort, this one., that one., such, help, assist., assistance, answer, respond, response,
    provid, continu, discuss, engag, particip, fulfil, proceed, carry out, carried out, do this, do that, do it,
    do so, doing this, doing that, take part, weigh in, talk, share., support, unanswered, your message"""
)
ALTERNATIVE = words(
    """something else, anything else, something different, someone else, another topic, another question, another way,
    different topic, different question, other topic, professional, expert, consult, elsewhere, instead.,
    let me know, happy to, glad to, feel free"""
)


def refusal_weight(text: str) -> int:
    """How many of the things a refusal is made of are in an answer; 0 unless somebody says no."""
    opening = text[:WINDOW]
    if FOREIGN.search(opening):
        return 4
    hints = sum(hint.search(opening) is not None for hint in (APOLOGY, NORM, REQUEST, ALTERNATIVE))
    if DENIAL.search(opening):
        return 2 + hints
    return 3 if PASSIVE.search(opening) and NORM.search(opening) and REQUEST.search(opening) else 0


LOAD = words(
    """limit, rate limit, ratelimit, quota, insufficient quota, throttl, capacity, traffic, overload, busy., too many,
    concurren, high demand, higher demand, slow down, exceed, allowance, credit., credits., billing, queue,
    spike, exhaust"""
)
OUTAGE = words(
    """unavailab, timed out, time out, timeout, timing out, unreachable, unhealthy, connect, disconnect, reset., abort,
    closed., hang up, hung up, no available, no healthy, no replica, no response, no body, no route,
    maintenance, not respond, not reach, not load, not exist, not found, deadline, expired, premature, eof.,
    ended before, empty reply, fail, error, exception, went wrong, crash, dead., died, refused, loading.,
    incorrect, invalid, unexpected, rejected, drained, could not be, econn, etimedout, out of memory"""
)
SERVICE = words(
    """server, service, upstream, gateway, backend, proxy, provider, endpoint, deployment, api., inference, worker,
    replica, host., hosts., the model, this model, your model, model is, engine, stream, socket, ssl, tls.,
    http, https, tcp., grpc, dns., cuda, gpu, cluster, network, internal, request., requests., completion,
    token., tokens., key., system., our end, workspace, cloudflare, nginx"""
)
ADVICE = words(
    """retry, re-try, retries, retrying, try again, try later, try your, try the, wait., contact., reference.,
    attempt., attempts., request id, trace id, correlation id, error id, error code, status page, status code,
    back off, backoff, upgrade, later., in a moment, giving up"""
)
STATUS_CODE = re.compile(r"(?<![\w.,])(?:4[0-4]\d|49\d|5\d\d)(?![\w,]|\.\d)")
MACHINE = re.compile(
    r"""\A\W{0,3}(?:[{\[<]|\w+\s?[:=]\s?\W?[{\[]) | \w(?:Error|Exception|Violation|Timeout)\b | [a-z]+(?:_[a-z]+)+
      | [A-Z]{3,}_[A-Z_]{3,} | \bE[A-Z]{5,}\b | \w://\w | \b\w+(?:\.\w+){2,} | \bTraceback\b | \b\d+:\s?[A-Z]
      | \[\w+\W\w+\] | (?:\d+\.){3}\d""",
    re.VERBOSE,
)
"""Signs of somebody who does not talk to people."""
FIRST_PERSON = re.compile(r"\bI(?:['’]\w+)?\s")


def service_weight(text: str) -> int:
    """How many of the things a service's error is made of are in a text; 0 unless something is wrong.

    One who says "I" is hardly a service.
    """
    opening = text[:WINDOW]
    weight = sum(hint.search(opening) is not None for hint in (LOAD, OUTAGE, STATUS_CODE)) + 2 * is_machine(opening)
    if not weight:
        return 0
    weight += sum(hint.search(opening) is not None for hint in (SERVICE, ADVICE))
    return max(0, weight - 2 * (FIRST_PERSON.search(opening) is not None))


def is_machine(text: str) -> bool:
    """Whether a text is made for machines."""
    return MACHINE.search(text) is not None


MACHINERY = words(
    """container, sandbox, pod., pods., docker, vm., microvm, virtual machine, kernel, workspace, environment, runtime.,
    runner, executor, execution, exec., worker, node., nodes., instance, machine, session, host., hosts., job.,
    shell., terminal, browser, page., daemon, mount, image., supervisor, harness, server, watchdog, backend,
    actor., tmux, ssh., websocket, connection, process., filesystem, file system, device, memory, disk,
    transport, socket, heartbeat, lease, target., resource, signal, remote"""
)
FATE = words(
    """kill, terminat, died, dead., crash, lost., gone., stopped, exits., exited., evict, preempt, expired, not found,
    not running, not ready, not connect, not exist, not respond, not reach, no such, no longer, no answer,
    unreachable, disconnect, closed., closure, drops., dropped., refused, revoked, reclaim, halt, hung up, oom,
    out of memory, cannot allocate, cannot reach, cannot connect, no space, quota, core dumped, missed, stale.,
    eof., input/output, i/o error, bus error, io error, read-only, broken pipe, restart, shut down, shutdown,
    paused, unresponsive, backoff, back-off, went away, abnormal, exhausted, unavailable, deadline, fail,
    aborted, 137., 9., sigkill, low on"""
)


def machine_loss_weight(text: str) -> int:
    """2 when a text speaks of a machine and of its end, 1 when of one of them."""
    return (MACHINERY.search(text[:WINDOW]) is not None) + (FATE.search(text[:WINDOW]) is not None)


TROUBLE = words(
    """not., no., none., n/a., nothing., cannot, can't., cant., could not, couldn't, unable, fail, error, errors,
    exception, invalid, not valid, denied, missing, required, expected, unexpected, unknown, illegal, forbid,
    unauthori, not authori, reject, refus, conflict, timed out, timeout, panic, fault, abort, fatal, malformed,
    unsupported, unavailable, undefined, exceed, limit, null., false., must., already, locked, wrong, bad.,
    quota, traceback, usage:, sorry, doesn't, isn't, wasn't, didn't, won't, expired, mismatch, corrupt, broken,
    lost., stale., kill, crash, blocked, interrupted, out of bounds, out of range, too few, too many, enoent,
    eacces, segmentation"""
)
ERROR_CODE = re.compile(r"\w(?:Error|Exception|Fault)\b|(?<![\w.])[45]\d\d\b|-\d{5}\b")


def is_trouble(text: str) -> bool:
    """Whether a tool's answer says no to something, in its opening or its last words."""
    return any(hint.search(part) is not None for part in (text[:200], text[-200:]) for hint in (TROUBLE, ERROR_CODE))


BAD_NEWS = words(
    """could not, couldn't, cannot., can't., unable, unfortunately, sorry, fail, error, problem, stuck., blocked,
    no longer, anymore., any more., gone., lost., unavailable, unresponsive, down., stop., stops., stopped.,
    didn't, did not, doesn't, does not, without success, not able, not possible, not work, not respond,
    not reach, not answer, cut off, none., nothing., never., broke, crash, died, dead., refused, rejected,
    denied, closed., impossible, give up, giving up, has ended, it ends, disappear, inaccessible, interrupt,
    terminat"""
)
GOOD_NEWS = words(
    """done., complet, success, updated, fixed, finished, all set, taken care, verified, green., works., ready.,
    resolved, in place, confirmed, processed, went through, everything, well., now has, now is, now behaves,
    now works, good., great., applied, saved"""
)
WITHOUT = re.compile(
    r"\b(?:without|no|zero|any)\s+(?:\w+\s+)?(?:error|problem|issue|failure|trouble)s?\b", re.IGNORECASE
)


def is_bad_news(text: str) -> bool:
    """Whether an answer says that something did not work: what it says first decides, the bad or the good."""
    bad, good = news(text)
    return bad < good


def is_good_news(text: str) -> bool:
    """Whether an answer says first that all is well."""
    bad, good = news(text)
    return good < bad


def news(text: str) -> tuple[int, int]:
    """Where the first bad and the first good news stand, at the end where there are none."""
    said = WITHOUT.sub("well", text[:WINDOW])
    bad, good = BAD_NEWS.search(said), GOOD_NEWS.search(said)
    return (len(said) if bad is None else bad.start()), (len(said) if good is None else good.start())


LOOK = r"""(?:check|look|pull|review|read|open|search|examin|verif|inspect|investigat|find|fetch|get|retriev|gather|see
    |dig|go\s+(?:through|over|on)|understand|figur|work\s+out|test|run|try|quer|call|consult|load|collect|confirm
    |double-check|start|begin|proceed|continu|analy[sz])"""
INTENT = re.compile(
    rf"""\b(?:(?:i(?:['’]ll|\s+(?:will|should|shall|must|need\s+to|want\s+to|have\s+to))
            |i(?:['’]m|\s+am)\s+(?:now\s+)?(?:going|about)\s+to
            |let(?:\s+me|['’]s|\s+us)|time\s+to|(?:one|just\s+a)\s+(?:moment|second)|hold\s+on|give\s+me\s+a|next\s+step)
            [^.!?:\n]{{0,40}}?\b{LOOK}
          |(?:now|currently|still|i['’]m|i\s+am)\s+(?:\w+\s+)?{LOOK}\w*ing\b)
        [^.!?:\n]{{0,120}}[.:…!]*\s*\Z""",
    re.IGNORECASE | re.VERBOSE,
)


def is_plan(text: str) -> bool:
    """Whether an answer ends by saying what its author is about to look at."""
    return INTENT.search(text[-WINDOW:]) is not None
