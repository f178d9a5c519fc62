"""JUnit XML, as CI systems read it."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """How a test case came out, by the name of its JUnit element."""

    PASSED = "passed"
    FAILURE = "failure"
    ERROR = "error"
    SKIPPED = "skipped"


_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, such as the escape sequences of a terminal."""

_COUNTED = {"failures": Outcome.FAILURE, "errors": Outcome.ERROR, "skipped": Outcome.SKIPPED}


@dataclass(frozen=True)
class Case:
    """A test case.

    Attributes:
        classname: What kind of case it is.
        name: Its name.
        outcome: How it came out.
        seconds: How long it took.
        text: Why it did not pass; its first line becomes the message.
    """

    classname: str
    name: str
    outcome: Outcome = Outcome.PASSED
    seconds: float = 0.0
    text: str = ""


def document(suite: str, cases: Sequence[Case], seconds: float) -> bytes:
    """A file with one test suite.

    Args:
        suite: Name of the suite.
        cases: Its cases.
        seconds: How long all of it took.
    """
    attributes = {"name": suite, "tests": str(len(cases)), "time": f"{seconds:.3f}"}
    for attribute, outcome in _COUNTED.items():
        attributes[attribute] = str(sum(case.outcome is outcome for case in cases))
    element = ET.Element("testsuite", attributes)
    for case in cases:
        name, text = _ILLEGAL.sub("?", case.name), _ILLEGAL.sub("?", case.text)
        entry = ET.SubElement(element, "testcase", classname=case.classname, name=name, time=f"{case.seconds:.3f}")
        if case.outcome is not Outcome.PASSED:
            reason = ET.SubElement(entry, case.outcome.value)
            if text:
                reason.set("message", text.splitlines()[0])
                reason.text = text
    root = ET.Element("testsuites")
    root.append(element)
    ET.indent(root)
    content: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"
