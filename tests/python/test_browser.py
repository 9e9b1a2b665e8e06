"""The page of `report`, in a real browser: loaded, clicked through, and its figures compared with the JSON."""

import json
import tempfile
from pathlib import Path

from browser import Browser, chromium
from harness import need

chromium()
tandem = need("tandem")
np = need("numpy")

CELL = "Number(document.querySelector('article:nth-of-type({run}) {where} [data-key={key}]').dataset.value)"


def graph(vertices=400, edges=3000):
    random = np.random.default_rng(7)
    return tandem.Graph.from_edges(random.integers(0, vertices, edges), random.integers(0, vertices, edges),
                                   random.integers(1, 60, edges).astype(np.uint8))


def pages(folder):
    """A page of one run, and one of three with emulated GPUs; their results."""
    g = graph()
    source = int(g.ids[0])
    runs = [g.sssp(source), g.sssp(source, engine="stream", devices="emu:1", gpu_edges="25%"),
            g.sssp(source, engine="multi", devices="emu:3")]
    runs[0].report(folder / "one.html")
    tandem.report(runs, folder / "three.html")
    return runs


def check_figures(browser, results):
    for i, result in enumerate(results, 1):
        stats = result.stats()
        rows = browser.evaluate(f"[...document.querySelectorAll('article:nth-of-type({i}) .rows tbody tr')].map(r => "
                                "['active_vertices', 'edges', 'seconds'].map(k => "
                                "Number(r.querySelector('[data-key=' + k + ']').dataset.value)))")
        assert rows == [[r["active_vertices"], r["edges"], r["seconds"]] for r in stats["rows"]]
        directions = browser.evaluate(f"[...document.querySelectorAll('article:nth-of-type({i}) .rows tbody tr')]"
                                      ".map(r => r.cells[1].textContent)")
        assert directions == [r["direction"] for r in stats["rows"]]
        for device in stats["devices"]:
            where = f".devices tr[data-device=\"{device['name']}\"]"
            for key in ("busy_seconds", "edges", "bytes_in", "bytes_out", "launches"):
                assert browser.evaluate(CELL.format(run=i, where=where, key=key)) == device[key], (device, key)
            tier = "host" if device["name"] == "cpu" else device["name"]
            where = f".memory tr[data-tier=\"{tier}\"]"
            promised = device["graph_bytes"] + device["program_bytes"]
            assert browser.evaluate(CELL.format(run=i, where=where, key="promised")) == promised
            assert browser.evaluate(CELL.format(run=i, where=where, key="taken")) == device["peak_bytes"]
        if stats["engine"] == "stream":
            moved = sum(r["bytes_whole"] + r["bytes_extracted"] + r["bytes_direct"] for r in stats["rows"])
            useful = sum(r["bytes_useful"] for r in stats["rows"])
            assert moved > 0
            assert browser.evaluate(CELL.format(run=i, where=".sums", key="moved_in_all")) == moved
            assert browser.evaluate(CELL.format(run=i, where=".sums", key="useful_in_all")) == useful
        for key in ("seconds", "edges_processed", "iterations"):
            cell = f"[...document.querySelectorAll('.summary [data-key={key}]')][{i - 1}].dataset.value"
            assert float(browser.evaluate(cell)) == stats[key]


def heights(browser, chart):
    """The heights of a chart's columns on the shown scale, by the browser's own geometry."""
    return browser.evaluate(f"[...document.querySelectorAll('[data-chart={chart}] g')].filter(g => "
                            "getComputedStyle(g).display !== 'none').map(g => [...g.querySelectorAll('path')]"
                            ".map(p => p.getBBox().height))")


