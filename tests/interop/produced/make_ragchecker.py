"""What RAGChecker writes before and after checking: `python make_ragchecker.py FOLDER`.

No model checks anything: the verdicts of `ragchecker.checked.json` are drawn by number, and their
metrics are those of RAGChecker's own code.
"""

import random
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

place = next(Path(p, "ragchecker") for p in sys.path if Path(p, "ragchecker").is_dir())
package = sys.modules["ragchecker"] = type(sys)("ragchecker")
package.__path__ = [str(place)]  # without its __init__, which loads the language models' clients


def loaded(name):
    spec = spec_from_file_location(f"ragchecker.{name}", place / f"{name}.py")
    module = sys.modules[f"ragchecker.{name}"] = module_from_spec(spec)
    package.__dict__[name] = module
    spec.loader.exec_module(module)
    return module


metrics, container, computation = map(loaded, ("metrics", "container", "computation"))

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


LABELS = ("Entailment", "Neutral", "Contradiction")
drawn = random.Random(7)


def labels(n):
    return drawn.choices(LABELS, weights=(3, 6, 1), k=n)


def checked(number, passages, own, wanted):
    """A result with `own` claims of the response and `wanted` of the reference answer."""
    claims = [[[f"{who} {number}", "says", str(n)] for n in range(count)]
              for who, count in (("response", own), ("reference", wanted))]  # fmt: skip
    return container.RAGResult(
        query_id=f"c{number}", query=f"Question {number}?", gt_answer=f"Reference {number}.",
        response=f"Response {number}.",
        retrieved_context=[container.RetrievedDoc(f"{number}-{n}", f"Passage {number}, {n}.")
                           for n in range(passages)],
        response_claims=claims[0], gt_answer_claims=claims[1],
        answer2response=labels(own), response2answer=labels(wanted),
        retrieved2response=[labels(passages) for _ in range(own)],
        retrieved2answer=[labels(passages) for _ in range(wanted)],
    )  # fmt: skip


sizes = [(3, 4, 3), (2, 3, 5), (4, 6, 2), (1, 2, 2), (5, 5, 4), (2, 1, 1), (3, 2, 6), (6, 4, 4)]
edges = [(3, 0, 2), (3, 2, 0), (0, 3, 3)]  # no claims of the response; none of the reference
# answer; no passages
every = [checked(n, *size) for n, size in enumerate([*sizes, *edges])]
for result in every:
    for function in computation.METRIC_FUNC_MAP.values():
        function(result)
    result.metrics = {key: float(value) for key, value in result.metrics.items()}
checked_results = container.RAGResults(results=every)
(OUT / "ragchecker.checked.json").write_text(checked_results.to_json(ensure_ascii=False, indent=1))
