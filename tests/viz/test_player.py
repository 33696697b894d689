"""The player in a real browser, where one is installed."""

import pytest

import viz

pytestmark = pytest.mark.browser


@pytest.fixture
def saved(lib, tmp_path):
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    picture = viz.graph((x * x).sum())
    return picture, picture.save(tmp_path / "graph.html")


def test_each_step_says_its_sentence_and_the_last_fills_grad(page, saved):
    picture, path = saved
    page.goto(path.as_uri())
    for step in picture.trace.steps:
        page.locator("[data-go=next]").click()
        assert page.locator(".say").inner_text() == step["msg"]
    leaf = next(node["id"] for node in picture.trace.nodes if node["kind"] == "leaf")
    assert page.locator(f'[data-id="{leaf}.grad"]').text_content() == ".grad = gradient"
    page.locator("[data-go=first]").click()
    assert page.locator(f'[data-id="{leaf}.grad"]').text_content() == ".grad None"


def test_arrow_keys_step_at_once_on_a_page_of_its_own(page, saved):
    page.goto(saved[1].as_uri())
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert page.locator(".count").inner_text() == f"step 1/{len(saved[0].trace.steps)}"


def test_keys_with_a_modifier_stay_the_browsers(page, saved):
    page.goto(saved[1].as_uri())
    page.keyboard.press("Control+ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.locator(".count").inner_text() == f"step 1/{len(saved[0].trace.steps)}"


def test_a_notebook_output_takes_keys_only_once_it_was_clicked(lib, page, tmp_path):
    output = viz.strides(lib.arange(4))._repr_mimebundle_()["text/html"]
    (tmp_path / "one.html").write_text(f"<!doctype html><meta charset=utf-8>{output}", encoding="utf-8")
    page.goto((tmp_path / "one.html").as_uri())
    page.keyboard.press("ArrowRight")
    assert page.locator(".count").inner_text() == "step 0/4"
    page.locator("svg").click()
    page.keyboard.press("ArrowRight")
    assert page.locator(".count").inner_text() == "step 1/4"


def test_predict_mode_moves_on_only_for_the_right_node(page, saved):
    picture, path = saved
    page.goto(path.as_uri())
    page.get_by_text("predict").click()
    wrong, right = picture.trace.steps[2]["ids"][0], picture.trace.steps[1]["ids"][0]
    page.locator(f'[data-id="{wrong}"]').click()
    assert page.locator(".say").inner_text().startswith("Not that one")
    page.locator(f'[data-id="{right}"]').click()
    assert page.locator(".say").inner_text().startswith("Right, 1 in a row.")


def test_pointing_at_an_element_shows_its_formula(lib, page, tmp_path):
    path = viz.strides(lib.arange(12).reshape(3, 4)).save(tmp_path / "strides.html")
    page.goto(path.as_uri())
    page.locator('[data-id="c6"]').hover()
    assert page.locator(".say").inner_text() == "[1, 2]: offset 0 + 1*4 + 2*1 = 6"
    assert "hot" in page.locator('[data-id="s6"]').get_attribute("class")


def test_two_copies_of_a_notebook_output_are_two_players(lib, page, tmp_path):
    output = viz.strides(lib.arange(4))._repr_mimebundle_()["text/html"]
    (tmp_path / "two.html").write_text(
        f"<!doctype html><meta charset=utf-8><div>{output}</div><div>{output}</div>", encoding="utf-8"
    )
    page.goto((tmp_path / "two.html").as_uri())
    page.locator("[data-go=next]").first.click()
    assert page.locator(".count").all_inner_texts() == ["step 1/4", "step 0/4"]


def test_a_phone_shows_the_whole_width_or_says_to_scroll(lib, page, saved, tmp_path):
    page.set_viewport_size({"width": 420, "height": 800})
    page.goto(saved[1].as_uri())
    assert page.locator("svg").bounding_box()["width"] <= 420
    assert not page.get_by_text("scroll sideways").is_visible()
    page.get_by_text("1:1").click()
    assert page.get_by_text("scroll sideways").is_visible()


def test_the_page_decides_between_light_and_dark(page, saved):
    page.goto(saved[1].as_uri())
    page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    page.wait_for_function("document.querySelector('.viz-picture').shadowRoot.querySelector('svg.dark')")
