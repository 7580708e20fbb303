"""The text: the King James Bible as Debian's package bible-kjv prints it, by chapters."""

from __future__ import annotations

import re
import subprocess

COMMAND = ["bible", "-f", "Gen1:1-Rev22:21"]
CHAPTERS = 1189
HOLD_OUT_EVERY = 20
FIRST_HELD_OUT = 7  # counted from 0: Genesis 8
VERSE = re.compile(r"(\d?[A-Za-z]+\d+):\d+ (.+)")  # "1Sm2:3 Talk no more ..." is chapter 1Sm2


def printed_text() -> str:
    """What the program `bible` prints: one verse a line, each with its place in front."""
    try:
        return subprocess.run(COMMAND, check=True, capture_output=True, text=True).stdout
    except FileNotFoundError:
        raise SystemExit("'bible' is not installed; write: apt-get install bible-kjv") from None


def split_chapters(printed: str) -> list[str]:
    """Verses without their places, joined by single spaces, one string a chapter."""
    chapters: dict[str, list[str]] = {}
    for line in printed.splitlines():
        verse = VERSE.fullmatch(line.strip())
        if verse is None:
            raise ValueError(f"'{line}' is not a verse; expected for example 'Ge1:1 In the beginning'")
        chapters.setdefault(verse[1], []).extend(verse[2].split())
    return [" ".join(words) for words in chapters.values()]


def read_chapters() -> list[str]:
    """All chapters in the order of the book."""
    chapters = split_chapters(printed_text())
    if len(chapters) != CHAPTERS:
        raise ValueError(f"'bible' printed {len(chapters)} chapters; expected {CHAPTERS}")
    return chapters


def hold_out(chapters: list[str]) -> tuple[list[str], list[str]]:
    """Chapters to train on, and every 20th from Genesis 8 on, which training never sees."""
    kept = [chapter for i, chapter in enumerate(chapters) if i % HOLD_OUT_EVERY != FIRST_HELD_OUT]
    return kept, chapters[FIRST_HELD_OUT::HOLD_OUT_EVERY]
