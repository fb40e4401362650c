"""A search function that finds, misses and fails, and the questions that show it."""

QUESTIONS = [
    {"question_id": "q-1", "question": "how many days", "principals": ["hr"],
     "evidence": [{"quote": "25 days of  paid leave"}], "slices": ["numbers"]},
    {"question_id": "q-2", "question": "when do tokens expire", "evidence": [{"quote": "after 90 days"}]},
    {"question_id": "q-3", "question": "[bold]where[/bold]", "evidence": [{"quote": "서울"}]},
]  # fmt: skip


def search(question):
    if "days" in question:
        return ["nothing here", "Employees have 25 days\nof paid leave."]
    if "tokens" in question:
        return []
    raise TimeoutError("the index is [cold]")
