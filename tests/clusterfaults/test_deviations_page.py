"""The page on known deviations is made from their files, and the one in docs/ is up to date."""

from pathlib import Path

from kuberay_e2e.deviations.catalogue import files, read
from kuberay_e2e.deviations.page import document, main, section

PAGE = Path(__file__).parents[2] / "docs" / "deviations.md"


def test_the_page_in_docs_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == document(), "run make schemas"


def test_every_deviation_is_there_with_its_trace_and_its_upstream_reference() -> None:
    page = document()
    for entry in (entry for file in files() for entry in read(file)):
        assert section(entry) in page
        assert all(line in section(entry) for line in entry.trace)
        assert entry.upstream.strip() in section(entry)


def test_it_is_written_to_a_file(tmp_path: Path) -> None:
    assert main([str(tmp_path / "page.md")]) == 0
    assert (tmp_path / "page.md").read_text() == document()
