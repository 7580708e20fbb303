"""Byte-pair tokenizer in the format of llama2.c: training, file, encode and decode.

Ids: 0 <unk>, 1 BOS, 2 EOS, 3..258 raw bytes, then pieces: first the single characters of the
text, then merges in the order in which they were found. The score of a piece is minus its rank,
so that encoding repeats the merges in the order of training.
"""

from __future__ import annotations

import argparse
import re
import struct
from collections import Counter, defaultdict
from pathlib import Path

import text

BOS = 1
FIRST_BYTE = 3
FIRST_PIECE = FIRST_BYTE + 256
SPECIAL = [b"<unk>", b"\n<s>\n", b"\n</s>\n"] + [b"<0x%02X>" % byte for byte in range(256)]

Pair = tuple[str, str]


def split_at_spaces(characters: str) -> list[str]:
    """Words with the space in front of them: no piece has a space inside, so none reaches across."""
    return re.findall(r" ?[^ ]+| ", characters)


def split_words(characters: str) -> list[str]:
    """What pieces are learned from: runs of letters apart from punctuation, with the space in front."""
    return re.findall(r" ?[A-Za-z]+| ?[^A-Za-z ]+| ", characters)


class Tokenizer:
    """Pieces by id with their scores."""

    def __init__(self, pieces: list[bytes], scores: list[float]) -> None:
        self.pieces = pieces
        self.scores = scores
        learned = [piece.decode() for piece in pieces[FIRST_PIECE:]]
        if any(" " in piece[1:] for piece in learned):
            raise ValueError("a piece has a space inside; pieces have to end where a word ends")
        self._ids = {piece: FIRST_PIECE + i for i, piece in reversed(list(enumerate(learned)))}
        self._words: dict[str, list[int]] = {}

    def encode(self, characters: str) -> list[int]:
        """BOS, then the ids of the text with a space in front. Words are independent of each other."""
        ids = [BOS]
        for word in split_at_spaces(" " + characters):
            if word not in self._words:
                self._words[word] = self.merge(self.single_characters(word))
            ids += self._words[word]
        return ids

    def decode(self, ids: list[int]) -> str:
        """Text of the ids, without the space that encode() put in front."""
        text_bytes = b"".join(self._bytes(i) for i in ids if i >= FIRST_BYTE)
        return text_bytes.decode(errors="replace").removeprefix(" ")

    def single_characters(self, word: str) -> list[int]:
        """One id a character; a character without a piece is written as its UTF-8 bytes."""
        ids: list[int] = []
        for character in word:
            known = self._ids.get(character)
            ids += [known] if known is not None else [FIRST_BYTE + byte for byte in character.encode()]
        return ids

    def merge(self, ids: list[int]) -> list[int]:
        """Joins the adjacent pair whose concatenation has the best score (leftmost first) until none is left."""
        ids = list(ids)
        while True:
            joined = [self._joined(left, right) for left, right in zip(ids, ids[1:])]
            places = [i for i, piece in enumerate(joined) if piece is not None]
            if not places:
                return ids
            best = max(places, key=lambda i: (self.scores[joined[i]], -i))
            ids[best : best + 2] = [joined[best]]

    def save(self, path: Path) -> None:
        """int32 length of the longest piece; for each piece float32 score, int32 length, bytes."""
        longest = max(len(piece) for piece in self.pieces[FIRST_PIECE:])
        with path.open("wb") as file:
            file.write(struct.pack("<i", longest))
            for piece, score in zip(self.pieces, self.scores):
                file.write(struct.pack("<fi", score, len(piece)) + piece)

    def _joined(self, left: int, right: int) -> int | None:
        if min(left, right) < FIRST_PIECE:
            return None
        return self._ids.get((self.pieces[left] + self.pieces[right]).decode())

    def _bytes(self, i: int) -> bytes:
        return bytes([i - FIRST_BYTE]) if i < FIRST_PIECE else self.pieces[i]


def load(path: Path) -> Tokenizer:
    """Reads a tokenizer.bin to its end."""
    content = path.read_bytes()
    pieces, scores, place = [], [], 4
    while place < len(content):
        score, length = struct.unpack_from("<fi", content, place)
        place += 8
        pieces.append(content[place : place + length])
        scores.append(score)
        place += length
    return Tokenizer(pieces, scores)


class Merges:
    """Counts of adjacent pairs in all distinct words, kept up to date while pairs are merged."""

    def __init__(self, words: Counter[str]) -> None:
        self.words = [list(word) for word in words]
        self.frequencies = list(words.values())
        self.counts: Counter[Pair] = Counter()
        self.users: dict[Pair, set[int]] = defaultdict(set)
        for i in range(len(self.words)):
            self._count(i, +1)

    def best(self) -> Pair:
        """The most frequent pair; of equals the first in the alphabet."""
        return min(self.counts, key=lambda pair: (-self.counts[pair], pair))

    def apply(self, pair: Pair) -> None:
        """Replaces the pair by its concatenation in every word."""
        for i in sorted(self.users.pop(pair)):
            self._count(i, -1)
            self.words[i] = joined(self.words[i], pair)
            self._count(i, +1)
        del self.counts[pair]

    def _count(self, i: int, sign: int) -> None:
        for pair in zip(self.words[i], self.words[i][1:]):
            self.counts[pair] += sign * self.frequencies[i]
            if sign > 0:
                self.users[pair].add(i)


def joined(symbols: list[str], pair: Pair) -> list[str]:
    """The symbols with every occurrence of the pair made one symbol, from left to right."""
    result: list[str] = []
    for symbol in symbols:
        if result and (result[-1], symbol) == pair:
            result[-1] += symbol
        else:
            result.append(symbol)
    return result


def train(texts: list[str], vocabulary: int) -> Tokenizer:
    """Byte-pair encoding (Sennrich et al., ACL 2016) of the texts, up to `vocabulary` ids in all."""
    words: Counter[str] = Counter()
    for characters in texts:
        words.update(split_words(" " + characters))
    pieces = sorted(set("".join(words)))
    merges = Merges(words)
    while FIRST_PIECE + len(pieces) < vocabulary:
        pair = merges.best()
        merges.apply(pair)
        pieces.append("".join(pair))
    scores = [0.0] * FIRST_PIECE + [-float(rank) for rank in range(len(pieces))]
    return Tokenizer(SPECIAL + [piece.encode() for piece in pieces], scores)


def main() -> None:
    parser = argparse.ArgumentParser(description="Trains the tokenizer on the chapters that are not held out.")
    parser.add_argument("output", type=Path, help="tokenizer.bin to write")
    parser.add_argument("--vocabulary", type=int, default=1024)
    arguments = parser.parse_args()
    kept, _ = text.hold_out(text.read_chapters())
    train(kept, arguments.vocabulary).save(arguments.output)


if __name__ == "__main__":
    main()
