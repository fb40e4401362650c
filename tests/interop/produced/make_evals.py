"""What DeepEval and ragas save: `python make_evals.py FOLDER`."""

import os
import sys
from pathlib import Path
from types import ModuleType

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
for name, cls in (("chat_models", "ChatVertexAI"), ("llms", "VertexAI")):
    # ragas 0.4.3 wants them of langchain-community, which no longer has them
    module = ModuleType(f"langchain_community.{name}.vertexai")
    setattr(module, cls, object)
    sys.modules[module.__name__] = module

from deepeval.dataset import EvaluationDataset as DeepEvalDataset  # noqa: E402
from deepeval.dataset import Golden  # noqa: E402
from deepeval.test_case import LLMTestCase, RetrievedContextData  # noqa: E402
from ragas import EvaluationDataset, SingleTurnSample  # noqa: E402

OUT = Path(sys.argv[1])
LEAVE, PARKING, LAPTOPS = (
    "연차는 15일이다.", "Parking costs 40 euros\na month, \"net\".", "Laptops | 4 years.",
)  # fmt: skip


def deepeval():
    goldens = [
        Golden(input="연차는 며칠인가요?", expected_output="15일", context=[LEAVE]),
        Golden(
            input="What does parking cost?", expected_output="40 euros.",
            context=[PARKING, LAPTOPS], additional_metadata={"k": 1}, source_file="parking.md",
        ),
        Golden(input="Who won?", expected_output="Nobody."),
    ]  # fmt: skip
    data = DeepEvalDataset(goldens=goldens)
    sourced = RetrievedContextData(source="hr.md", context=LEAVE)
    for said in ("15일입니다.", "열다섯 날"):
        data.add_test_case(
            LLMTestCase(
                input="연차는 며칠인가요?", actual_output=said, expected_output="15일",
                context=[LEAVE], retrieval_context=[LAPTOPS, sourced],
            )
        )  # fmt: skip
    for kind in ("json", "csv", "jsonl"):
        data.save_as(kind, str(OUT), "deepeval", include_test_cases=True)


def ragas():
    samples = [
        SingleTurnSample(
            user_input="What does parking cost?", response="40 euros.", reference="40 euros.",
            retrieved_contexts=[LAPTOPS, PARKING], retrieved_context_ids=["c3", "c2"],
            reference_contexts=[PARKING],
        ),
        SingleTurnSample(
            user_input="연차는 며칠인가요?", response="모르겠습니다.", reference="15일",
            retrieved_contexts=[], retrieved_context_ids=[], reference_contexts=[LEAVE],
        ),
        SingleTurnSample(user_input="Who won?", response="Nobody.", reference="Nobody."),
    ]  # fmt: skip
    data = EvaluationDataset(samples=samples)
    data.to_jsonl(str(OUT / "ragas.jsonl"))
    data.to_csv(str(OUT / "ragas.csv"))
    data.to_pandas().to_csv(OUT / "ragas.pandas.csv", index=False)
    table = data.to_hf_dataset()
    table.to_csv(str(OUT / "ragas.hf.csv"))
    table.to_parquet(str(OUT / "ragas.hf.parquet"))


deepeval()
ragas()
