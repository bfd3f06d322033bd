"""The report's pages in a browser: headless Chromium that draws WebGL2 by software.

  browser.py TOOLS WORK [DEMO]

TOOLS: folder of the programs; WORK: folder for runs, pages and pictures, which stay to be looked at;
DEMO: a run whose page is timed as well (the demo's). Needs Debian's chromium, chromium-driver,
python3-selenium, python3-h5py, python3-numpy and python3-pil. Selenium rather than Node.js: it is a
client of WebDriver and of the browser's own protocol that Debian packages; Debian's Node.js 18 would
need a WebSocket library for that. Prints a line a check; ends with 1 if one failed.
"""
import io, json, os, re, shutil, subprocess, sys, tempfile, time

import h5py
import numpy as np
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys

tools, work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
demo = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else None
here = os.path.dirname(os.path.abspath(__file__))
failed = passed = 0


def check(good, what):
    global failed, passed
    passed += bool(good)
    failed += not good
    print(("ok      " if good else "FAILED  ") + what, flush=True)


def tool(name, *words):
    done = subprocess.run([os.path.join(tools, name), *words], capture_output=True, text=True, cwd=work)
    if done.returncode != 0:
        sys.exit(f"{name} {' '.join(words)}: {done.stderr}")
    return done.stdout


class Browser:
    def __init__(self, width=1200, height=1000, webgl=True, before=None, phone=False):
        self.folder = tempfile.mkdtemp()
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        words = ["--headless=new", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
                 "--disable-component-update", "--disable-sync", "--user-data-dir=" + self.folder,
                 f"--window-size={width},{height}"]
        words += ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"] if webgl else ["--disable-gpu", "--disable-3d-apis"]
        for word in words:
            options.add_argument(word)
        if phone:
            options.add_experimental_option("mobileEmulation", {"deviceMetrics": {"width": width, "height": height, "pixelRatio": 2.0, "touch": True}})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        self.driver.set_script_timeout(60)
        if before:
            self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": before})

    def __enter__(self):
        return self

    def __exit__(self, *rest):
        self.driver.quit()
        shutil.rmtree(self.folder, ignore_errors=True)

    def open(self, page):
        self.driver.get("about:blank")
        self.driver.get_log("performance")
        self.driver.get_log("browser")
        self.driver.get("file://" + page)
        for _ in range(600):
            state = self.run("return document.documentElement.dataset.ready")
            if state:
                return state
            time.sleep(0.1)
        return "never ready"

    def run(self, script, *words):
        return self.driver.execute_script(script, *words)

    def show(self, **what):
        self.run("talusReport.show(arguments[0])", what)

    def pixels(self):
        """The drawing itself, rows from above."""
        size, text = self.run("const p = talusReport.pixels(); let s = ''; for (let i = 0; i < p.rgba.length; i += 8192)"
                              "s += String.fromCharCode(...p.rgba.subarray(i, i + 8192)); return [[p.height, p.width], btoa(s)]")
        import base64
        return np.frombuffer(base64.b64decode(text), np.uint8).reshape(*size, 4)[::-1, :, :3].astype(int)

    def picture(self, name):
        self.driver.save_screenshot(os.path.join(work, name))

    def message(self):
        return self.run("return document.getElementById('message').textContent")


def grains_mask(browser, **what):
    """Pixels that change when grains are drawn; without shadows, which would count."""
    browser.show(quality="1", show={"grains": True, "paths": False}, **what)
    there = browser.pixels()
    browser.show(show={"grains": False})
    without = browser.pixels()
    browser.show(show={"grains": True})
    return np.abs(there - without).max(axis=2) > 0


def picture_file(name):
    return np.asarray(Image.open(os.path.join(work, name)).convert("RGB")).astype(int)


def rendered_mask(run, frame, at, eye, fov, width, height):
    """Pixels of grains in talus-render's picture: those that two ways of colouring make differ."""
    for colour in ["speed", "id"]:
        tool("talus-render", run, f"--frame={frame}", f"--from={eye}", f"--at={at}", f"--fov-deg={fov}", f"--width={width}",
             f"--height={height}", "--no-smooth", "--no-captions", f"--colour={colour}", "-o", f"render_{colour}.png", "--overwrite")
    return np.abs(picture_file("render_speed.png") - picture_file("render_id.png")).max(axis=2) > 0


def matrix(q):
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


# ---- runs and pages ----

