"""DOCX: headings by their styles, lists, tables, pages where the file knows them."""

import io
import zipfile

import pytest
from docx.enum.text import WD_BREAK
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from formats_files import laid_out, read, shown, word, wrapped


def everything(document):
    document.core_properties.title = "사내 규정"
    document.add_heading("휴가 규정", 0)
    document.add_heading("연차", 1)
    document.add_paragraph("연차는 25일이다.")
    document.add_heading("이월", 2)
    document.add_paragraph("첫째", style="List Bullet")
    document.add_paragraph("둘째", style="List Number")
    document.add_paragraph("끝.")
    table = document.add_table(2, 2)
    for cell, words in zip(table._cells, ["코드", "뜻", "ERR-1", ""], strict=True):
        cell.text = words


def test_blocks_become_elements_with_their_headings():
    draft, problems = read("docx", word(everything))
    assert shown(draft) == [
        ("heading-1", None, "휴가 규정"),
        ("heading-2", None, "연차"),
        ("paragraph-1", None, "연차는 25일이다."),
        ("heading-3", None, "이월"),
        ("list-1", None, "첫째\n둘째"),
        ("item-1", None, "첫째"),
        ("item-2", None, "둘째"),
        ("paragraph-2", None, "끝."),
        ("table-1", None, "코드\t뜻\nERR-1"),
        ("table-1/row-1", None, "코드\t뜻"),
        ("table-1/r1c1", None, "코드"),
        ("table-1/r1c2", None, "뜻"),
        ("table-1/row-2", None, "ERR-1"),
        ("table-1/r2c1", None, "ERR-1"),
    ]
    levels = [e.level for e in draft.elements if e.kind == "heading"]
    assert levels == [0, 1, 2]
    assert draft.elements[2].heading_path == ("휴가 규정", "연차")
    assert draft.elements[-1].heading_path == ("휴가 규정", "연차", "이월")
    assert (draft.title, problems) == ("사내 규정", [])


def test_a_style_of_ones_own_is_what_it_is_based_on():
    def fill(document):
        style = document.styles.add_style("Chapter", 1)
        style.base_style = document.styles["Heading 2"]
        document.add_paragraph("A chapter", style="Chapter")

    draft, _ = read("docx", word(fill))
    assert [(e.kind, e.level) for e in draft.elements] == [("heading", 2)]


def test_pages_are_those_that_word_noted():
    def fill(document):
        document.add_paragraph("one")
        paragraph = document.add_paragraph("the end of one, ")
        laid_out(paragraph.add_run("the begin of two"))
        document.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
        laid_out(document.add_paragraph().add_run("three"))

    assert shown(read("docx", word(fill))[0]) == [
        ("paragraph-1", 1, "one"),
        ("paragraph-2", 1, "the end of one,"),
        ("paragraph-3", 2, "the begin of two"),
        ("paragraph-4", 3, "three"),
    ]


def test_pages_are_counted_by_breaks_where_word_noted_none():
    def fill(document):
        document.add_paragraph("one")
        document.add_page_break()
        document.add_paragraph("two")
        document.add_paragraph("three").paragraph_format.page_break_before = True

    assert [page for _, page, _ in shown(read("docx", word(fill))[0])] == [1, 2, 3]


def test_tracked_changes_are_read_as_accepted_and_controls_are_opened():
    def fill(document):
        wrapped(document.add_paragraph("inserted"), "w:ins")
        wrapped(document.add_paragraph("deleted"), "w:del")
        control, content = OxmlElement("w:sdt"), OxmlElement("w:sdtContent")
        content.append(document.add_paragraph("in a control")._p)
        control.append(content)
        document.element.body.insert(0, control)

    assert read("docx", word(fill))[0].text == "in a control\n\ninserted"


def test_a_text_box_follows_its_paragraph_and_is_read_once():
    box = (
        f"<w:r {nsdecls('w')} xmlns:mc='http://schemas.openxmlformats.org/markup-compatibility/2006'>"
        "<mc:AlternateContent><mc:Choice Requires='wps'><w:txbxContent><w:p><w:r><w:t>in the box</w:t>"
        "</w:r></w:p></w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent><w:p><w:r>"
        "<w:t>in the box</w:t></w:r></w:p></w:txbxContent></mc:Fallback></mc:AlternateContent></w:r>"
    )

    def fill(document):
        document.add_paragraph("before")._p.append(parse_xml(box))
        document.add_paragraph("after")

    assert read("docx", word(fill))[0].text == "before\n\nin the box\n\nafter"


def test_merged_and_nested_cells_keep_their_columns():
    def fill(document):
        table = document.add_table(2, 3)
        table.cell(0, 0).merge(table.cell(0, 1)).text = "wide"
        table.cell(0, 2).text = "third"
        table.cell(1, 1).add_table(1, 2).cell(0, 1).text = "nested"

    assert [name for name, _, _ in shown(read("docx", word(fill))[0])] == [
        "table-1", "table-1/row-1", "table-1/r1c1", "table-1/r1c3", "table-1/row-2", "table-1/r2c2",
    ]  # fmt: skip


def test_tabs_breaks_and_hyphens_are_characters():
    def fill(document):
        run = document.add_paragraph().add_run("a\tb\nc")
        run._r.append(OxmlElement("w:noBreakHyphen"))
        text = OxmlElement("w:t")
        text.text = "d"
        run._r.append(text)

    assert read("docx", word(fill))[0].text == "a\tb\nc-d"


def zipped(**names):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in names.items():
            archive.writestr(name, data)
    return out.getvalue()


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 504
WHOLE = word(everything)


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        pytest.param(OLE + "EncryptedPackage".encode("utf-16-le"), [("encrypted_document", False)],
                     id="encrypted"),
        pytest.param(OLE, [("damaged_document", False)], id="an old .doc"),
        pytest.param(b"", [("damaged_document", False)], id="no bytes"),
        pytest.param(b"just text", [("damaged_document", False)], id="no DOCX at all"),
        pytest.param(WHOLE[: len(WHOLE) // 2], [("damaged_document", False)], id="cut in the middle"),
        pytest.param(zipped(a="b"), [("damaged_document", False)], id="some other zip"),
        pytest.param(word(lambda document: None), [("no_text", True)], id="without text"),
    ],
)  # fmt: skip
def test_what_can_not_be_read_is_said_once(data, problems):
    assert read("docx", data)[1] == problems


def test_a_circle_of_styles_ends():
    def fill(document):
        one, two = (document.styles.add_style(name, 1) for name in ("One", "Two"))
        one.base_style, two.base_style = two, one
        document.add_paragraph("text", style="One")
        number = one.element.find(qn("w:name"))
        assert number is not None

    assert read("docx", word(fill))[0].text == "text"
