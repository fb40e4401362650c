"""Addresses and headers with which no request could be sent are refused with the configuration."""

import pytest
from pydantic import ValidationError

from rayeval.chat.config import OpenAI
from rayeval.live.config import Http
from rayeval.retrieve.dense.config import OpenAI as Embeddings

MAKE = [
    pytest.param(lambda url: OpenAI(url=url, model="m"), id="chat"),
    pytest.param(lambda url: Http(url=url, body={"q": "{question}"}), id="service"),
    pytest.param(lambda url: Embeddings(base_url=url, model="m"), id="embeddings"),
]


@pytest.mark.parametrize("make", MAKE)
@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:99999/v1",
        "http://127.0.0.1:0/v1",
        "http://127.0.0.1:abc/v1",
        "http://[::1/v1",
        "http://exa mple/v1",
        "http://127.0.0.1/v1\n",
        "http://127.0.0.1/\0",
        "http://xn--a/v1",
        "http://😀/v1",
    ],
)
def test_an_address_that_is_none_is_no_setting(make, url):
    with pytest.raises(ValidationError):
        make(url)


@pytest.mark.parametrize("make", MAKE)
@pytest.mark.parametrize("url", ["http://[::1]:8000/v1", "https://한국.example/v1", "http://a/v1/"])
def test_an_address_is_one(make, url):
    assert make(url)


def test_what_is_put_after_the_address_is_no_part_of_it():
    with pytest.raises(ValidationError, match="leave out /chat/completions"):
        OpenAI(url="http://127.0.0.1/v1/chat/completions", model="m")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("X-Team", "한국", "printable ASCII"),
        ("X-Team", "a\nb", "printable ASCII"),
        ("X-Team", " a", "without blanks"),
        ("X Team", "a", "no header's name"),
        ("팀", "a", "no header's name"),
        ("", "a", "no header's name"),
        ("Content-Length", "3", "leave it out"),
        ("transfer-encoding", "chunked", "leave it out"),
        ("Authorization", "Bearer ${MY-KEY}", r"is not \$\{NAME\}"),
        ("Authorization", "Bearer abc", r"write \$\{NAME\}"),
    ],
)
@pytest.mark.parametrize("kind", ["chat", "service"])
def test_a_header_that_is_none_is_no_setting(kind, name, value, said):
    with pytest.raises(ValidationError, match=said):
        if kind == "chat":
            OpenAI(url="http://a/v1", model="m", headers={name: value})
        else:
            Http(url="http://a/?q={question}", headers={name: value})


def test_headers_may_hold_what_headers_hold():
    headers = {"Authorization": "Bearer ${KEY}", "X-Team": "a b", "Empty": ""}
    assert OpenAI(url="http://a/v1", model="m", headers=headers).headers == headers
