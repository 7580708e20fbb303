#!/usr/bin/env python3
"""Draws docs/fourier-audit.svg: what three Fourier codecs keep of a smooth signal. Standard library only.

    python3 analysis/plots/fourier_audit.py            writes the picture and prints its numbers
    python3 analysis/plots/fourier_audit.py --check    fails if the committed picture is another

The signals are those of tests/unit/codec/audit_test.cpp, number by number.
"""

import cmath
import math
import pathlib
import random
import statistics
import sys

S, D = 32, 64  # tokens, hidden values
K_S, K_D = 8, 16  # published block
SEEDS = range(1, 21)
PICTURE = pathlib.Path(__file__).parents[2] / "docs/fourier-audit.svg"


def mersenne_twister(seed):
    """std::mt19937: Python's own generator, seeded as C++ does it (Matsumoto and Nishimura's init_genrand)."""
    state = [seed]
    for i in range(1, 624):
        state.append((1812433253 * (state[-1] ^ state[-1] >> 30) + i) & 0xFFFFFFFF)
    generator = random.Random()
    generator.setstate((3, tuple(state + [624]), None))
    return generator


def uniform(generator, low, high):
    """std::uniform_real_distribution<double> of libstdc++: two draws of 32 bits, the lower ones first."""
    lower, upper = generator.getrandbits(32), generator.getrandbits(32)
    return low + (high - low) * ((lower + upper * 2.0**32) / 2.0**64)


def signal(seed):
    """Sum over u < 4, v < 8 of cosines in both diagonal directions, amplitudes U(0.3, 1), random phases."""
    generator = mersenne_twister(seed)
    values = [[0.0] * D for _ in range(S)]
    for u in range(4):
        for v in range(8):
            for direction in (1, -1):
                size, start = uniform(generator, 0.3, 1), uniform(generator, 0, 2 * math.pi)
                for s in range(S):
                    for d in range(D):
                        turns = u * s / S + direction * v * d / D
                        values[s][d] += size * math.cos(2 * math.pi * turns + start)
    return values


def dft(values):
    n = len(values)
    roots = [cmath.exp(-2j * math.pi * i / n) for i in range(n)]
    return [sum(value * roots[k * i % n] for i, value in enumerate(values)) for k in range(n)]


def spectrum(matrix):
    rows = [dft(row) for row in matrix]
    columns = [dft([row[v] for row in rows]) for v in range(D)]
    return [[columns[v][u] for v in range(D)] for u in range(S)]


def published(u, v):
    return u < K_S and v < K_D


def with_mirror(u, v):
    return published(u, v) or (S - K_S < u and D - K_D < v)


def low_pass(u, v):
    rows, columns = low_pass_block()
    return min(u, S - u) <= rows // 2 and min(v, D - v) <= columns // 2


def low_pass_block():
    """The widths that choose_low_pass() of models/codec/low_pass.h takes for the reals of the published block."""
    budget = 2 * K_S * K_D
    blocks = []
    for rows in [*range(1, S, 2), S]:
        fits = budget // rows
        blocks.append((rows, D if fits >= D else fits - (fits + 1) % 2))
    fullest = max(rows * columns for rows, columns in blocks)
    full = [block for block in blocks if 16 * block[0] * block[1] >= 15 * fullest]
    return min(full, key=lambda block: max(block[0] * D / (block[1] * S), block[1] * S / (block[0] * D)))


def relative_error(bins, keeps):
    """Of the real part of what the kept bins give; that averages each bin with the conjugate of its opposite one."""
    lost = 0.0
    for u in range(S):
        for v in range(D):
            opposite = keeps(-u % S, -v % D)
            lost += abs(bins[u][v]) ** 2 * (1 - (keeps(u, v) + opposite) / 2) ** 2
    return math.sqrt(lost / energy(bins))


def energy(bins, where=lambda u, v: True):
    return sum(abs(bins[u][v]) ** 2 for u in range(S) for v in range(D) if where(u, v))


# ---- Drawing --------------------------------------------------------------------------------------------------------
CELL = 5
PANEL_WIDTH, PANEL_HEIGHT = D * CELL, S * CELL
KEPT, LOST, REGION, INK, FAINT = "#1f5fa8", "#c8401f", "#dcebdc", "#222222", "#666666"


def text(x, y, words, size=12, anchor="start", colour=INK, weight="normal"):
    return (f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{colour}" '
            f'font-weight="{weight}">{words}</text>')


def rectangle(x, y, width, height, colour, more=""):
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{colour}"{more}/>'


def axes(x, y):
    found = [text(x - 6, y + (u + 0.5) * CELL + 4, u, 10, "end", FAINT) for u in (0, 8, 16, 24, 31)]
    found += [text(x + (v + 0.5) * CELL, y + PANEL_HEIGHT + 13, v, 10, "middle", FAINT) for v in (0, 16, 32, 48, 63)]
    found.append(text(x + PANEL_WIDTH / 2, y + PANEL_HEIGHT + 27, "hidden frequency v", 11, "middle", FAINT))
    found.append(f'<text transform="translate({x - 28:g} {y + PANEL_HEIGHT / 2:g}) rotate(-90)" font-size="11" '
                 f'text-anchor="middle" fill="{FAINT}">token frequency u</text>')
    return found


