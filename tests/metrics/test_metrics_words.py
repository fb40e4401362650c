import math
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from rayeval.metrics.answers.korean import with_plain_numbers, without_particles
from rayeval.metrics.answers.overlap import contains_reference, exact_match, rouge_l, token_f1
from rayeval.metrics.answers.words import words


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        pytest.param("서울은", "서울", id="after a consonant"),
        pytest.param("제주는", "제주", id="after a vowel"),
        pytest.param("서울는", "서울는", id="the wrong one of a pair is no particle"),
        pytest.param("서울에서는", "서울", id="one after the other"),
        pytest.param("서울입니다", "서울", id="the copula"),
        pytest.param("달러이다", "달러", id="the copula after a vowel"),
        pytest.param("달러다", "달러", id="its short form"),
        pytest.param("부서이며", "부서", id="and its others"),
        pytest.param("10개이다", "10개", id="after a unit"),
        pytest.param("바다", "바다", id="다 in a name of two syllables"),
        pytest.param("서울로", "서울", id="로 after ㄹ"),
        pytest.param("부산으로", "부산", id="으로 after another consonant"),
        pytest.param("3월까지", "3월", id="a date stays"),
        pytest.param("API를", "API", id="after a letter nobody knows how it sounds"),
        pytest.param("3은", "3", id="after a digit"),
        pytest.param("나이", "나이", id="이 after a vowel is part of the name"),
        pytest.param("회의", "회의", id="a particle of one syllable leaves two"),
        pytest.param("회의는", "회의", id="and then stops"),
        pytest.param("집에서", "집", id="a longer one leaves one"),
        pytest.param("김가은이", "김가은", id="a person"),
        pytest.param("에서", "에서", id="nothing would be left"),
        pytest.param("제주도", "제주도", id="도 ends names"),
    ],
)
def test_particles_come_off_where_they_can_stand(word, stem):
    assert without_particles(word) == stem


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        pytest.param("3만 5천원", "35000원", id="parts with a space"),
        pytest.param("1만2천3백4십5", "12345", id="parts without"),
        pytest.param("5천만", "50000000", id="two units together"),
        pytest.param("12억 3400만", "1234000000", id="large parts"),
        pytest.param("3만5000", "35000", id="digits after a unit"),
        pytest.param("1.5억", "150000000", id="a fraction of a unit"),
        pytest.param("5만 3만", "50000 30000", id="two numbers"),
        pytest.param("3만 2020년", "30000 2020년", id="a year is another number"),
        pytest.param("3천3천", "3000 3000", id="the same unit twice"),
        pytest.param("3만 5억", "30000 500000000", id="a larger unit after a smaller"),
        pytest.param("수천 명, 3월 3일", "수천 명, 3월 3일", id="nothing to write out"),
        pytest.param("3조 2항", "3조 2항", id="an article of a law"),
    ],
)
def test_korean_numerals_in_digits(text, plain):
    assert with_plain_numbers(text) == plain


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("The Cat, sat!", "the cat sat", id="case and punctuation"),
        pytest.param("U.S. state-of-the-art", "us stateoftheart", id="as SQuAD joins them"),
        pytest.param("3.5% of $1,000.50", "3.5 of 1000.50", id="a point between digits stays"),
        pytest.param("1,00 and 1,000,00", "100 and 100000", id="commas that separate no thousands"),
        pytest.param("수도는 서울입니다 [E1][E2, E3].", "수도 서울", id="marks of citations"),
        pytest.param("서울(Seoul)은", "서울 seoul", id="a bracket before a particle"),
        pytest.param("Straße", "strasse", id="folded case"),
        pytest.param("\ufeff서울\u200b은\r\n부산", "서울 부산", id="BOM, zero width, CRLF"),
        pytest.param("?! []", "", id="nothing but marks"),
    ],
)
def test_words(text, found):
    assert " ".join(words(text)) == found


