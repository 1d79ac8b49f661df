"""How many secrets does redaction remove, and how much that is none?

The forms of secrets are facts taken from the rule set of gitleaks (config/gitleaks.toml, as of November 2026), which
redaction was not written from but has been mended on: a maker's prefix, the signs that follow and how many. The unseen
set is of trufflehog, and no rule was changed for it. Values are drawn with a seed and written as configuration, code,
logs and commands are, each bare and inside the JSON of a tool call. Left out is what those sets call an id or a public
key, and passwords that any text would match.

A secret counts as removed when no eight characters of it in a row are left. False removals are counted in ordinary
trajectories, where every removal of a secret is taken to be false: in the shipped rollouts, or in files below --data.

Usage: python measure/bench/redaction.py [--seed N] [--draws N] [--data DIR] [--misses]
Exits with 1 below 95 % of any kind or above one false removal per 10 kB.
"""

import argparse
import json
import random
import re
import string
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[2])]

from blade.report.redaction import redact  # noqa: E402
from blade.rollouts.sources import open_stream  # noqa: E402

OWN_FORM = r"""
A3-[A-Z0-9]{6}-[A-Z0-9]{11}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}
ops_eyJ[A-Za-z0-9+/]{250}
p8e-[a-z0-9]{32}
AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}
LTAI[a-z0-9]{20}
sk-ant-admin01-[A-Za-z0-9_-]{93}AA
sk-ant-api03-[A-Za-z0-9_-]{93}AA
AKCp[A-Za-z0-9]{69}
cmVmd[A-Za-z0-9]{59}
ATATT3[A-Za-z0-9_=-]{186}
authress_[a-z0-9]{20}.[a-z0-9]{5}.acc_[a-z0-9-]{24}.[a-z0-9+/_=-]{60}
AKIA[A-Z2-7]{16}
ASIA[A-Z2-7]{16}
[A-Za-z0-9_~.]{3}8Q~[A-Za-z0-9_~.-]{33}
4b1d[A-Za-z0-9]{38}
CLOJARS_[a-z0-9]{60}
v1.0-[a-f0-9]{24}-[a-f0-9]{146}
dapi[a-f0-9]{32}
dnkey-[a-z0-9=_-]{26}-[a-z0-9=_-]{52}
doo_v1_[a-f0-9]{64}
dop_v1_[a-f0-9]{64}
dor_v1_[a-f0-9]{64}
dp.pt.[a-z0-9]{43}
sl.[a-z0-9=_-]{135}
duffel_live_[a-z0-9_=-]{43}
dt0c01.[a-z0-9]{24}.[a-z0-9]{64}
EZAK[a-z0-9]{54}
EZTK[a-z0-9]{54}
[0-9]{15}|[a-z0-9_-]{30}
EAAM[a-z0-9]{110}
FLWSECK_TEST-[a-h0-9]{12}
FLWSECK_TEST-[a-h0-9]{32}-X
fo1_[A-Za-z0-9_-]{43}
fm2_[A-Za-z0-9+/]{120}
fio-u-[a-z0-9_=-]{64}
AIza[A-Za-z0-9_-]{35}
lin_api_[a-z0-9]{40}
live_[a-f0-9]{35}
[a-f0-9]{32}-us21
key-[a-f0-9]{32}
[a-h0-9]{32}-[a-h0-9]{8}-[a-h0-9]{8}
[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk
NRJS-[a-f0-9]{19}
NRII-[a-z0-9-]{32}
NRAK-[a-z0-9]{27}
ntn_[0-9]{11}[A-Za-z0-9]{35}
npm_[a-z0-9]{36}
API-[A-Z0-9]{26}
00[A-Za-z0-9_-]{40}
sk-proj-[A-Za-z0-9_-]{74}T3BlbkFJ[A-Za-z0-9_-]{74}
sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}
sha256~[A-Za-z0-9_-]{43}
pplx-[A-Za-z0-9]{48}
access-sandbox-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}
pscale_tkn_[A-Za-z0-9_=.-]{40}
pscale_oauth_[A-Za-z0-9_=.-]{40}
pscale_pw_[A-Za-z0-9_=.-]{40}
PMAK-[a-f0-9]{24}-[a-f0-9]{34}
pnu_[A-Za-z0-9]{36}
pul-[a-f0-9]{40}
pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{90}
rdme_[a-z0-9]{70}
rubygems_[a-f0-9]{48}
tk-us-[A-Za-z0-9_-]{48}
SG.[a-z0-9=_.-]{66}
xkeysib-[a-f0-9]{64}-[a-z0-9]{16}
sntryu_[a-f0-9]{64}
sm_aat_[A-Za-z0-9]{16}
sm_pat_[A-Za-z0-9]{16}
shippo_live_[a-f0-9]{40}
shpat_[a-fA-F0-9]{32}
shpss_[a-fA-F0-9]{32}
xapp-1-[A-Z0-9]{11}-[0-9]{13}-[a-z0-9]{64}
xoxb-[0-9]{12}-[0-9]{12}-[A-Za-z0-9]{24}
xoxe.xoxb-1-[A-Z0-9]{164}
xoxe-1-[A-Z0-9]{146}
xoxs-[0-9]{10}-[0-9]{10}-[0-9]{10}-[a-f0-9]{10}
xoxr-[A-Za-z0-9]{40}
xoxp-[0-9]{12}-[0-9]{12}-[0-9]{12}-[A-Za-z0-9]{32}
sgp_[a-fA-F0-9]{16}_[a-fA-F0-9]{40}
sq0atp-[A-Za-z0-9_-]{22}
sk_live_[A-Za-z0-9]{24}
rk_test_[A-Za-z0-9]{30}
[0-9]{10}:A[A-Za-z0-9_-]{34}
SK[0-9a-f]{32}
tfp_[a-z0-9_.=-]{59}
hvb.[A-Za-z0-9_-]{150}
hvs.[A-Za-z0-9_-]{95}
s.[A-Za-z0-9]{24}
t1.[A-Za-z0-9_-]{40}.[A-Za-z0-9_-]{86}
AQVN[A-Za-z0-9_-]{36}
YC[A-Za-z0-9_-]{38}
""".strip().splitlines()
"""What tells by itself whose it is."""

