"""Secrets and private places are taken out of a text; ordinary writing is left as it is."""

import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.report.redaction import redact
from blade.report.secrets import is_scattered, looks_random, mean_piece

# Put together here, so that no scanner takes this file for one that leaks.
KEY = "sk-" + "proj-" + "a1Bz" * 6
JWT = "eyJ" + "hbGciOiJI" + ".eyJzdWIiOiIxMjM0." + "SflKxwRJSMeKKF2QT4"


# Made up here, in the forms that each maker documents; recall is measured on published examples instead.
RANDOM = "Zx9Qm2Lr7Tb4Vn8Kc3Hs6Wd1Yf5Gp0JaRu"
HEX = "3f9a1c07be52d8846e10f7a2c95b3d6e"


@pytest.mark.parametrize(
    ("text", "expected", "kinds"),
    [
        pytest.param(f"saw {KEY}.", "saw [redacted:api_key].", ["api_key"], id="api_key"),
        pytest.param("AKIA" + "ABCDEFGHIJKLMNOP", "[redacted:api_key]", ["api_key"], id="cloud_key"),
        pytest.param(f"saw {JWT}", "saw [redacted:api_key]", ["api_key"], id="jwt"),
        pytest.param("a: Bearer abcdef123456789", "a: Bearer [redacted:token]", ["token"], id="bearer"),
        pytest.param('password="hunter22xyz"', 'password="[redacted:secret]"', ["secret"], id="assigned"),
        pytest.param("db://bob:s3cr@h.example", "db://[redacted:credentials]@h.example", ["credentials"], id="login"),
        pytest.param("http://10.1.2.3:8000/v1 now", "[redacted:endpoint] now", ["endpoint"], id="private_address"),
        pytest.param("at https://judge.corp/run.", "at [redacted:endpoint]", ["endpoint"], id="internal_name"),
        pytest.param("/home/ann/x by ann", "~/x by [redacted:user_name]", ["home_path", "user_name"], id="home"),
        pytest.param("/lustre/fsw/users/jdoe/ckpt", "~/ckpt", ["home_path"], id="cluster_home"),
        pytest.param("C:\\Users\\eve\\run", "~\\run", ["home_path"], id="windows_home"),
        pytest.param(f"hf\\_{RANDOM}", "[redacted:api_key]", ["api_key"], id="escaped_in_markdown"),
        pytest.param("mail eve@corp.io", "mail [redacted:email]", ["email"], id="email"),
    ],
)  # fmt: skip
def test_what_must_not_be_shared_is_removed(text: str, expected: str, kinds: list[str]) -> None:
    result = redact(text)

    assert (result.text, [found.kind for found in result.found]) == (expected, kinds)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        pytest.param(f'{{"SecretAccessKey": "{RANDOM}+/aB3"}}', RANDOM, id="aws_json"),
        pytest.param(f"https://hooks.slack.com/services/T0AB1CD2E/B3FG4HI5J/{RANDOM[:24]}", RANDOM[:24], id="webhook"),
        pytest.param(f"xapp-1-A0B1C2D3E4F-1234567890123-{HEX * 2}", HEX, id="slack_app"),
        pytest.param(f"akab-{'a1b2c3d4' * 2}-{'e5f6g7h8' * 2}", "e5f6g7h8", id="akamai"),
        pytest.param("amzn.mws.4ea38b7b-f563-7709-4bae-87aea15c0d21", "4ea38b7b", id="amazon_mws"),
        pytest.param(f"{HEX[:32]}-0a1b2c3d-4e5f6a7b", "4e5f6a7b", id="mailgun"),
        pytest.param("123456789012345|aB3dE5fG7hI9jK1lM3nO5pQ7rS9", "aB3dE5fG7h", id="facebook_app"),
        pytest.param('{\\"password\\": \\"s3same!open\\"}', "s3same!open", id="json_in_json"),
        pytest.param("curl -u ann:s3same https://h.example", "s3same", id="curl_user"),
        pytest.param("mysql -h db -u ann -ps3same shop", "s3same", id="mysql_flag"),
        pytest.param("sshpass -p 's3same' ssh h", "s3same", id="sshpass"),
        pytest.param("Authorization: Basic YW5uOnMzc2FtZQ==", "YW5uOnMzc2FtZQ", id="basic"),
        pytest.param(f"AccountKey={RANDOM}{RANDOM}AbC9==;Endpoint=x", RANDOM, id="azure_key"),
        pytest.param(f"https://a.example/c?sv=2024&sig={RANDOM}%3D", RANDOM, id="signed_address"),
        pytest.param(f"SG.{RANDOM[:22]}.{RANDOM}aB3dE5fG7", RANDOM[:22], id="sendgrid"),
        pytest.param(f"bot 123456789:{RANDOM}X works", RANDOM, id="telegram"),
        pytest.param(f"dapi{HEX}", HEX, id="databricks"),
        pytest.param(f"dop_v1_{HEX}{HEX}", HEX, id="digitalocean"),
        pytest.param(f"shpat_{HEX}", HEX, id="shopify"),
        pytest.param(f"gsk_{RANDOM}", RANDOM, id="groq"),
        pytest.param("Cookie: session=s3same; theme=dark", "s3same", id="cookie"),
        pytest.param("machine h.example login ann password s3same", "s3same", id="netrc"),
        pytest.param("AGE-SECRET-KEY-1" + "QK7XR2M9" * 7, "QK7XR2M9" * 7, id="age"),
        pytest.param("deploy --db-password s3same --verbose", "s3same", id="flag"),
        pytest.param("<password>s3same</password>", "s3same", id="xml"),
        pytest.param("Server=h;Uid=ann;Pwd=swordfish;", "swordfish", id="connection_string"),
        pytest.param("$6$rounds=5000$saltsalt$" + "aB3./xY7" * 8, "aB3./xY7", id="password_hash"),
    ],
)
def test_a_secret_is_removed_in_whatever_way_it_is_written(text: str, secret: str) -> None:
    inside_json = msgspec.json.encode({"arguments": msgspec.json.encode({"cmd": text}).decode()}).decode()

    assert secret not in redact(text).text
    assert secret not in redact(inside_json).text