os.makedirs(work, exist_ok=True)
if not os.path.exists(os.path.join(work, "run.done")):
    tool("talus-phantom", "--terrain", "--seed=1", "-o", "valley.asc", "--overwrite")
    shutil.copy(os.path.join(here, "study.yaml"), work)
    if os.path.exists(os.path.join(work, "report.tals")):
        os.remove(os.path.join(work, "report.tals"))
    tool("talus-topo", "valley.asc", "--catalog=report.tals", "--name=slope")
    tool("talus-solve", "-q", "study.yaml", "-o", "run", "--overwrite")
    open(os.path.join(work, "run.done"), "w").close()
page = os.path.join(work, "run.html")
tool("talus-report", "run", "-o", "run.html", "--overwrite")
frames = sorted(f for f in os.listdir(os.path.join(work, "run")) if re.fullmatch(r"frame_\d+\.h5", f))

# ---- the page as it opens ----

with Browser() as b:
    start = time.time()
    check(b.open(page) == "playback", f"the page opens with its playback ({time.time() - start:.1f} s)")
    b.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": "document.title"})
    title = b.run("return document.title")
    check("injected" not in title[:8] and "</title><script>" in title, "a title with markup stays a title")
    time.sleep(1)
    asked = [m["params"]["request"]["url"] for m in (json.loads(e["message"])["message"] for e in b.driver.get_log("performance"))
             if m["method"] == "Network.requestWillBeSent"]
    asked = [a for a in asked if not a.startswith(("data:", "chrome:", "about:"))]
    check(asked == ["file://" + page], f"one request: {asked}")
    console = b.driver.get_log("browser")
    check(console == [], f"an empty console: {console[:2]}")
    policy = b.run("return document.querySelector('meta[http-equiv=\"Content-Security-Policy\"]').content")
    check("default-src 'none'" in policy and "unsafe" not in policy, "the policy lets nothing in: " + policy[:60] + " ...")
    left = b.run("""const s = document.createElement('script'); s.textContent = 'window.foreign = 1'; document.body.append(s); return window.foreign || 0""")
    check(left == 0, "a foreign script is not run")
    b.driver.get_log("browser")
    b.picture("desktop.png")

    # ---- poses in the browser against the frames ----
    run = b.run("const r = talusReport.player.data.run; return {bodies: r.bodies, frames: r.frames, step: r.place.step, low: r.place.low}")
    ids = b.run("return [...talusReport.player.data.motion.id]")
    off = angle = 0.0
    vanish = True
    for f, name in enumerate(frames):
        place, turn, there = b.run("""const m = talusReport.player.data.motion, f = arguments[0], p = [], q = [], t = [];
          for (let b = 0; b < m.bodies; b++) { const i = b * m.frames + f; p.push([...m.place.subarray(3*i, 3*i+3)]);
          q.push([...m.turn.subarray(4*i, 4*i+4)]); t.push(m.there(b, f)); } return [p, q, t]""", f)
        with h5py.File(os.path.join(work, "run", name)) as h:
            rows = {int(i): k for k, i in enumerate(h["id"][:])}
            position, rotation = h["position_m"][:], h["rotation_wxyz"][:]
        for k, i in enumerate(ids):
            vanish = vanish and there[k] == (int(i) in rows)
            if int(i) not in rows:
                continue
            r = rows[int(i)]
            off = max(off, np.abs(np.array(place[k]) + run["low"] - position[r]).max())
            q = np.array([turn[k][3], *turn[k][:3]])
            if not b.run("return talusReport.player.data.motion.id.length") or abs(q[0]) == 1:
                continue
            angle = max(angle, 2 * np.degrees(np.arccos(min(1, abs(q @ rotation[r])))))
    # single precision of places up to some 100 m adds 1e-5 m
    check(off <= 0.5 * run["step"] + 2e-5, f"places within half a step: {off:.6f} m of {0.5 * run['step']:.6f} m")
    check(angle < 0.1, f"turns within 0.1 degrees: {angle:.4f}")
    check(vanish and len(ids) > min(len(h5py.File(os.path.join(work, 'run', n))['id']) for n in frames), "absent grains vanish")

    # ---- meshes in the browser ----
    worst, open_edges, least = b.run("""const d = talusReport.player.data, s = d.skins; let worst = [], open = 0, least = 1e9;
      for (let k = 0; k < d.levels * d.shapes; k++) { const part = s.part[k], edge = new Map(); let v = 0;
        for (let t = 0; t < part.count; t += 3) { const i = [0, 1, 2].map((c) => s.index[part.first + t + c]);
          const p = i.map((c) => s.place.subarray(3 * c, 3 * c + 3)); v += dot3(p[0], p[1], p[2]) / 6;
          for (let c = 0; c < 3; c++) { const a = i[c], b = i[(c + 1) % 3], key = a < b ? a + ',' + b : b + ',' + a;
            const e = edge.get(key) || [0, 0]; e[0]++; e[1] += a < b ? 1 : -1; edge.set(key, e); } }
        for (const e of edge.values()) if (e[0] !== 2 || e[1] !== 0) open++;
        const full = Math.PI / 6 * d.diameter[k % d.shapes] ** 3; worst.push(Math.abs(v / full - 1)); least = Math.min(least, part.count); }
      function dot3(a, b, c) { return a[0]*(b[1]*c[2]-b[2]*c[1]) + a[1]*(b[2]*c[0]-b[0]*c[2]) + a[2]*(b[0]*c[1]-b[1]*c[0]); }
      return [worst, open, least]""")
    shapes = len(worst) // 3
    check(open_edges == 0 and least > 0, f"meshes are closed: {open_edges} open edges")
    check(max(worst[:2 * shapes]) < 0.005, f"volumes within 0.5%: {100 * max(worst[:2 * shapes]):.3f}% (coarsest level {100 * max(worst):.2f}%)")

    # ---- grains against talus-render ----
    last = len(frames) - 1
    b.run("const s = document.getElementById('stage'); s.style.width = '1000px'; s.style.height = '625px'; s.style.minHeight = '0'")
    time.sleep(0.5)
    for f, far in [(last // 2, 1), (last, 4.6)]: # near, and where grains are small
        with h5py.File(os.path.join(work, "run", frames[f])) as h:
            keep = h["id"][:] < 2**40
            at = h["position_m"][:][keep].mean(axis=0)
        eye = at + far * np.array([-16, -42, 30])
        words = [",".join(f"{x:.6f}" for x in v) for v in (at, eye)]
        ours = grains_mask(b, frame=f, **{"from": [float(x) for x in words[1].split(",")], "at": [float(x) for x in words[0].split(",")], "fov": 30})
        height, width = ours.shape
        theirs = rendered_mask("run", int(frames[f][6:-3]), words[0], words[1], 30, width, height)
        both = (ours & theirs).sum() / (ours | theirs).sum()
        Image.fromarray((np.stack([ours, theirs, theirs], axis=2) * 255).astype(np.uint8)).save(os.path.join(work, f"masks_{f}.png"))
        check(theirs.sum() >= 5000 and both >= 0.93, f"grains as talus-render draws them: intersection over union {both:.4f} at {theirs.sum()} pixels")
    b.show(quality="auto", show={"paths": True})

    # ---- colours, cut, steps ----
    b.show(frame=last // 2, quality="2")
    seen = {}
    for colour in b.run("return [...document.getElementById('colour').options].map((o) => o.value)"):
        for map_name in ["plasma", "cividis"]:
            b.show(colour=colour, map=map_name)
            seen[colour, map_name] = b.pixels()
            legend = b.run("return document.getElementById('legend').textContent")
            if map_name == "plasma":
                b.picture(f"colour_{colour}.png")
                units = {"speed": "[m/s]", "force": "[N]", "size": "[m]"}
                check(colour == "id" or units[colour] in legend, f"legend of {colour} names the unit: {legend[:60]}")
    names = list(seen)
    pairs = [(p, q) for k, p in enumerate(names) for q in names[k + 1:] if not (p[0] == q[0] == "id")]
    same = [(p, q) for p, q in pairs if (seen[p] == seen[q]).all()]
    check(same == [], f"{len(names)} colourings differ: {same}")
    b.show(colour="size", map="plasma", show={"paths": False})
    whole = grains_mask(b)
    half = grains_mask(b, cut=[200, 0])
    b.show(quality="2")
    b.picture("cut.png")
    check(0.05 * whole.sum() < half.sum() < 0.95 * whole.sum(), f"a cut shows part of the grains: {half.sum()} of {whole.sum()} pixels")
    b.show(cut=False, quality="auto", frame=3)
    canvas = b.driver.find_element("id", "canvas")
    canvas.click()
    state = lambda: b.run("return Math.floor(talusReport.player.at)")
    for key, wanted in [(".", 4), (",", 3), (Keys.END, last), (Keys.HOME, 0)]:
        canvas.send_keys(key)
        time.sleep(0.3)
        check(state() == wanted, f"key {key!r} goes to frame {wanted}: {state()}")
    before = b.pixels()
    canvas.send_keys(Keys.ARROW_LEFT)
    time.sleep(1.2)
    check((b.pixels() != before).any(), "an arrow key turns the view")
    canvas.send_keys("r")
    canvas.send_keys(" ")
    time.sleep(2.5)
    moved = state()
    canvas.send_keys(" ")
    time.sleep(0.3)
    check(moved > 0 and state() >= moved and not b.run("return talusReport.player.playing"), f"space plays and pauses (frame {state()})")
    b.run("const s = document.getElementById('scrub'); s.value = 7; s.dispatchEvent(new Event('input'))")
    time.sleep(0.3)
    check(state() == 7 and "frame 8 of" in b.run("return document.getElementById('moment').textContent"), "the slider scrubs")
    b.driver.find_element("id", "smooth").click()
    b.run("talusReport.player.go(7); talusReport.player.at = 7.5; talusReport.player.draw()")
    for _ in range(50):  # the text is written when the next picture is drawn, which a busy machine does late
        if "drawn, not computed" in b.run("return document.getElementById('moment').textContent"):
            break
        time.sleep(0.1)
    check("drawn, not computed" in b.run("return document.getElementById('moment').textContent"), "what lies between frames is labelled")
    b.driver.find_element("id", "smooth").click()

    # ---- the context is lost and comes back ----
    b.show(frame=9, quality="2")
    before = b.pixels()
    b.run("const e = talusReport.player.gl.getExtension('WEBGL_lose_context'); e.loseContext(); setTimeout(() => e.restoreContext(), 700)")
    time.sleep(0.4)
    check("comes back" in b.message(), "a lost context is said: " + b.message()[:50])
    time.sleep(2.5)
    after = b.pixels()
    check((before == after).all() and b.message() == "", "the context restored draws the same pixels")
    names_of = b.run("""return [...document.querySelectorAll('#controls button, #controls select, #controls input, canvas[role]')].filter((e) =>
      !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label'))).map((e) => e.id)""")
    check(names_of == [], f"all controls have names for readers: {names_of}")
    errors = [e for e in b.driver.get_log("browser") if "CONTEXT_LOST" not in e["message"]]
    check(errors == [], f"nothing was said to the console: {errors[:2]}")
    plain = before

# ---- without the browser's own zlib; damaged data ----

text = open(page).read()
place = text.index('<script type="text/plain" class="data">') + 3000
damaged = os.path.join(work, "damaged.html")
open(damaged, "w").write(text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1:])
for name, before in [("the browser's zlib", None), ("our inflate", "delete window.DecompressionStream")]:
    with Browser(before=before) as b:
        check(b.open(page) == "playback", f"{name}: the page opens")
        b.run("const s = document.getElementById('stage'); s.style.width = '1000px'; s.style.height = '625px'; s.style.minHeight = '0'")
        time.sleep(0.3)
        b.show(frame=9, quality="2", colour="size", show={"paths": False})
        pixels = b.pixels()
        if before is None:
            first = pixels
        else:
            check((pixels == first).all(), f"{name}: the same pixels")
        check(b.open(damaged) == "still" and "damaged" in b.message(), f"{name}: damaged data are told: {b.message()[:90]}")
        shown = b.run("return document.querySelector('.still').naturalWidth * (document.querySelector('.still').offsetWidth > 0)")
        check(shown > 100, f"{name}: the still stays")
        b.picture("damaged.png")

# ---- without WebGL2; upright phone ----

with Browser(webgl=False) as b:
    check(b.open(page) == "still", "without WebGL2 the page opens")
    shown = b.run("const i = document.querySelector('.still'); return i.naturalWidth * (i.offsetWidth > 0)")
    plots = b.run("return document.querySelectorAll('svg.chart').length")
    check(shown > 100 and plots > 5 and "WebGL2" in b.message(), f"a still, {plots} plots and a sentence: {b.message()[:60]} ...")
    b.picture("no_webgl.png")
with Browser(390, 844, phone=True) as b:
    check(b.open(page) == "playback", "an upright phone: the page opens")
    wide = b.run("return [document.documentElement.scrollWidth, window.innerWidth]")
    check(wide[0] <= wide[1], f"an upright phone: nothing stands out sideways: {wide}")
    b.run("document.getElementById('player').scrollIntoView()")
    size = b.run("const c = document.getElementById('canvas'); return [c.width, c.height]")
    check(size[0] >= 2 * 340 and size[1] > size[0], f"an upright phone: the picture is upright and as fine as the screen: {size}")
    box = b.run("const r = document.getElementById('canvas').getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]")
    before = b.pixels()
    touch = lambda kind, points: b.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]})
    touch("touchStart", [box])
    touch("touchMove", [[box[0] + 60, box[1] + 10]])
    touch("touchEnd", [])
    time.sleep(1)
    turned = b.pixels()
    check((turned != before).any(), "an upright phone: a finger turns")
    touch("touchStart", [[box[0] - 40, box[1]], [box[0] + 40, box[1]]])
    touch("touchMove", [[box[0] - 90, box[1]], [box[0] + 90, box[1]]])
    touch("touchEnd", [])
    time.sleep(1)
    check((b.pixels() != turned).any() and b.run("return talusReport.player.camera.distance < Math.hypot(...talusReport.player.camera.start.from.map((x, c) => x - talusReport.player.camera.start.at[c]))"),
          "an upright phone: two fingers zoom")
    b.picture("phone.png")

