"""The tables of docs/judges.md are what the public data says."""

from pathlib import Path

import judges
import pytest

pytestmark = pytest.mark.data
DOCS = Path(__file__).parents[2] / "docs" / "judges.md"


@pytest.mark.parametrize(
    ("folder", "table"),
    [
        pytest.param("llmjudge", judges.llmjudge, id="LLMJudge"),
        pytest.param("ragchecker_meta", judges.ragchecker, id="RAGChecker's people"),
        pytest.param("ragchecker_meta", judges.tool, id="RAGChecker and people"),
        pytest.param("mtrag_human", judges.mtrag, id="MTRAG's people"),
        pytest.param("mtrag_human", judges.mtrag_tools, id="scores and MTRAG's people"),
    ],
)
def test_a_table_of_the_docs_is_made_again(shared_data, folder, table):
    data = shared_data(folder).parent
    assert "\n".join(table(data)) in DOCS.read_text()
