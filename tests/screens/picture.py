#!/usr/bin/env python3
"""Draws the picture in README, a conversation on a terminal of tmux: picture.py BUILD_FOLDER >yodel.svg"""
import os, re, subprocess, sys, time, unicodedata
from xml.sax.saxutils import escape

WIDTH, HEIGHT, MARGIN, TITLE = 9, 19, 14, 34  # of a cell and of a window
BARS, SHADES = "▁▂▃▄▅▆▇█", "░▒▓"  # drawn as areas, because letters show seams in most fonts
FLAGS = {1: "b", 2: "f", 4: "u", 7: "r"}  # of SGR sequences
INK, PAPER = "#d0d7de", "#0d1117"
COLORS = ["#484f58", "#ff7b72", "#56d364", "#e3b341", "#6cb6ff", "#d2a8ff", "#76e3ea", INK]
STYLE = """text{font:15px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;white-space:pre}
rect{shape-rendering:crispEdges}.b{font-weight:bold}.f{opacity:.65}.u{text-decoration:underline}"""


def tmux(*command):
    return subprocess.run(["tmux", "-L", f"picture-{os.getpid()}", "-u", "-f", "/dev/null", *command], check=True,
                          capture_output=True, text=True).stdout


def wait(text):
    for _ in range(600):
        if text in tmux("capture-pane", "-p"):
            return
        time.sleep(0.05)
    sys.exit(f"in vain: waiting for {text}")


def keys(text):
    tmux("send-keys", "-l", text)


def rectangle(column, y, columns, height, color, opacity=1.0):
    faint = f' fill-opacity="{opacity}"' if opacity < 1 else ""
    return f'<rect x="{column * WIDTH}" y="{y:g}" width="{columns * WIDTH}" height="{height:g}" fill="{color}"{faint}/>'


def palette(number):
    """Returns one of the 256 colors of a terminal."""
    levels = [0, 95, 135, 175, 215, 255]
    parts = [levels[(number - 16) // each % 6] for each in (36, 6, 1)] if number < 232 else [8 + 10 * (number - 232)] * 3
    return COLORS[number % 8] if number < 16 else "#" + "".join(f"{part:02x}" for part in parts)


def change(style, codes):
    """Applies the numbers of an SGR sequence to a style."""
    codes = [int(code or 0) for code in re.split("[;:]", codes)]
    while codes:
        code = codes.pop(0)
        side = "ink" if code // 10 in (3, 9) else "paper"
        if code == 0:
            style.clear()
        elif code in FLAGS:
            style[FLAGS[code]] = True
        elif code in (38, 48):
            style[side] = palette(codes[1])
            del codes[:2]
        elif code in (39, 49):
            style.pop(side, None)
        elif code // 10 in (3, 4, 9, 10):
            style[side] = COLORS[code % 10]


def runs(row, style):
    """Returns the column, width, text and style of each part of a row with one style and kind of characters."""
    found, column = [], 0
    for codes, character in re.findall(r"\x1b\[([0-9;:]*)m|([^\x1b\x0e\x0f])", row):
        if not character:
            change(style, codes)
            continue
        width = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        kind = character if character in BARS + SHADES else character < "\x7f"
        if found and found[-1][3:] == [style, kind]:
            found[-1][1:3] = found[-1][1] + width, found[-1][2] + character
        else:
            found.append([column, width, character, dict(style), kind])
        column += width
    return found


def drawn(y, column, width, text, style, _):
    ink, paper = style.get("ink", INK), style.get("paper")
    if style.get("r"):
        ink, paper = paper or PAPER, ink
    made = rectangle(column, y, width, HEIGHT, paper) if paper else ""
    if text[0] in BARS:
        height = HEIGHT * (BARS.index(text[0]) + 1) / 8
        return made + rectangle(column, y + HEIGHT - height, width, height, ink)
    if text[0] in SHADES:
        return made + rectangle(column, y, width, HEIGHT, ink, (SHADES.index(text[0]) + 1) / 4)
    classes = " ".join(name for name in "bfu" if style.get(name))
    place = f'class="{classes}" x="{column * WIDTH}" y="{y + 14}" textLength="{width * WIDTH}"'.replace('class="" ', "")
    return made + (f'<text {place} fill="{ink}">{escape(text)}</text>' if text.strip() else "")


def window(server, client, columns, rows, script):
    """Returns the width, the height and the drawing of a client's terminal after a script."""
    with subprocess.Popen(["yodeld", *server.split()], stdout=subprocess.PIPE, text=True) as running:
        if not running.stdout.readline():  # it does not listen
            sys.exit(1)
        tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), "exec " + client, ";", "set", "status", "off")
        script()
        time.sleep(0.3)  # all is drawn
        x, y, shown = map(int, tmux("display", "-p", "#{cursor_x} #{cursor_y} #{cursor_flag}").split())
        lines, style = tmux("capture-pane", "-e", "-N", "-p").split("\n")[:rows], {}
        tmux("kill-server")
        running.terminate()
    width, height = columns * WIDTH + 2 * MARGIN, rows * HEIGHT + TITLE + MARGIN
    text = f'<rect width="{width}" height="{height}" rx="8" fill="{PAPER}" stroke="#484f58"/>'
    text += "".join(f'<circle cx="{16 + 17 * i}" cy="17" r="5" fill="{COLORS[i + 1]}"/>' for i in range(3))
    text += f'<text x="{6 * WIDTH + MARGIN}" y="22" fill="#8b949e">$ {client}</text>\n<g transform="translate({MARGIN} {TITLE})">\n'
    text += rectangle(x, y * HEIGHT, 1, HEIGHT, INK, 0.4) * shown
    text += "".join("".join(drawn(place * HEIGHT, *run) for run in runs(line, style)) + "\n" for place, line in enumerate(lines))
    return width, height, text + "</g>\n"


def talk():
    wait("connected to")
    for line in ("hello", "你好, café", "a paste may hold \x1b[31mred\x1b[0m or \a", "SET temperature 21.5", "GET temperature"):
        time.sleep(1.2)
        keys(f"\x1b[200~{line}\x1b[201~\r")
    keys("a line that is not sent y")


os.environ["PATH"] = os.path.abspath(sys.argv[1]) + ":" + os.environ["PATH"]
width, height, drawing = window("-f line --corrupt 10% --seed 1122 7000", "yodel localhost 7000", 104, 14, talk)
print(f'<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="-1 -1 {width + 2} {height + 2}">\n<style>{STYLE}</style>')
print(drawing + "</svg>")
