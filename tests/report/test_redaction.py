"""Secrets and private places are taken out of a text; ordinary writing is left as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.report.redaction import redact

# Put together here, so that no scanner takes this file for one that leaks.
KEY = "sk-" + "proj-" + "a1B2" * 6
JWT = "eyJ" + "hbGciOiJI" + ".eyJzdWIiOiIxMjM0." + "SflKxwRJSMeKKF2QT4"


@pytest.mark.parametrize(
    ("text", "expected", "kinds"),
    [
        pytest.param(f"key {KEY}.", "key [redacted:api_key].", ["api_key"], id="api_key"),
        pytest.param("AKIA" + "ABCDEFGHIJKLMNOP", "[redacted:api_key]", ["api_key"], id="cloud_key"),
        pytest.param(f"auth {JWT}", "auth [redacted:token]", ["token"], id="jwt"),
        pytest.param("a: Bearer abcdef123456789", "a: Bearer [redacted:token]", ["token"], id="bearer"),
        pytest.param('password="hunter22xyz"', 'password="[redacted:secret]"', ["secret"], id="assigned"),
        pytest.param("db://bob:s3cr@h.example", "db://[redacted:credentials]@h.example", ["credentials"], id="login"),
        pytest.param("http://10.1.2.3:8000/v1 now", "[redacted:endpoint] now", ["endpoint"], id="private_address"),
        pytest.param("at https://judge.corp/run.", "at [redacted:endpoint]", ["endpoint"], id="internal_name"),
        pytest.param("/home/ann/x by ann", "~/x by [redacted:user_name]", ["home_path", "user_name"], id="home"),
        pytest.param("/lustre/fsw/users/jdoe/ckpt", "~/ckpt", ["home_path"], id="cluster_home"),
        pytest.param("C:\\Users\\eve\\run", "~\\run", ["home_path"], id="windows_home"),
        pytest.param(f"hf\\_{'a1b2' * 6}", "[redacted:api_key]", ["api_key"], id="escaped_in_markdown"),
        pytest.param("mail eve@corp.io", "mail [redacted:email]", ["email"], id="email"),
    ],
)  # fmt: skip
def test_what_must_not_be_shared_is_removed(text: str, expected: str, kinds: list[str]) -> None:
    result = redact(text)

    assert (result.text, [found.kind for found in result.found]) == (expected, kinds)
    assert all(found.removed for found in result.found)


@pytest.mark.parametrize(
    "text",
    [
        "pass@1 is 62.2 % over 36 tasks; see `12:3#5`.",
        "password: your-password, token=<TOKEN>, secret: ${SECRET}",
        "write to jun@hv-studio.example about tokens: 572 in, 201 out",
        "version 10.2.1 of https://docs.example.org/users/guide",
        "the token budget: exhausted",
    ],
)
def test_ordinary_writing_stays(text: str) -> None:
    assert (redact(text).text, redact(text).found) == (text, [])


def test_a_private_key_is_removed_to_its_end() -> None:
    block = "-----BEGIN RSA " + "PRIVATE KEY-----\nabc\ndef\n-----END RSA " + "PRIVATE KEY-----"

    assert redact(f"before\n{block}\nafter").text == "before\n[redacted:private_key]\nafter"


def test_a_long_random_word_is_flagged_and_stays() -> None:
    word = "Zx9Qm2Lr7Tb4Vn8Kc3Hs6Wd1Yf5Gp0JaRu"
    result = redact(f"line one\nid {word}")

    assert result.text == f"line one\nid {word}"
    assert [(found.kind, found.line, found.removed) for found in result.found] == [("random_word", 2, False)]


def test_a_finding_does_not_repeat_the_secret() -> None:
    assert all(KEY not in found.shown for found in redact(f"a {KEY}").found)


@given(st.text(max_size=200))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(f"{text} /home/ann/{text} {KEY}").text

    assert redact(once).text == once