@pytest.mark.parametrize(
    ("answer", "reference", "contains", "exact", "f1"),
    [
        pytest.param("대한민국의 수도는 서울입니다.", "서울", 1, 0, 0.4, id="Korean particles"),
        pytest.param(
            "개인정보보호법에 따라", "개인정보 보호법", 1, 0, 7 / 8, id="spacing of Hangul"
        ),
        pytest.param("개인정보보호법은", "개인정보 보호법", 1, 1, 1, id="the same but for spacing"),
        pytest.param("13일", "3일", 0, 0, 0.5, id="not inside a number"),
        pytest.param("서울대학교", "서울", 0, 0, 4 / 7, id="not inside a word"),
        pytest.param("30 일 이내에", "30일", 1, 0, 2 / 3, id="a space before a unit"),
        pytest.param("New York", "new  york.", 1, 1, 1, id="case, space, stop"),
        pytest.param("newyork", "new york", 0, 0, 0, id="spaces count between letters"),
        pytest.param("the cat", "A cat", 1, 1, 1, id="articles"),
        pytest.param("Grade A", "A", 1, 0, 2 / 3, id="a reference that is an article"),
        pytest.param("1,000원", "1000원", 1, 1, 1, id="separators of thousands"),
        pytest.param("3만 5천 원", "35,000원", 1, 1, 1, id="numerals"),
        pytest.param(
            "환불 한도는 128 달러이다.", "128 달러", 1, 0, 0.6, id="the copula after a vowel"
        ),
        pytest.param("API키", "API 키", 1, 1, 1, id="letters beside Hangul"),
        pytest.param("首都は東京です。", "東京", 1, 0, 4 / 9, id="Japanese has no spaces"),
        pytest.param("北京", "北 京", 1, 1, 1, id="nor has Chinese"),
        pytest.param("a cat sat", "the cat ran", 0, 0, 0.5, id="half the words"),
        pytest.param("", "cat", 0, 0, 0, id="an empty answer"),
    ],
)
def test_an_answer_against_its_reference(answer, reference, contains, exact, f1):
    assert contains_reference(answer, reference) == contains
    assert exact_match(answer, reference) == exact
    assert token_f1(answer, reference) == pytest.approx(f1)


@pytest.mark.parametrize("metric", [contains_reference, exact_match, token_f1, rouge_l])
def test_a_reference_without_words_says_nothing(metric):
    assert math.isnan(metric("cat", "?!"))


TEXTS = st.text(st.sampled_from("ab 서울은이다를에 3천만억京は,.[E1]()"), max_size=30)


@settings(max_examples=200)
@given(TEXTS, TEXTS)
def test_laws_of_overlap(answer, reference):
    numbers = [f(answer, reference) for f in (contains_reference, exact_match, token_f1, rouge_l)]
    nfd = [f(unicodedata.normalize("NFD", answer), unicodedata.normalize("NFD", reference))
           for f in (contains_reference, exact_match, token_f1, rouge_l)]  # fmt: skip
    assert str(numbers) == str(nfd)
    if words(reference):
        contains, exact, f1, rouge = numbers
        assert all(0 <= number <= 1 for number in numbers)
        assert contains >= exact
        assert not exact or f1 == rouge == 1
        assert rouge <= f1 + 1e-12
        assert token_f1(reference, reference) == rouge_l(reference, reference) == 1
        assert contains_reference(f"xx {reference} yy", reference) == 1


ENGLISH = st.lists(st.sampled_from(["cat", "dog", "runs", "far", "away"]), min_size=1, max_size=12)


@settings(max_examples=50)
@given(ENGLISH, ENGLISH)
def test_rouge_l_is_that_of_the_rouge_score_library(answer, reference):
    scorer = RougeScorer(["rougeL"])
    said, wanted = " ".join(answer), " ".join(reference)
    assert rouge_l(said, wanted) == pytest.approx(scorer.score(wanted, said)["rougeL"].fmeasure)