@pytest.mark.parametrize(
    "text",
    [
        "pass@1 is 62.2 % over 36 tasks; see `12:3#5`.",
        "password: your-password, token=<TOKEN>, secret: ${SECRET}",
        "write to jun@hv-studio.example about tokens: 572 in, 201 out",
        "version 10.2.1 of https://docs.example.org/users/guide",
        "the token budget: exhausted",
        f'commit {HEX}, "id": "call_{RANDOM[:24]}", sha256-{HEX}',
        "file src/my_package/HTTPServerConfigurationFactoryBean2.java and Qwen/Qwen3-Coder-30B-A3B-Instruct",
        "getUserDetailsFromReservationByIdOrName raised at 2026-11-18T13:51:59.166177",
        '"PASS_TO_PASS": "[\\"astropy/modeling/tests/test_separable.py::test_coord_matrix\\"]"',
        "a basic understanding of authorization: required",
    ],
)
def test_ordinary_writing_stays(text: str) -> None:
    assert (redact(text).text, redact(text).found) == (text, [])


def test_a_secret_told_by_its_name_is_removed_wherever_it_stands() -> None:
    assert redact("password=hunter22xyz\nlogged in with hunter22xyz").text.count("hunter22xyz") == 0


@pytest.mark.parametrize(
    "piece", ["a.a.", "://a:", "cookie:a", "//a:_authToken=npm_", "/a", "-----BEGIN PRIVATE KEY-----"]
)
def test_time_grows_with_the_length_of_the_text(piece: str) -> None:
    def seconds(length: int) -> float:
        start = time.process_time()
        redact((piece * length)[:length])
        return time.process_time() - start

    seconds(1000)  # whatever is loaded once
    short = min(seconds(10_000) for _ in range(3))
    # Four times the text takes four times as long; quadratic time would take sixteen.
    assert min(seconds(40_000) for _ in range(2)) < 10 * short + 0.1


def test_a_private_key_is_removed_to_its_end() -> None:
    block = "-----BEGIN RSA " + "PRIVATE KEY-----\nabc\ndef\n-----END RSA " + "PRIVATE KEY-----"

    assert redact(f"before\n{block}\nafter").text == "before\n[redacted:private_key]\nafter"


def test_a_private_key_without_an_end_takes_only_its_own_lines() -> None:
    block = "-----BEGIN " + "PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n"

    assert redact(f"before\n{block}\nThe rest of the report stays.").text == (
        "before\n[redacted:private_key]\n\nThe rest of the report stays."
    )


def test_what_is_random_is_told_by_how_often_a_word_changes() -> None:
    # "aB3dE5" changes after a, B3 is two pieces ...: a|B|3|d|E|5, six pieces of six characters.
    assert [mean_piece(word) for word in ("aB3dE5", "HelloWorld", "abc123", "---")] == [1.0, 5.0, 3.0, 3.0]
    assert [looks_random(word) for word in ("aB3dE5", "HelloWorld", "abcdef")] == [True, False, False]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        # 20 signs in parts of 10; p1q2r3s4t5 changes nine times, and 18 changes are more than 20 / 4.
        pytest.param("p1q2r3s4t5-u6v7w8x9y1", True, id="changes_everywhere"),
        # 20 signs, five changes: 20 / 4.
        pytest.param("ab1cdef-gh2ijk-lm3nopqr", True, id="just_enough"),
        pytest.param("ab1cdef-gh2ijk-lmsnopqr", False, id="too_few_changes"),
        pytest.param("p1q2r3s4t-u6v7w8x9y1", False, id="too_short"),
        pytest.param("meta-llama-3-1-8b-instruct-q4-k-m", False, id="name_of_a_model"),
        pytest.param("Qwen3-Coder-30B-A3B-Instruct-FP8", False, id="name_with_capitals"),
        pytest.param(f"chatcmpl-tool-{HEX}", False, id="digest_with_a_prefix"),
    ],
)
def test_a_word_in_parts_is_random_when_its_parts_are(word: str, expected: bool) -> None:
    assert is_scattered(word) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        # Four numbers; pieces of 3.5 on average are random in any word, of 4.5 only in one of 40 signs.
        pytest.param("abcdef1ghijkl2mnopqr3stuvwx4", True, id="three_and_a_half"),
        pytest.param("abcdefg1hijklmn2opqrstu3vwxyzab4", False, id="four_in_32_signs"),
        pytest.param("abcdefg1hijklmn2opqrstu3vwxyzab4cdefghi5", True, id="four_in_40_signs"),
        pytest.param("abcdefghi1jklmnopqr2stuvwxyza3bcdefghij4", False, id="five_in_40_signs"),
    ],
)
def test_a_longer_word_is_random_with_fewer_changes(word: str, expected: bool) -> None:
    assert looks_random(word) == expected


def test_a_finding_does_not_repeat_the_secret() -> None:
    assert all(KEY not in found.shown for found in redact(f"a {KEY}").found)


@given(st.text(max_size=200))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(f"{text} /home/ann/{text} {KEY}").text

    assert redact(once).text == once
