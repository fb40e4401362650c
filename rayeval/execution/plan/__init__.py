"""A configuration as steps (docs/architecture.md lists them)."""

from rayeval.execution.plan.plan import Plan, make_plan

__all__ = ["Plan", "make_plan"]
