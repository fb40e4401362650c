"""What RAGChecker writes before and after checking: `python make_ragchecker.py FOLDER`."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

place = next(Path(p, "ragchecker") for p in sys.path if Path(p, "ragchecker").is_dir())
package = sys.modules["ragchecker"] = type(sys)("ragchecker")
package.__path__ = [str(place)]  # without its __init__, which loads the language models' clients
spec = spec_from_file_location("ragchecker.container", place / "container.py")
container = sys.modules["ragchecker.container"] = module_from_spec(spec)
spec.loader.exec_module(container)

OUT = Path(sys.argv[1])
asked = [
    container.RAGResult(
        query_id="0", query="연차는 며칠인가요?", gt_answer="15일", response="15일입니다.",
        retrieved_context=[
            container.RetrievedDoc("000", "연차는 15일이다."),
            container.RetrievedDoc("001", "Parking costs 40 euros a month."),
        ],
    ),
    container.RAGResult(
        query_id="1", query="What does parking cost?", gt_answer="40 euros.", response="Forty.",
        retrieved_context=[container.RetrievedDoc("000", "Laptops are replaced after 4 years.")],
    ),
    container.RAGResult("2", "Nothing?", "", ""),
]  # fmt: skip
results = container.RAGResults(results=asked)
(OUT / "ragchecker.inputs.json").write_text(results.to_json(ensure_ascii=False, indent=1))
asked[0].response_claims, asked[0].answer2response = [["연차", "is", "15일"]], ["Entailment"]
asked[0].retrieved2response = [["Entailment", "Neutral"]]
asked[0].metrics = {"precision": 1.0}
(OUT / "ragchecker.outputs.json").write_text(results.to_json(ensure_ascii=False, indent=1))
