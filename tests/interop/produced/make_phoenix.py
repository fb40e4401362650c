"""What Phoenix gives of spans: `python make_phoenix.py FOLDER ADDRESS`, after make_spans.py.

ADDRESS is a fresh server's (`phoenix serve`); README.md names the versions.
"""

import gzip
import re
import sys
import time
from pathlib import Path

import httpx
from phoenix.client import Client

OUT, ADDRESS = Path(sys.argv[1]), sys.argv[2]
PROJECT = f"{ADDRESS}/v1/projects/default/spans"
HEADERS = {"content-type": "application/x-protobuf"}


def packed(name, text):
    text = re.sub(r"(/[\w.-]+)+/(site-packages/|python3\.\d+/|(?=make_spans))", "", text)
    (OUT / f"{name}.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


for name in ("langchain", "llamaindex"):
    body = (OUT / f"{name}.pb").read_bytes()
    httpx.post(f"{ADDRESS}/v1/traces", content=body, headers=HEADERS).raise_for_status()
time.sleep(5)
frame = Client(base_url=ADDRESS).spans.get_spans_dataframe(project_identifier="default")
frame["status_message"] = frame["status_message"].str.partition("Traceback")[0]
frame = frame.drop(columns=["events"])
packed("phoenix.spans.csv", frame.to_csv())
packed("phoenix.spans.jsonl", frame.to_json(orient="records", lines=True, date_format="epoch"))
kept = frame.drop(columns=["attributes.llm.prompt_template.variables"])  # pyarrow refuses it
kept.to_parquet(OUT / "phoenix.spans.parquet")
packed("phoenix.rest.json", httpx.get(PROJECT, params={"limit": 1000}).text)
packed("phoenix.otlpv1.json", httpx.get(f"{PROJECT}/otlpv1", params={"limit": 1000}).text)