# ---- a net that a block breaks through: bonds are drawn while they hold ----

with open(os.path.join(work, "net.yaml"), "w") as file:
    file.write("""time: {dt_s: 3.0e-4, duration_s: 0.501, frame_every_s: 0.2505}
free_fall: yes
shapes: [{name: block, kind: box, size_m: [0.5, 0.4, 0.4]}]
bodies: [{shape: block, position_m: [0, 0, 1.2], turn_deg: [20, 10, 0], velocity_m_s: [0, 0, -4]}]
nets:
- {corner_m: [-1.5, -1.5, 0], along_m: [3, 0, 0], across_m: [0, 3, 0], spacing_m: 0.25, radius_m: 0.05,
   density_kg_m3: 3000, stiffness_N_m: 4.0e+4, damping: 0.1, strength_N: 2.0e+3}
""")
tool("talus-solve", "-q", "net.yaml", "-o", "net.run", "--overwrite")
tool("talus-report", "net.run", "-o", "net.html", "--overwrite")
place = []
for frame in (0, 2):
    with h5py.File(os.path.join(work, "net.run", f"frame_{frame:06d}.h5")) as file:
        place.append(file["position_m"][:][(file["flags"][:] & 4) != 0])
far = [np.linalg.norm(p[:, None] - p[None], axis=2) for p in place]
bonded = np.triu(far[0] < 1.4 * 0.25, 1)
want = [int(bonded.sum()), int((bonded & (far[1] <= 2 * far[0])).sum())]
with Browser() as b:
    b.open(os.path.join(work, "net.html"))
    have = []
    for frame in (0, 2):
        b.run("talusReport.player.go(arguments[0])", frame)
        time.sleep(1)
        have.append(b.run("return talusReport.player.scene.bonds.drawn"))
    b.picture("net.png")
    check(have == want and want[1] < want[0], f"bonds of a net are drawn while they hold: {have}, and are {want}")

