"""The backward player in a real browser."""

import pytest

import viz

pytestmark = pytest.mark.browser


@pytest.fixture
def played(lib, page, tmp_path):
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    b = lib.tensor([1.0, 1.0], requires_grad=True)
    picture = viz.play((b + x * x).sum(), names={"x": x, "b": b})
    page.goto(picture.save(tmp_path / "play.html").as_uri())
    return picture


def next_step(page):
    page.locator("[data-go=next]").click()


def shown(page, data_id):
    return page.locator(f'text[data-id="{data_id}"]').first.text_content()


def node(picture, label):
    return next(node["id"] for node in picture.trace.nodes if node["label"] == label)


def classes(page, data_id):
    return page.locator(f'g[data-id="{data_id}"]').first.get_attribute("class")


def test_every_step_says_its_sentence_and_shows_its_queue(page, played):
    for step in played.trace.steps:
        next_step(page)
        assert page.locator(".say").inner_text() == step["msg"]
        queue = page.locator(".queued").evaluate_all("cards => cards.map(c => c.firstChild.textContent)")
        assert queue == [played.trace.by_id()[card]["label"] for card in step["queue"]]


def test_buffers_boxes_and_grad_change_as_the_engine_runs(page, played):
    x, mul = node(played, "x"), node(played, "MulBackward0")
    for _ in range(4):
        next_step(page)
    assert shown(page, f"{x}.waits") == "waits for 2"
    assert shown(page, f"{x}.b0") == "empty"
    assert "freed" not in classes(page, f"{mul}.saved")
    next_step(page)
    assert (shown(page, f"{x}.waits"), shown(page, f"{x}.b0")) == ("ready", "a + b")
    assert [shown(page, f"{x}.b0.{k}") for k in range(2)] == ["2", "4"]
    assert "freed" in classes(page, f"{mul}.saved")
    assert shown(page, f"{x}.grad") == ".grad None"
    next_step(page)
    assert [shown(page, f"{x}.grad.{k}") for k in range(2)] == ["2", "4"]
    page.locator("[data-go=first]").click()
    assert shown(page, f"{x}.grad") == ".grad None"


def test_backward_again_fails_at_the_empty_box(page, played):
    mul = node(played, "MulBackward0")
    page.get_by_text("backward again").click()
    assert page.locator(".say").inner_text().startswith("backward() again")
    for _ in range(len(played.trace.options["again"]["freed"]) - 1):
        next_step(page)
    assert "Specify retain_graph=True" in page.locator(".say").inner_text()
    assert "failed" in classes(page, mul)
    assert page.locator(".running").inner_text() == "failed: MulBackward0 #0"


def test_retain_graph_refills_the_boxes_and_backward_again_adds(page, played):
    mul, x = node(played, "MulBackward0"), node(played, "x")
    page.get_by_text("backward again").click()
    assert "freed" in classes(page, f"{mul}.saved")
    page.get_by_label("retain_graph=True").check()
    assert "freed" not in classes(page, f"{mul}.saved")
    page.get_by_text("backward again").click()
    assert [shown(page, f"{x}.grad.{k}") for k in range(2)] == ["4", "8"]


def test_predict_blurs_the_queue_counts_the_streak_and_says_why_not(page, played):
    page.get_by_text("predict").click()
    assert "blind" in page.locator(".stage").get_attribute("class")
    page.locator(f'[data-id="{node(played, "x")}"]').click()
    assert page.locator(".say").inner_text() == "x still waits for gradients: try another."
    for label in ("SumBackward0", "AddBackward0", "b"):
        page.locator(f'g[data-id="{node(played, label)}"]').click()
    assert page.get_by_text("predict · streak 3").count() == 1
    page.locator(f'g[data-id="{node(played, "b")}"]').click()
    assert page.locator(".say").inner_text() == "b has already run."


def test_a_gradient_slides_along_its_edge_and_lands_in_the_buffer(browser, lib, tmp_path):
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    picture = viz.play(x.sum())
    opened = browser.new_page(reduced_motion="no-preference")
    opened.goto(picture.save(tmp_path / "fly.html").as_uri())
    root = "document.querySelector('.viz-picture').shadowRoot"
    # Watch from before the click: a flight may be shorter than a pause of a busy machine.
    opened.evaluate(
        f"new MutationObserver(() => window.flown ||= {root}.querySelector('.flying text')?.textContent)"
        f".observe({root}.querySelector('svg'), {{childList: true, subtree: true}})"
    )
    opened.locator("[data-go=next]").click()
    opened.wait_for_function("window.flown === '1'")
    opened.wait_for_function(f"!{root}.querySelector('.flying')")
    assert shown(opened, f"{node(picture, 'SumBackward0')}.b0") == "a"
    opened.close()
