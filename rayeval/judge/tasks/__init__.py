"""What a judge is asked, a file per task: who it is for, its JSON schema, what a reply means."""

from rayeval.judge.tasks.citations import Citations
from rayeval.judge.tasks.claims import Claims, ReferenceClaims
from rayeval.judge.tasks.correctness import Correctness
from rayeval.judge.tasks.reference import Recall, Reference
from rayeval.judge.tasks.relevance import Relevance
from rayeval.judge.tasks.support import ReferenceSupport, Support
from rayeval.judge.tasks.task import Task

EXTRACTING: tuple[Task, ...] = (Claims(), ReferenceClaims())
WHOLE: tuple[Task, ...] = (Correctness(), Relevance())
"""Of the answer or its context as a whole."""
ON_CLAIMS: tuple[Task, ...] = (Support(), ReferenceSupport(), Reference(), Recall(), Citations())
EVERY = (*EXTRACTING, *WHOLE, *ON_CLAIMS)
"""In the order in which outcomes list them."""

__all__ = ["EVERY", "EXTRACTING", "ON_CLAIMS", "WHOLE", "Task"]
