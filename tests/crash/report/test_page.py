"""The page of a sweep: everything is there, nothing is fetched, nothing of a manifest becomes markup."""

import re
import time
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from kuberay_e2e.crash.report import page as page_module
from kuberay_e2e.crash.report import read, write
from kuberay_e2e.errors import InputError
from tests.crash.report.sweeps import STARTS, Sweep, known, learned

UPSTREAM = re.compile(r"https://github\.com/ray-project/kuberay/issues/\d+")
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """What the tests look at in a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self._open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name in ("href", "src", "srcset", "action", "data", "poster"):
                self.links.append(value or "")
            assert not name.startswith("on"), f"an event handler in the markup: {name}"

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


def page(sweep: Sweep, target: Path | None = None) -> Page:
    return Page(write(read(sweep.folder, known), target).read_text())


def test_every_run_is_on_the_page_with_its_replay(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path).all_states()
    found = page(sweep)
    for result in sweep.folder.results():
        assert str(result.point) in found.text
        quoted = str(result.point).replace("&", "&amp;")
        assert re.search(rf"kuberay-e2e crash replay (&#39;)?{re.escape(quoted)}", found.text)


def test_links_lead_somewhere(tmp_path: Path) -> None:
    found = page(Sweep(tmp_path).all_states())
    assert len(found.ids) == len(set(found.ids))
    for link in found.links:
        if link.startswith("#"):
            assert unquote(link[1:]) in found.ids
        elif not UPSTREAM.fullmatch(link) and link != "data:,":
            assert (tmp_path / unquote(link)).exists(), link


def test_files_of_runs_are_found_from_another_folder(tmp_path: Path) -> None:
    target = tmp_path / "report"
    found = page(Sweep(tmp_path / "sweep").all_states(), target)
    traces = [link for link in found.links if link.endswith("trace.jsonl")]
    assert traces
    assert all((target / unquote(link)).exists() for link in traces)


def test_nothing_is_fetched(tmp_path: Path) -> None:
    found = page(Sweep(tmp_path).all_states())
    outside = [link for link in found.links if re.match(r"(?i)[a-z][a-z+.-]*:|//", link) and link != "data:,"]
    assert outside
    assert all(UPSTREAM.fullmatch(link) for link in outside)
    style = found.text[found.text.index("<style>") : found.text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert "default-src &#39;none&#39;" in found.text or "default-src 'none'" in found.text


def test_nothing_of_a_manifest_becomes_markup(tmp_path: Path) -> None:
    hostile = "python -c '</code></script><script>alert(1)</script><img src=x onerror=alert(2)>'"
    sweep = Sweep(tmp_path).learn(learned(**{hostile: hostile}))
    sweep.run("http", entrypoint=hostile)
    sweep.run("http/create:RayCluster~job-*#1@lost", broken={STARTS: hostile}, entrypoint=hostile)
    sweep.run("http/create:RayCluster~job-*#1@before", error=hostile)
    clean = page(Sweep(tmp_path / "clean").all_states())
    found = page(sweep)
    assert found.tags.count("script") == clean.tags.count("script") == 1
    assert "img" not in found.tags
    assert "&lt;script&gt;alert(1)" in found.text


def test_the_verdict_is_told_first(tmp_path: Path) -> None:
    text = page(Sweep(tmp_path).all_states()).text
    head = text[text.index("<h1>") : text.index("<nav")]
    assert "1 run broke a promise in a way that is not known. 1 run could not be judged." in head
    for count, state in ((14, "held"), (1, "deviates"), (1, "violated"), (1, "error")):
        assert re.search(rf'<li class="{state}"><b>{count}</b>', head)
    assert f"kuberay-e2e crash run --report {tmp_path}" in head


def test_what_is_to_be_looked_at_is_named_at_the_top(tmp_path: Path) -> None:
    text = page(Sweep(tmp_path).all_states()).text
    head = text[text.index('<ul class="urgent"') : text.index("<dl")]
    assert re.findall(r'href="#([^"]+)"', head) == [
        "http_create_RayCluster_job-__1_lost",
        "http_create_Pod_job-_-head-__1_lost",
    ]


@pytest.mark.parametrize(
    ("runs", "verdict"),
    [
        ([("http", "")], "Every run held, and none had a fault yet."),
        ([("http", "broken")], "No run could be judged."),
        ([("http/create:Job~job#1@lost", "")], "Every run held."),
        (
            [("http", ""), ("http/create:Job~job#1@lost", ""), ("http/create:Job~job#1@before", "broken")],
            "Each of the 2 runs that could be judged held. 1 run could not be judged.",
        ),
    ],
)
def test_the_verdict_says_no_more_than_was_seen(tmp_path: Path, runs: list[tuple[str, str]], verdict: str) -> None:
    sweep = Sweep(tmp_path)
    for point, error in runs:
        sweep.run(point, error=error)
    assert f'<p class="verdict">{verdict}</p>' in page(sweep).text


def test_colour_is_never_the_only_sign(tmp_path: Path) -> None:
    text = page(Sweep(tmp_path).all_states()).text
    matrix = text[text.index('<table class="matrix">') :]
    matrix = matrix[: matrix.index("</table>")]
    cells = re.findall(r'<td class="[a-z ]+">(.*?)</td>', matrix, re.DOTALL)
    assert len(cells) >= 6 * 9
    assert all(re.search(r'<span class="hidden">\s*[a-z ]+</span>', cell) for cell in cells)


def test_a_timeline_is_told_in_words_too(tmp_path: Path) -> None:
    text = page(Sweep(tmp_path).all_states()).text
    assert text.count('class="timeline"') == text.count("Everything in order, in words") == 4
    assert "incarnation 1 1.6.2" in text


def test_one_run_of_a_scenario_without_a_fault_is_told_in_full(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path).learn(learned())
    sweep.run("http")
    sweep.run("http/create:RayCluster~job-*#1@before")
    text = page(sweep).text
    assert "Every run held." in text
    assert text.count('class="timeline"') == 1
    assert "Runs to look at" not in text


def test_a_known_deviation_leads_upstream(tmp_path: Path) -> None:
    found = page(Sweep(tmp_path).all_states())
    assert found.links.count("https://github.com/ray-project/kuberay/issues/4824") == 2
    assert "#d1" in found.links


def test_a_folder_that_has_gone_is_said(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path).learn(learned())
    result = sweep.run("http/create:RayCluster~job-*#1@lost", broken={STARTS: "2"})
    for file in (tmp_path / result.folder).iterdir():
        file.unlink()
    (tmp_path / result.folder).rmdir()
    found = page(sweep)
    assert "The files of this run are not there any more: http_create_RayCluster_job-__1_lost." in found.text
    assert "at least once" in found.text


def test_a_trace_that_was_cut_off_is_shown_up_to_there(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path).learn(learned())
    result = sweep.run("http/create:RayCluster~job-*#1@lost", broken={STARTS: "2"})
    trace = tmp_path / result.folder / "trace.jsonl"
    trace.write_text(trace.read_text()[:-20])
    found = page(sweep)
    assert "trace.jsonl can be read up to line" in found.text
    assert 'class="timeline"' in found.text


def test_a_result_that_was_cut_off_is_left_out_and_a_foreign_one_refused(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path).all_states()
    lines = tmp_path / "results.jsonl"
    whole = lines.read_text()
    lines.write_text(whole + '{"point": "http/create:R')
    assert len(read(sweep.folder, known).runs) == 17
    lines.write_text('{"odd": 1}\n' + whole)
    with pytest.raises(InputError, match=r"line 1 of .*results.jsonl to be a result"):
        read(sweep.folder, known)


def test_an_empty_sweep_has_a_page(tmp_path: Path) -> None:
    found = page(Sweep(tmp_path))
    assert "Nothing was run yet." in found.text
    assert "Nothing was learned or run yet." in found.text


def test_a_sweep_that_has_only_learned_shows_what_is_to_be_run(tmp_path: Path) -> None:
    found = page(Sweep(tmp_path).learn(learned()))
    assert "0 of 24 judged, 6 equivalent to another, 0 impossible, 18 not run" in found.text


def test_a_scenario_that_there_is_no_more_is_an_error_and_no_traceback(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path)
    sweep.run("bygone/create:Job~job#1@lost")
    found = page(sweep)
    assert "There is no scenario called &#39;bygone&#39; any more, so that the run cannot be judged." in found.text


def test_versions_are_told_apart(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path).learn(learned()).learn(learned(), version="1.7.0")
    point = "http/submit:RayJobs~job-*#1@lost"
    sweep.run(point, broken={STARTS: "2"}, starts=2)
    sweep.run(point, broken={STARTS: "2"}, starts=2, version="1.7.0")
    found = page(sweep)
    assert "Crash sweep of the KubeRay operator 1.6.2, 1.7.0" in found.text
    assert {"scenario-http-1.6.2", "scenario-http-1.7.0"} <= set(found.ids)
    report = read(sweep.folder, known)
    assert [run.verdict.state.value for run in report.runs] == ["deviates", "violated"]


def test_the_page_is_the_same_for_the_same_sweep(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path / "sweep").all_states()
    names = ("index.html", "summary.md", "result.json", "junit.xml")
    texts = []
    for _ in range(2):
        write(read(sweep.folder, known))
        texts.append([(tmp_path / "sweep" / name).read_bytes() for name in names])
    assert texts[0] == texts[1]


def test_two_thousand_runs_fit_on_a_page(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path).learn(learned())
    for number in range(1, 1001):
        sweep.run(f"http/update:RayCluster/status~job-*:state=ready#{number}@before", files=False)
    sweep.run("http/create:RayCluster~job-*#1@lost", broken={STARTS: "2"})
    files = sweep.folder.results()[-1].folder
    for number in range(2, 1001):
        sweep.keep_with(f"http/create:RayCluster~job-*#{number}@lost", files, broken={STARTS: "2"})
    started = time.process_time()
    found = write(read(sweep.folder, known))
    assert time.process_time() - started < 30
    assert found.stat().st_size < 10_000_000
    text = found.read_text()
    assert text.count("kuberay-e2e crash replay") == 2000
    assert "The page has no room for its timeline; see its files." in text


def test_room_goes_to_what_is_most_telling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "TIMELINE_BYTES", 1)
    text = page(Sweep(tmp_path).all_states()).text
    assert text.count('class="timeline"') == 1
    without = text[text.index("Without a fault") : text.index("Runs to look at")]
    assert 'class="timeline"' in without
