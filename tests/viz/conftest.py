"""Both engines: every fact about a picture must hold for teachtorch and for PyTorch. And a browser to look at some."""

import shutil

import pytest


@pytest.fixture(params=["teachtorch", "torch"])
def lib(request):
    return pytest.importorskip(request.param)


@pytest.fixture(scope="module")
def browser():
    """A Chromium driven by playwright; the test is skipped without them."""
    sync_api = pytest.importorskip("playwright.sync_api")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if not program:
        pytest.skip("needs chromium")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture
def page(browser):
    """A page without motion, so that every change is there at once; no script on it may fail."""
    opened = browser.new_page(reduced_motion="reduce")
    opened.failures = []
    opened.on("pageerror", lambda error: opened.failures.append(str(error)))
    yield opened
    assert opened.failures == []
    opened.close()
