"""Checks as Lua, for Argo CD.

Argo CD gives a script the object as `obj` and the basic functions, tables and dates of Lua 5.1: no `string`, no `io`.
It does not ask the script about an object that is being deleted: that is Progressing.
"""

from collections.abc import Iterator

from kuberay_e2e.gitops.health.grade import Grade
from kuberay_e2e.gitops.health.predicates import AllOf, AnyOf, ConditionIs, Equals, Not, Path, SomeEntry, Test
from kuberay_e2e.gitops.health.rules import Check, Rule, Sentence, Text

_FIELDS = """\
local function fields(value)
  if type(value) == "table" then return value end
  return {}
end"""
_TEXT = """\
local function text(value)
  if type(value) == "string" then return value end
  return ""
end"""
_CONDITION = """\
local function condition(list, name)
  for _, item in ipairs(fields(list)) do
    if fields(item).type == name then return item end
  end
  return {}
end"""
_SOME_ENTRY = """\
local function some_entry(map, name, values)
  for _, entry in pairs(fields(map)) do
    if values[text(fields(entry)[name])] then return true end
  end
  return false
end"""
_SAY = """\
local function say(...)
  local sentence = ""
  for _, part in ipairs({...}) do
    if part == "" then return nil end
    sentence = sentence .. part
  end
  return sentence
end"""
_HELPERS = {"fields": _FIELDS, "text": _TEXT, "condition": _CONDITION, "some_entry": _SOME_ENTRY, "say": _SAY}


def script(check: Check) -> str:
    """The body of a health check, which returns a table with `status` and `message`."""
    lines = [line for rule in check.rules for line in _rule(rule)]
    lines.append(_answer(check.otherwise, check.sentences))
    body = "\n".join(lines)
    used = [code for call, code in _HELPERS.items() if f"{call}(" in body or call == "fields"]
    roots = [f"local {root} = fields(obj.{root})" for root in ("spec", "status") if f"{root}." in body]
    return "\n".join([*used, *roots, body]) + "\n"


def _rule(rule: Rule) -> Iterator[str]:
    yield f"if {_test(rule.test)} then"
    yield f"  {_answer(rule.grade, rule.sentences)}"
    yield "end"


def _answer(grade: Grade, sentences: tuple[Sentence, ...]) -> str:
    said = "\n    or ".join(_sentence(sentence) for sentence in sentences)
    return f"return {{status = {_string(grade.argocd)}, message = {said}}}"


def _sentence(sentence: Sentence) -> str:
    parts = [_text(part) if isinstance(part, Text) else _string(part) for part in sentence.parts]
    said = f"say({', '.join(parts)})" if len(parts) > 1 else parts[0]
    return f"({_grouped(sentence.when)} and {said})" if sentence.when else said


def _test(test: Test) -> str:
    match test:
        case Equals(path, values):
            return _equals(path, values)
        case ConditionIs(name, status, reasons, path):
            found = f"condition({_field(path)}, {_string(name)})"
            asked = f"{found}.status == {_string(status)}"
            if not reasons:
                return asked
            told = " or ".join(f"{found}.reason == {_string(reason)}" for reason in sorted(reasons))
            return f"{asked} and ({told})" if len(reasons) > 1 else f"{asked} and {told}"
        case SomeEntry(path, field, values):
            known = ", ".join(f"[{_string(value)}] = true" for value in sorted(values))
            return f"some_entry({_field(path)}, {_string(field)}, {{{known}}})"
        case AllOf(tests):
            return " and ".join(_grouped(part) for part in tests)
        case AnyOf(tests):
            return " or ".join(_grouped(part) for part in tests)
        case Not(inner):
            return f"not ({_test(inner)})"


def _grouped(test: Test) -> str:
    written = _test(test)
    return (
        f"({written})"
        if " or " in written or (isinstance(test, AllOf | ConditionIs) and " and " in written)
        else written
    )


def _equals(path: Path, values: frozenset[str | bool]) -> str:
    field = _field(path)
    asked = [
        f"{field} == {str(value).lower()}" if isinstance(value, bool) else f"text({field}) == {_string(value)}"
        for value in sorted(values, key=str)
    ]
    return " or ".join(asked)


def _field(path: Path) -> str:
    root, *inner, last = path if len(path) > 1 else ("obj", *path)
    owner = root
    for name in inner:
        owner = f"fields({owner}.{name})"
    return f"{owner}.{last}"


def _text(text: Text) -> str:
    if text.condition:
        return f"text(condition({_field(text.path)}, {_string(text.condition)}).{text.field})"
    return f"text({_field((*text.path, text.field))})"


def _string(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