def test_the_page_has_the_figures_of_the_report_and_answers_clicks():
    with tempfile.TemporaryDirectory() as name, Browser() as browser:
        folder = Path(name)
        results = pages(folder)
        browser.open(folder / "three.html")
        check_figures(browser, results)
        # The scale.
        linear = heights(browser, "frontier")
        assert len(linear) == 3 and max(max(h) for h in linear) == 100  # the tallest of three runs fills it
        browser.click("#scale")
        assert browser.evaluate("document.getElementById('scale').getAttribute('aria-pressed')") == "true"
        logarithmic = heights(browser, "frontier")
        assert logarithmic != linear and len(logarithmic) == 3
        browser.click("#scale")
        assert heights(browser, "frontier") == linear
        # A click on a column, and the arrow keys of the slider.
        count = len(results[0].rows)
        browser.click("article [data-chart=frontier] svg", x=(count - 0.5) / count)
        row = results[0].rows[-1]
        said = browser.evaluate("document.querySelector('article output').textContent")
        assert said.startswith(f"iteration {row.number}, direction {row.direction}, "
                               f"active vertices {row.active_vertices:,}"), said
        browser.evaluate("document.querySelector('article .pick input').focus()")
        browser.key("ArrowLeft", 37)
        row = results[0].rows[-2]
        said = browser.evaluate("document.querySelector('article output').textContent")
        assert said.startswith(f"iteration {row.number}, "), said
        assert browser.evaluate("document.querySelector('article .rows tr.on').rowIndex") == count - 1
        # The timeline: the click's place is a time.
        spans = browser.evaluate("[...document.querySelectorAll('article:nth-of-type(3) .rows tbody tr')]"
                                 ".map(r => [Number(r.dataset.from), Number(r.dataset.to)])")
        longest = max(range(len(spans)), key=lambda i: spans[i][1] - spans[i][0])
        browser.click("article:nth-of-type(3) [data-chart=timeline] svg", x=sum(spans[longest]) / 2000)
        said = browser.evaluate("document.querySelector('article:nth-of-type(3) output').textContent")
        assert said.startswith(f"iteration {results[2].rows[longest].number}, "), (said, spans)
        # The table opens.
        assert not browser.evaluate("document.querySelector('.columns').open")
        browser.click(".columns summary")
        assert browser.evaluate("document.querySelector('.columns').open")
        assert browser.complaints() == []


def contrast(browser, selector):
    """WCAG's ratio of an element's text to the page behind it."""
    colours = browser.evaluate(f"[getComputedStyle(document.querySelector('{selector}')).color, "
                               "getComputedStyle(document.body).backgroundColor]")

    def light(text):
        parts = [int(x) / 255 for x in text[text.index("(") + 1:-1].split(",")[:3]]
        parts = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    a, b = sorted(map(light, colours))
    return (b + 0.05) / (a + 0.05)


def test_the_page_is_readable_on_a_phone_and_in_the_dark():
    with tempfile.TemporaryDirectory() as name, Browser() as browser:
        folder = Path(name)
        pages(folder)
        backgrounds = []
        for dark in (False, True):
            browser.open(folder / "three.html", width=360, height=740, phone=True, dark=dark)
            assert browser.evaluate("document.documentElement.scrollWidth") <= 360  # nothing sticks out
            assert browser.evaluate("Math.min(...[...document.querySelectorAll('td, th, p, output, .axis')]"
                                    ".map(e => parseFloat(getComputedStyle(e).fontSize)))") >= 12
            assert browser.evaluate("Math.min(...[...document.querySelectorAll('article')]"
                                    ".map(e => e.getBoundingClientRect().width))") > 300  # one below the other
            for selector in ("h1", "td", ".note", ".axis", "caption"):
                assert contrast(browser, selector) >= 4.5, (dark, selector)
            backgrounds.append(browser.evaluate("getComputedStyle(document.body).backgroundColor"))
            assert browser.complaints() == []
        assert backgrounds[0] != backgrounds[1]
        browser.open(folder / "three.html", width=1400)
        tops = browser.evaluate("[...document.querySelectorAll('article')].map(e => e.getBoundingClientRect().top)")
        assert len(set(tops)) == 1  # side by side


def test_a_screen_reader_gets_names_for_everything():
    with tempfile.TemporaryDirectory() as name, Browser() as browser:
        pages(Path(name))
        browser.open(Path(name) / "one.html")
        browser.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        nodes = [n for n in browser.call("Accessibility.getFullAXTree")["nodes"] if not n.get("ignored")]

        def named(role):
            found = [n for n in nodes if n["role"]["value"] == role]
            assert found and all(n.get("name", {}).get("value") for n in found), (role, found)
            return [n["name"]["value"] for n in found]
        assert any("Active vertices" in text and "at most" in text for text in named("image"))
        assert any("computing" in text for text in named("image"))
        assert any(text.startswith("took") and "processing" in text for text in named("image"))  # the wall clock
        assert named("button") == ["Logarithmic scale"] and len(named("slider")) == 1
        assert any(n["role"]["value"] == "status" for n in nodes)  # what the slider chose is spoken
        chosen = browser.evaluate("document.querySelector('.pick input').getAttribute('aria-valuetext')")
        assert "active vertices" in chosen
        assert len(named("heading")) >= 6 and len(named("table")) >= 5
        assert browser.evaluate("[...document.querySelectorAll('thead th:not(:empty), tbody th')].every(h => h.scope)")