NAMED = """
adafruit [a-z0-9_-]{32}
airtable [a-z0-9]{17}
algolia [a-z0-9]{32}
alibaba [a-z0-9]{30}
asana [a-z0-9]{32}
confluence [a-z0-9]{20}[a-f0-9]{4}
beamer b_[a-z0-9=_-]{44}
bitbucket [a-z0-9=_-]{64}
bittrex [a-z0-9]{32}
meraki [a-f0-9]{40}
cloudflare [a-z0-9_-]{40}
cloudflare [a-f0-9]{37}
codecov [a-z0-9]{32}
cohere [A-Za-z0-9]{40}
coinbase [a-z0-9_-]{64}
confluent [a-z0-9]{16}
confluent [a-z0-9]{64}
contentful [a-z0-9=_-]{43}
datadog [a-z0-9]{40}
discord [a-f0-9]{64}
discord [a-z0-9=_-]{32}
droneci [a-z0-9]{32}
dropbox [a-z0-9]{15}
etsy [a-z0-9]{24}
facebook [a-f0-9]{32}
fastly [a-z0-9=_-]{32}
finicity [a-z0-9]{20}
finnhub [a-z0-9]{20}
flickr [a-z0-9]{32}
freshbooks [a-z0-9]{64}
launchdarkly [a-z0-9=_-]{40}
linkedin [a-z0-9]{16}
mattermost [a-z0-9]{26}
messagebird [a-z0-9]{25}
netlify [a-z0-9=_-]{43}
newrelic [a-z0-9]{64}
nytimes [a-z0-9=_-]{32}
plaid [a-z0-9]{30}
private_ai [a-z0-9]{32}
rapidapi [a-z0-9_-]{50}
sendbird [a-f0-9]{40}
sentry [a-f0-9]{64}
snyk [a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}
sonar [a-z0-9=_-]{40}
sumo [a-z0-9]{64}
travis [a-z0-9]{22}
twitch [a-z0-9]{30}
twitter [a-z0-9]{45}
twitter [a-z0-9]{25}
zendesk [a-z0-9]{40}
""".strip().splitlines()
"""What only its name tells: the maker, and the signs of the value."""