# ---- work a picture ----


def family(root):
    children = {}
    for p in filter(str.isdigit, os.listdir("/proc")):
        try:
            children.setdefault(int(open(f"/proc/{p}/stat").read().rsplit(")", 1)[1].split()[1]), []).append(int(p))
        except OSError:
            pass
    out = [root]
    for p in out:
        out += children.get(p, [])
    return out


def cpu_ms(root):
    total = 0
    for p in family(root):
        try:
            words = open(f"/proc/{p}/stat").read().rsplit(")", 1)[1].split()
            total += int(words[11]) + int(words[12])
        except OSError:
            pass
    return 1000 * total / os.sysconf("SC_CLK_TCK")


def timed(page, what, most):
    with Browser(1200, 1000) as b:
        b.open(page)
        b.run("const s = document.getElementById('stage'); s.style.width = '1070px'; s.style.height = '620px'")
        for quality in "012":
            b.show(quality=quality)
            time.sleep(1)
            start, count = cpu_ms(b.driver.service.process.pid), 60
            b.run(f"""const p = talusReport.player, n = p.data.run.frames; for (let i = 0; i < {count}; i++) {{ p.at = Math.floor(i * (n - 1) / {count});
                p.scene.draw(p.shot({quality})); p.showState(); p.gl.readPixels(0, 0, 1, 1, p.gl.RGBA, p.gl.UNSIGNED_BYTE, new Uint8Array(4)); }}""")
            ms = (cpu_ms(b.driver.service.process.pid) - start) / count
            name = ["lowest", "low", "high"][int(quality)]
            check(quality != "0" or ms <= most, f"{what}: {ms:.1f} CPU-ms a picture at quality {name}" + (f", at most {most}" if quality == "0" else ""))


timed(page, "this run, 1070 x 620", 45)
if demo:
    made = os.path.join(work, "demo.html")
    tool("talus-report", demo, "-o", made, "--overwrite")
    size = os.path.getsize(made) / 1e6
    check(size <= 3, f"the demo's page: {size:.2f} MB, at most 3")
    timed(made, "the demo, 1070 x 620", 45)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