def test_the_wall_clock_is_drawn_and_the_figures_of_one_run_stand_first():
    with tempfile.TemporaryDirectory() as name, Browser() as browser:
        results = pages(Path(name))
        browser.open(Path(name) / "one.html")
        tiles = browser.evaluate("Object.fromEntries([...document.querySelectorAll('.tiles div')]"
                                 ".map(d => [d.children[0].textContent, d.children[1].textContent]))")
        assert tiles["engine"] == results[0].engine and tiles["iterations"] == str(results[0].iterations)
        assert not browser.evaluate("document.querySelector('.figures').open")
        browser.click(".figures summary")
        assert browser.evaluate("document.querySelector('.summary').getBoundingClientRect().height") > 100
        assert browser.complaints() == []
        browser.open(Path(name) / "three.html")
        assert browser.evaluate("document.querySelector('.figures').open")
        widths = browser.evaluate("[...document.querySelectorAll('.phases')].filter(b => b.textContent.includes(': took'))"
                                  ".map(b => b.querySelector('.p3').getBBox().width)")
        seconds = [r.seconds for r in results]
        assert len(widths) == 3
        for width, second in zip(widths, seconds):
            assert abs(width / max(widths) - second / max(seconds)) < 0.01, (widths, seconds)


def test_a_hostile_report_runs_nothing():
    evil = "</script><script>window.hit=1</script><img src=x onerror='window.hit=2'><svg onload=window.hit=3>"
    stats = graph().bfs(int(graph().ids[0])).stats()
    stats.update(program=evil, engine=evil, mode=evil, input=evil, verified=evil)
    stats["plan"].update(why=evil, engine=evil)
    stats["result"]["digest"] = evil
    for device in stats["devices"]:
        device["name"] = evil + '" onclick="window.hit=4'
    for row in stats["rows"]:
        row["direction"] = evil
    with tempfile.TemporaryDirectory() as name, Browser() as browser:
        path = Path(name) / "hostile.html"
        path.write_text(tandem.page([("<img src=y onerror=window.hit=5>", json.dumps(stats))]))
        browser.open(path)
        browser.click(".device")
        browser.click("#scale")
        assert browser.evaluate("window.hit") is None
        assert browser.evaluate("document.querySelectorAll('script, img, [onerror], [onclick], [onload]').length") == 1
        assert evil in browser.evaluate("document.querySelector('.plan').textContent")
        assert browser.complaints() == []
        # The test sees what it looks for: the policy stops a script that is there all the same.
        forbidden = "<script>window.hit=6</script><img src=http://x.invalid/></main>"
        path.write_text(path.read_text().replace("</main>", forbidden))
        browser.open(path)
        assert browser.evaluate("window.hit") is None
        assert len(browser.complaints()) >= 2


def test_a_long_run_opens():
    stats = graph().bfs(int(graph().ids[0])).stats()
    row = stats["rows"][0]
    stats["rows"] = [{**row, "number": i, "edges": i, "active_vertices": i % 1000, "start": i, "seconds": 1}
                     for i in range(100_000)]
    with tempfile.TemporaryDirectory() as name, Browser() as browser:
        path = Path(name) / "long.html"
        path.write_text(tandem.page([("long", json.dumps(stats))]))
        assert path.stat().st_size < 1_000_000
        browser.open(path)
        shown = browser.evaluate("[...document.querySelectorAll('.rows [data-key=edges]')]"
                                 ".map(e => Number(e.dataset.value)).reduce((a, b) => a + b)")
        assert shown == sum(range(100_000))
        browser.click("[data-chart=edges] svg", x=0.999)
        assert "iterations 99,750–99,999" in browser.evaluate("document.querySelector('output').textContent")
        assert browser.complaints() == []