UNSEEN = """
ipstack [a-f0-9]{32}
datagov [A-Za-z0-9]{40}
faceplusplus [A-Za-z0-9_-]{32}
geoapify [a-z0-9]{32}
ambee [a-f0-9]{64}
fulcrum [a-z0-9]{80}
plivo [A-Za-z0-9_-]{40}
splunk [a-z0-9A-Z]{22}
tyntec [A-Za-z0-9]{32}
m3o [0-9A-Za-z]{48}
surveysparrow [A-Za-z0-9_-]{88}
unify [0-9A-Za-z_=-]{44}
omnisend [a-z0-9A-Z-]{75}
browshot [a-zA-Z0-9-]{28}
avaza [0-9]{6}-[0-9a-f]{40}
salesblink [a-zA-Z]{16}
fakejson [a-zA-Z0-9]{22}
invoiceocean [0-9A-Za-z]{20}
rocketreach [a-z0-9-]{39}
shotstack [a-zA-Z0-9]{40}
segment [A-Za-z0-9_-]{43}.[A-Za-z0-9_-]{43}
pepipost [a-zA-Z0-9-]{32}
youtube [a-zA-Z0-9_-]{39}
getgist [a-z0-9A-Z+=]{68}
chatbot [a-zA-Z0-9_]{32}
hunter [a-z0-9_-]{40}
storecove [a-zA-Z0-9_-]{43}
telnyx KEY[0-9A-Za-z_-]{55}
circle [a-f0-9]{40}
notion secret_[A-Za-z0-9]{43}
hiveage [0-9A-Za-z_-]{20}
upcdatabase [A-Z0-9]{32}
typeform [0-9A-Za-z]{44}
urlscan [a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}
partnerstack [0-9A-Za-z]{64}
moderation [a-zA-Z0-9]{36}.[a-zA-Z0-9]{115}.[a-zA-Z0-9_]{43}
calendarific [a-z0-9]{40}
confluent [a-zA-Z0-9-]{16}
mailjet [A-Za-z0-9]{32}
polygon [a-z0-9A-Z]{32}
companyhub [0-9a-zA-Z]{20}
""".strip().splitlines()
"""From the detectors of trufflehog 3, as secrets-patterns-db lists them; all are told by a name alone."""

ALONE = {
    "in a sentence": "The client was started with {value} and then answered.",
    "in a list": '["eu-west-1", "{value}", 30]',
    "in a command": "bin/upload {value} report.csv",
    "in an address": "GET https://api.example.com/v2/{value}/items?limit=5",
    "after a name": "2026-11-18 13:02:11 INFO worker=3 with={value} status=200",
}
ASSIGNED = {
    "environment": "export {upper}_API_TOKEN={value}",
    "yaml": "{name}_secret: {value}",
    "json": '{{"region": "eu", "{name}ApiKey": "{value}", "retries": 3}}',
    "python": 'client = Client({name}_token="{value}")',
    "single quotes": "{name}.api_key = '{value}'",
    "toml": '{name}-auth-token = "{value}"',
    "xml": "<{name}Secret>{value}</{name}Secret>",
    "flag": "run --{name}-api-key {value} --verbose",
    "header": "X-{name}-Token: {value}",
    "parameter": "GET https://api.example.com/v2/items?limit=5&{name}_access_token={value}&page=2",
}
TOLD = {"in words": "You can find a {name} secret {value} within", **ASSIGNED}
"""How a value is written: with nothing that says what it is, and given to a name, as that set's own examples are."""
PART = re.compile(r"\[([^]]+)\]\{(\d+)\}")
PIECE = 8
GOAL_RECALL, GOAL_FALSE = 0.95, 1.0


def drawn(form: str, rng: random.Random) -> str:
    """A value of a form; it begins and ends with a letter or a digit where the form leaves the choice."""

    def part(match: re.Match[str]) -> str:
        signs = signs_of(match[1])
        edge = [sign for sign in signs if sign.isalnum()]
        length = int(match[2])
        return rng.choice(edge) + "".join(rng.choices(signs, k=length - 2)) + rng.choice(edge)

    return PART.sub(part, form)


def signs_of(words: str) -> str:
    """The signs of a class such as `a-z0-9_-`."""
    for name, signs in {
        "a-z": string.ascii_lowercase, "A-Z": string.ascii_uppercase, "0-9": string.digits, "2-7": "234567",
        "a-f": "abcdef", "A-F": "ABCDEF", "a-h": "abcdefgh",
    }.items():  # fmt: skip
        words = words.replace(name, signs)
    return words


