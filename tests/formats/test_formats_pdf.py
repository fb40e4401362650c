"""PDF: text in the order of reading, tables by their rules, each element on its page."""

import pytest
from formats_files import KOREAN, both, locked, pdf, read, shown, table, text

ONE = text(["The first line of a paragraph", "goes on here."], ["A second paragraph."])


def test_lines_that_stand_close_are_a_paragraph_and_pages_are_counted_from_1():
    draft, problems = read("pdf", pdf(ONE, text(["On the next page."]), title="A title"))
    assert shown(draft) == [
        ("paragraph-1", 1, "The first line of a paragraph\ngoes on here."),
        ("paragraph-2", 1, "A second paragraph."),
        ("paragraph-3", 2, "On the next page."),
    ]
    assert draft.text == "\n\n".join(words for _, _, words in shown(draft))
    assert (draft.title, problems) == ("A title", [])


def test_columns_are_not_read_across():
    left = text(["left one", "left two"])
    right = text(["right one", "right two"], x=320)
    draft, _ = read("pdf", pdf(both(left, right)))
    assert draft.text == "left one\nleft two\n\nright one\nright two"


def test_hangul_of_a_cid_font_is_hangul():
    draft, problems = read(
        "pdf", pdf(text(["장비 신청은 포털에서 하며", "영업일 기준 5일이 걸린다."], font=KOREAN))
    )
    assert draft.text == "장비 신청은 포털에서 하며\n영업일 기준 5일이 걸린다."
    assert problems == []


def test_a_ruled_table_has_rows_and_cells_where_it_is_drawn():
    rows = [["Code", "Meaning"], ["ERR-1", "expired"], ["", "empty before it"]]
    draft, _ = read("pdf", pdf(both(text(["Before."]), table(rows), text([], [], ["After."]))))
    assert shown(draft) == [
        ("paragraph-1", 1, "Before."),
        ("table-1", 1, "Code\tMeaning\nERR-1\texpired\nempty before it"),
        ("table-1/row-1", 1, "Code\tMeaning"),
        ("table-1/r1c1", 1, "Code"),
        ("table-1/r1c2", 1, "Meaning"),
        ("table-1/row-2", 1, "ERR-1\texpired"),
        ("table-1/r2c1", 1, "ERR-1"),
        ("table-1/r2c2", 1, "expired"),
        ("table-1/row-3", 1, "empty before it"),
        ("table-1/r3c2", 1, "empty before it"),
        ("paragraph-2", 1, "After."),
    ]


def test_a_cell_over_two_columns_keeps_the_others_in_their_places():
    rows = [["Both", ""], ["a", "b"]]
    drawn = table(rows, style=[("SPAN", (0, 0), (1, 0))])
    names = [name for name, _, _ in shown(read("pdf", pdf(drawn))[0])]
    assert names == ["table-1", "table-1/row-1", "table-1/r1c1",
                     "table-1/row-2", "table-1/r2c1", "table-1/r2c2"]  # fmt: skip


def test_a_frame_around_text_is_no_table():
    def frame(canvas):
        canvas.rect(60, 700, 300, 100)

    draft, _ = read("pdf", pdf(both(ONE, frame)))
    assert [e.kind for e in draft.elements] == ["paragraph", "paragraph"]


def test_elements_hold_all_of_the_text():
    draft, _ = read("pdf", pdf(both(ONE, table([["a", "b"], ["c", "d"]])), ONE))
    covered = set()
    for element in draft.elements:
        covered |= set(range(element.start, element.end))
    assert not "".join(c for i, c in enumerate(draft.text) if i not in covered).strip()
    assert draft.elements == sorted(draft.elements, key=lambda e: (e.start, -e.end))


def test_the_same_file_gives_the_same_each_time():
    data = pdf(both(ONE, table([["a", "b"], ["c", "d"]])))
    (first, _), (second, _) = read("pdf", data), read("pdf", data)
    assert (first.text, first.elements) == (second.text, second.elements)


WHOLE = pdf(ONE)


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        pytest.param(locked("word"), [("encrypted_document", False)], id="encrypted"),
        pytest.param(locked(""), [], id="encrypted against printing only"),
        pytest.param(b"", [("damaged_document", False)], id="no bytes"),
        pytest.param(b"just text", [("damaged_document", False)], id="no PDF at all"),
        pytest.param(WHOLE[: len(WHOLE) // 2], [("damaged_document", False)], id="cut in the middle"),
        pytest.param(WHOLE[:-8], [("damaged_document", False)], id="cut at the end"),
        pytest.param(WHOLE + b"\0" * 4000, [], id="filled up with NUL"),
        pytest.param(WHOLE.replace(b"/Page", b"/Pago"), [("damaged_document", False)],
                     id="no pages in it"),
        pytest.param(pdf(lambda canvas: canvas.rect(9, 9, 9, 9)), [("no_text", True)], id="scanned"),
        pytest.param(pdf(ONE, lambda canvas: None), [("no_text", True)], id="one page is empty"),
    ],
)  # fmt: skip
def test_what_can_not_be_read_is_said_once(data, problems):
    assert read("pdf", data)[1] == problems


@pytest.mark.parametrize("step", range(7))
def test_damage_anywhere_never_crashes(step):
    for at in range(step * 13, len(WHOLE), 91):
        damaged = WHOLE[:at] + b"<</]#" + WHOLE[at + 5 :]
        draft, problems = read("pdf", damaged)
        assert draft is not None or problems == [("damaged_document", False)]
