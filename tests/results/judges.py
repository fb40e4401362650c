"""The agreement tables of docs/judges.md: `python tests/results/judges.py SHARED_DATA`."""

import json
import sys
from pathlib import Path

import polars as pl

from rayeval.calibration import Scale, calibrated
from rayeval.interop.labels import SCHEMA, canonical, read_labels

MTRAG = ("naturalness", "appropriateness", "completeness", "faithfulness")
PREFERENCES = ("correctness", "completeness", "overall")
MODELS = ("llama-3.1-405b-instruct", "gpt-4o")
TOOLS = (
    ("rl_f", "faithfulness"),
    ("Bert-KPrec", "faithfulness"),
    ("rb_llm", "win-rate"),
    ("rb_agg", "win-rate"),
    ("RougeL", "win-rate"),
)
HEAD = ("| preference of | pairs | agreement | κ | 95% interval |", "|---|---|---|---|---|")


def main(data: Path) -> None:
    for name, table in (
        ("LLMJudge", llmjudge),
        ("RAGChecker: people", ragchecker),
        ("RAGChecker: tool", tool),
        ("MTRAG: people", mtrag),
        ("MTRAG: tools", mtrag_tools),
    ):
        print(name, *table(data), "", sep="\n")


def llmjudge(data):
    folder = data / "llmjudge"
    human = read_labels(str(folder / "llmjudge_test_qrel_idx.txt"))
    yield "| submission | items | agreement | κ | κ quadratic | α ordinal | off the scale |"
    yield "|---|---|---|---|---|---|---|"
    for path in sorted((folder / "submissions").glob("*.txt")):
        found = calibrated(human, read_labels(str(path)), scale=Scale.of(["0", "1", "2", "3"]))
        low, high = found["intervals"]["kappa"]
        strange = ", ".join(sorted({row["label"] for row in found["out_of_scale"]}))
        yield (
            f"| {path.stem} | {found['n']:,} | {found['agreement']:.3f} | {found['kappa']:.4f} "
            f"[{low:.3f}, {high:.3f}] | {found['kappa_quadratic']:.4f} | {found['alpha']:.4f} | "
            f"{strange or '–'} |"
        )


def ragchecker(data):
    """Two annotators of 280 pairs; of the tool, which answer of a pair has the higher F1."""
    rows = json.loads((data / "ragchecker_meta" / "human_labeled_data.json").read_text())
    yield "| preference of | pairs | agreement | κ | κ quadratic | α ordinal |"
    yield "|---|---|---|---|---|---|"
    for name in PREFERENCES:
        seen: dict[str, int] = {}
        found = []
        for row in rows:
            item = str(row["instance_id"])
            seen[item] = seen.get(item, 0) + 1
            found.append(label(item, row[f"{name}_label"], str(seen[item]), row["query_id"]))
        yield two(name, frame(found), ["-2", "-1", "0", "1", "2"])


def tool(data):
    """RAGChecker against people: which answer of a pair is better, where people have a side."""
    folder = data / "ragchecker_meta"
    clusters = {}
    yield from HEAD
    for name in PREFERENCES:
        sides = {}
        for row in json.loads((folder / "human_labeled_data.json").read_text()):
            item = str(row["instance_id"])
            sides[item] = sides.get(item, 0) + row[f"{name}_label"]
            clusters[item] = row["query_id"]
        own = {}
        for row in json.loads((folder / "baseline_ragchecker.json").read_text()):
            first, second = (row[m]["ragchecker"][f"{name}_label"] for m in ("model1", "model2"))
            own[str(row["instance_id"])] = second - first
        yield sided(name, sides, own, clusters)


def sided(name, people, tool, clusters):
    """A tool against people, item by item, where both have a side."""
    both = (
        frame([label(i, side(v), None, clusters[i]) for i, v in values.items() if v])
        for values in (people, tool)
    )
    found = calibrated(*both, scale=Scale.of(["1", "2"]))
    low, high = found["intervals"]["kappa"]
    return (
        f"| {name} | {found['n']} | {found['agreement']:.3f} | {found['kappa']:.3f} | "
        f"[{low:.3f}, {high:.3f}] |"
    )


def side(difference):
    """The answer that is better: the second where the difference is above 0."""
    return "2" if difference > 0 else "1"


def mtrag(data):
    """Three annotators of 477 answers, every two of them."""
    file = data / "mtrag_human" / "reference_subset_with_human_evaluations.json"
    rows = json.loads(file.read_text())["evaluations"]
    yield "| question | answers | agreement | κ | κ quadratic | α ordinal |"
    yield "|---|---|---|---|---|---|"
    for name in MTRAG:
        found = [
            label(f"{row['task_id']} {row['model_id']}", said["value"], who, row["task_id"])
            for row in rows
            for who, said in row["annotations"][name].items()
        ]
        yield two(name, frame(found), ["1", "2", "3", "4"])


def mtrag_tools(data):
    """Scores against people: which of two models answers a task better, where both have a side."""
    file = data / "mtrag_human" / "reference_subset_with_human_evaluations.json"
    given = {
        (row["task_id"], row["model_id"]): row["annotations"]
        for row in json.loads(file.read_text())["evaluations"]
    }
    tasks = sorted({task for task, _ in given})
    yield from HEAD

    def sides(name):
        found = {}
        for task in tasks:
            sums = [
                sum(float(said["value"]) for said in given[task, model][name].values())
                for model in MODELS
            ]
            found[task] = sums[1] - sums[0]
        return found

    for tool, people in TOOLS:
        clusters = {task: task.partition("<::>")[0] for task in tasks}
        yield sided(f"{tool} of {people}", sides(people), sides(tool), clusters)


def two(name, labels, scale):
    """People with one another; the judge is one of them, and is not looked at."""
    found = calibrated(labels, labels.unique("item_id"), scale=Scale.of(scale))["human_human"]
    quadratic = [
        (p["kappa_quadratic"], p["n"]) for p in found["pairs"] if p["kappa_quadratic"] is not None
    ]
    mean = sum(k * n for k, n in quadratic) / sum(n for _, n in quadratic)
    return (
        f"| {name} | {found['n']:,} | {found['agreement']:.3f} | {found['kappa']:.3f} | "
        f"{mean:.3f} | {found['alpha']:.3f} |"
    )


def label(item, value, who, cluster):
    row = {"item_id": item, "label": canonical(value), "annotator": who, "cluster": cluster}
    return {**dict.fromkeys(SCHEMA), **row}


def frame(rows):
    return pl.DataFrame(rows, schema=SCHEMA)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