def secrets(rng: random.Random, draws: int) -> Iterator[tuple[str, str, str, str]]:
    """Which kind it is, its form, the text and the value."""
    for form in OWN_FORM:
        for way, text in {**ALONE, **ASSIGNED}.items():
            for value in (drawn(form, rng) for _ in range(draws)):
                yield (
                    "alone" if way in ALONE else "own form, named",
                    form,
                    text.format(value=value, name="service", upper="SERVICE"),
                    value,
                )
    for line, kind in [*((line, "named only") for line in NAMED), *((line, "unseen set") for line in UNSEEN)]:
        name, form = line.split()
        for text in (TOLD if kind == "unseen set" else ASSIGNED).values():
            for value in (drawn(form, rng) for _ in range(draws)):
                yield kind, line, text.format(value=value, name=name, upper=name.upper()), value


def survives(value: str, text: str) -> bool:
    """Whether so much of a value is left that it helps."""
    left = redact(text).text
    return any(value[at : at + PIECE] in left for at in range(len(value) - PIECE + 1))


def in_arguments(text: str) -> str:
    """A text inside the arguments of a tool call: JSON in JSON."""
    return json.dumps({"type": "function_call", "name": "run", "arguments": json.dumps({"command": text})})


def recall(rng: random.Random, draws: int, *, misses: bool) -> float:
    """Prints how many are removed, by kind; the lowest share."""
    found: defaultdict[str, list[tuple[bool, bool]]] = defaultdict(list)
    lost: Counter[str] = Counter()
    for way, form, text, value in secrets(rng, draws):
        kept = survives(value, text), survives(value, in_arguments(text))
        found[way].append(kept)
        if any(kept):
            lost[f"{form}  {way}, e.g. {text[:120]}"] += 1
    lowest = 1.0
    for way, ways in found.items():
        bare, inside = (sum(not kept[place] for kept in ways) / len(ways) for place in (0, 1))
        print(f"{way:16} {len(ways):6,} secrets  removed bare {bare:6.1%}  in tool arguments {inside:6.1%}")
        lowest = min(lowest, bare, inside)
    if misses:
        print(*(f"missed: {what}" for what, _ in lost.most_common()), sep="\n")
    return lowest


def false_removals(folder: Path, most: int, *, misses: bool) -> float:
    """Prints removals of secrets per 10 kB of trajectories, folder by folder; the mean of all."""
    sizes: Counter[str] = Counter()
    removed: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    paths = sorted(path for path in folder.rglob("*.jsonl*") if path.is_file() and "rollout" in str(path))
    for path in paths or sorted(folder.rglob("*.json*")):
        with open_stream(path) as stream:
            text = stream.read(most).decode("utf-8", "replace")
        group = path.relative_to(folder).parts[0]
        sizes[group] += len(text)
        for one in redact(text).found:
            if one.kind not in ("home_path", "user_name", "email", "endpoint"):
                removed[group] += 1
                kinds[f"{one.kind} {one.shown}"] += 1
    for group, size in sizes.items():
        print(f"{group[:60]:60} {size:11,} characters  {1e4 * removed[group] / max(1, size):5.2f} removals per 10 kB")
    if misses:
        print(*(f"removed: {what} ({count})" for what, count in kinds.most_common(60)), sep="\n")
    return 1e4 * removed.total() / max(1, sizes.total())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--data", type=Path, default=HERE.parents[2] / "benchmarks")
    parser.add_argument("--most", type=int, default=200_000, metavar="CHARACTERS", help="of each file")
    parser.add_argument("--misses", action="store_true", help="list what was missed and what was removed")
    given = parser.parse_args()
    removed = recall(random.Random(given.seed), given.draws, misses=given.misses)
    rate = false_removals(given.data, given.most, misses=given.misses)
    print(
        f"seed {given.seed}: lowest recall {removed:.1%} (goal {GOAL_RECALL:.0%}), "
        f"{rate:.2f} false removals per 10 kB (goal at most {GOAL_FALSE:g})"
    )
    return 1 if removed < GOAL_RECALL or rate > GOAL_FALSE else 0


if __name__ == "__main__":
    raise SystemExit(main())
