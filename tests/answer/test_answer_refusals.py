"""Refusals of other pipelines by their words: whole, explained, and those that go on to answer."""

import pytest

from rayeval.answer.refusals import begins, explains, refuses

WHOLE = ["I don't know.", "**I don’t know**", "모르겠습니다.", "제공된 문서에서 찾을 수 없습니다."]
EXPLAINED = [
    "I don't know. The documents do not mention parking.",
    "I don't know.\n\nThe provided context does not contain any information about parking fees.",
    "I'm sorry. I don't know. None of the documents mention the parking fee.",
    "I don't know. The question asks about parking, but the documents do not mention it.",
    "I cannot answer this question. The context doesn't specify the deadline. Please provide more "
    "context.",
    "The documents do not mention parking.",
    "Parking is not mentioned in the provided documents. Therefore, I don't know.",
    "There is no information about parking in the given contexts.",
    "모르겠습니다. 제공된 문서에는 주차에 대한 내용이 없습니다.",
    "죄송합니다. 제공된 문서에서 주차 요금에 대한 정보를 찾을 수 없습니다. 추가 정보를 제공해 주세요.",
    "제공된 문서에는 주차 요금이 언급되어 있지 않습니다.",
    "알 수 없습니다. 문서에서는 해당 부서의 연락처를 다루고 있지 않습니다.",
    "모르겠습니다. 주차 요금은 문서에 명시되어 있지 않습니다.",
    "주차 요금에 대한 정보는 제공된 문서에 없습니다.",
]
GOES_ON = [
    "I don't know. But parking costs 5 euros.",
    "I don't know the answer. Parking is free.",
    "I don't know. The documents do not mention parking, but the garage costs 5 euros.",
    "I don't know. The documents do not mention parking because it is free.",
    "The documents do not mention parking. However, the garage costs 5 euros.",
    "모르겠습니다. 다만 주차 요금은 5천원입니다.",
    "알 수 없습니다. 요금은 5천원이고 시간은 문서에 나와 있지 않습니다.",
]
ANSWERS = [
    "The documents do not mention a fee: parking is free.",
    "The documents do not mention a fee, so it is free.",
    "There is no parking at the site.",
    "Parking is not available in the building.",
    "It does not cover dental care.",
    "The document does not give employees the right to park.",
    "I cannot give you a refund.",
    "I'm sorry.",
    "Seoul. I don't know more.",
    "회사에는 주차장이 없습니다.",
    "문서에 주차 요금은 없지만 무료입니다.",
    "제공된 문서에는 주차비가 무료이며 시간 제한은 명시되어 있지 않습니다.",
    "이 정보는 제공되지 않습니다.",
    "죄송합니다.",
]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        *((text, (True, True, True)) for text in WHOLE),
        *((text, (False, True, True)) for text in EXPLAINED),
        *((text, (False, True, False)) for text in GOES_ON),
        *((text, (False, False, False)) for text in ANSWERS),
    ],
)
def test_what_an_answer_says_by_its_words(text, want):
    assert (refuses(text), begins(text), explains(text)) == want
