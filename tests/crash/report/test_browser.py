"""The page in a real browser: it fits a phone and a desk, works without scripts, and says nothing to the console."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kuberay_e2e.crash.report import read, write
from tests.crash.report.sweeps import STARTS, Sweep, known

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SIZES = [(375, 812), (1280, 900)]
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
MEASURE = """<script>
addEventListener("load", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
  const sizes = [...document.querySelectorAll("p, td, th, code")].map(e => parseFloat(getComputedStyle(e).fontSize));
  const buttons = document.querySelectorAll(".command button").length;
  parent.postMessage([innerWidth, document.documentElement.scrollWidth, buttons, Math.min(...sizes)].join(" "), "*");
});
</script>"""
FRAME = """<!doctype html><script>
addEventListener("message", event => { document.documentElement.dataset.measured = event.data; });
</script><iframe src="measured.html" style="border:0" width="%d" height="%d"></iframe>"""
"""A window of chromium is at least 500 pixels wide; a frame in it may be as narrow as a phone."""

pytestmark = pytest.mark.skipif(BROWSER is None, reason="neither chromium nor google-chrome is installed")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sweep = Sweep(tmp_path_factory.mktemp("sweep")).all_states()
    long = "RayCluster " + "job-x7k2p" * 60
    sweep.run("http/create:RayCluster~job-*#1@committed+again", broken={STARTS: "2", "nothing is left": long})
    return write(read(sweep.folder, known))


def browse(page: Path, width: int, height: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    assert BROWSER is not None
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr"]
    command += [f"--user-data-dir={page.parent / 'profile'}", f"--window-size={width},{height}"]
    command += ["--virtual-time-budget=2000", *arguments, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_page_does_not_scroll_sideways(index: Path, width: int, height: int) -> None:
    text = POLICY.sub("", index.read_text())
    index.with_name("measured.html").write_text(text.replace("</body>", f"{MEASURE}</body>"))
    frame = index.with_name("frame.html")
    frame.write_text(FRAME % (width, height))
    dom = browse(frame, 1400, 1000, "--dump-dom").stdout
    found = re.search(r'data-measured="([^"]+)"', dom)
    assert found is not None
    inner, scroll, buttons, smallest = map(float, found[1].split())
    assert inner == width
    assert scroll <= inner
    assert buttons == text.count('class="command"')
    assert smallest >= 11


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_page_is_drawn_and_the_console_stays_silent(index: Path, tmp_path: Path, width: int, height: int) -> None:
    image = tmp_path / "page.png"
    ended = browse(index, width, height, f"--screenshot={image}")
    assert image.read_bytes().startswith(b"\x89PNG")
    assert "CONSOLE" not in ended.stderr


def test_a_broken_script_would_be_seen_on_the_console(index: Path) -> None:
    broken = index.with_name("broken.html")
    broken.write_text(index.read_text().replace('"use strict";', '"use strict"; nothing();'))
    assert "CONSOLE" in browse(broken, 1280, 900, "--dump-dom").stderr


def test_the_script_is_the_one_that_the_policy_allows(index: Path) -> None:
    dom = browse(index, 1280, 900, "--dump-dom").stdout
    assert dom.count(">Copy</button>") == index.read_text().count('class="command"') > 0
