"""The report of a sweep: a page, JUnit XML, JSON and Markdown; and the track record made from it."""

from kuberay_e2e.crash.report.merging import merge
from kuberay_e2e.crash.report.summary import Report, read
from kuberay_e2e.crash.report.writing import write

__all__ = ["Report", "merge", "read", "write"]