def panel(x, y, title, bins, keeps, note):
    """One spectrum, u downwards and v to the right: shade of a bin = root of its magnitude over the largest."""
    found = [text(x, y - 10, title, 13, weight="bold")]
    found.append(rectangle(x, y, PANEL_WIDTH, PANEL_HEIGHT, "#ffffff", f' stroke="{FAINT}"'))
    largest = max(abs(value) for row in bins for value in row)
    for u in range(S):  # runs of kept bins as one rectangle
        v = 0
        while keeps is not None and v < D:
            end = v
            while end < D and keeps(u, end):
                end += 1
            if end > v:
                found.append(rectangle(x + v * CELL, y + u * CELL, (end - v) * CELL, CELL, REGION))
            v = end + 1
    for u in range(S):
        for v in range(D):
            shade = abs(bins[u][v]) / largest
            if shade > 1e-6:
                colour = KEPT if keeps is None or keeps(u, v) else LOST
                found.append(rectangle(x + v * CELL, y + u * CELL, CELL, CELL, colour,
                                       f' fill-opacity="{0.25 + 0.75 * math.sqrt(shade):.2f}"'))
    found += axes(x, y)
    found += [text(x + PANEL_WIDTH / 2, y + PANEL_HEIGHT / 2 - 8 + 16 * i, line, 12, "middle")
              for i, line in enumerate(note)]
    return found


def bars(x, y, errors):
    """Mean over the seeds, with a whisker of one standard deviation to both sides."""
    scale = 440
    found = [text(x, y - 10, "Relative error over 20 signals: mean and standard deviation", 13, weight="bold")]
    for tick in (0, 0.25, 0.5, 0.75, 1):
        found.append(f'<path d="M{x + 150 + tick * scale:g} {y:g}v84" stroke="#dddddd"/>')
        found.append(text(x + 150 + tick * scale, y + 98, f"{tick:g}", 10, "middle", FAINT))
    for i, (name, values) in enumerate(errors):
        mean, spread, middle = statistics.mean(values), statistics.stdev(values), y + 16 + 27 * i
        exact = mean < 1e-6
        end = x + 150 + mean * scale
        found.append(text(x + 142, middle + 4, name, 12, "end"))
        if not exact:
            found.append(rectangle(x + 150, middle - 8, mean * scale, 16, LOST, ' fill-opacity="0.75"'))
            found.append(f'<path d="M{end - spread * scale:.1f} {middle:g}h{2 * spread * scale:.1f}" '
                         f'stroke="{INK}" stroke-width="2"/>')
        label = "0 (below 0.000001 in fp32)" if exact else f"{mean:.3f} ± {spread:.3f}"
        found.append(text(end + (6 if exact else spread * scale + 8), middle + 4, label, 12))
    return found


def picture(bins, errors):
    rows, columns = low_pass_block()
    share = [100 * energy(bins, keeps) / energy(bins) for keeps in (published, with_mirror, low_pass)]
    left, right, top, below = 60, 470, 50, 275
    body = panel(left, top, "The signal: its energy is in four corners", bins, None,
                 ["u = 0 … 3 and 29 … 31", "v = 0 … 7 and 57 … 63"])
    body += panel(right, top, f"Published block, top left: {K_S} × {K_D} complex", bins, published,
                  [f"{share[0]:.0f} % of the energy is inside", "the real part halves waves without their mirror"])
    body += panel(left, below, "Second text: the block and its mirror image", bins, with_mirror,
                  [f"{share[1]:.0f} % of the energy is inside", "nothing of the other diagonal"])
    body += panel(right, below, f"Symmetric low-pass: {rows} × {columns} real", bins, low_pass,
                  [f"{share[2]:.0f} % of the energy is inside", "no more bytes than the published block"])
    legend = 492
    for x, colour, words in ((60, KEPT, "bin with energy, kept"), (245, LOST, "bin with energy, lost"),
                             (430, REGION, "what the codec restores")):
        body += [rectangle(x, legend - 10, 12, 12, colour, f' stroke="{FAINT}"'), text(x + 18, legend, words)]
    body += bars(60, 540, errors)
    head = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 655" width="820" height="655" '
            'font-family="DejaVu Sans, Helvetica, Arial, sans-serif">')
    return "\n".join([head, rectangle(0, 0, 820, 655, "#ffffff"), *body, "</svg>"]) + "\n"


def main():
    spectra = [spectrum(signal(seed)) for seed in SEEDS]
    errors = [(name, [relative_error(bins, keeps) for bins in spectra])
              for name, keeps in (("published", published), ("second text", with_mirror), ("low-pass", low_pass))]
    drawn = picture(spectra[0], errors)
    if "--check" in sys.argv[1:]:
        return 0 if PICTURE.read_text(encoding="utf-8") == drawn else f"{PICTURE} is not what this script draws"
    PICTURE.write_text(drawn, encoding="utf-8")
    for name, values in errors:
        print(f"{name}: {statistics.mean(values):.4f}, standard deviation {statistics.stdev(values):.4f}, "
              f"standard error {statistics.stdev(values) / math.sqrt(len(values)):.4f}")
    print("low-pass block:", *low_pass_block())
    return 0


if __name__ == "__main__":
    sys.exit(main())
