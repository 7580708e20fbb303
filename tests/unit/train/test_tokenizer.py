"""The tokenizer against a case worked by hand and against the encoding of llama2.c written plainly."""

import shutil
import tempfile
import unittest
from pathlib import Path

import reference
import text
import tokenizer

SENTENCE = "Then were the king's scribes called: and it was written, from India unto Ethiopia."


def plain_encoding(pieces: tokenizer.Tokenizer, characters: str) -> list[int]:
    """As llama2.c does it: characters of the whole text first, then one best merge after another."""
    ids = {piece: i for i, piece in enumerate(pieces.pieces) if i >= tokenizer.FIRST_PIECE}
    result = [tokenizer.BOS]
    for character in " " + characters:
        code = character.encode()
        result += [ids[code]] if code in ids else [byte + 3 for byte in code]
    while True:
        best, place = -1e10, -1
        for i in range(len(result) - 1):
            both = pieces.pieces[result[i]] + pieces.pieces[result[i + 1]]
            if both in ids and pieces.scores[ids[both]] > best:
                best, place = pieces.scores[ids[both]], i
        if place < 0:
            return result
        both = pieces.pieces[result[place]] + pieces.pieces[result[place + 1]]
        result[place : place + 2] = [ids[both]]


class Training(unittest.TestCase):
    def test_merges_the_most_frequent_pair_first(self) -> None:
        """' aab aab ab': 'ab' 3 times, ' a' 3 times; of equals ' a' is first in the alphabet. Then the words are
        (' a' 'a' 'b') twice and (' a' 'b'): 'ab' and ' aa' twice each, ' ab' once; ' aa' < 'ab' in the alphabet."""
        trained = tokenizer.train(["aab aab ab"], tokenizer.FIRST_PIECE + 5)
        self.assertEqual(trained.pieces[tokenizer.FIRST_PIECE :], [b" ", b"a", b"b", b" a", b" aa"])
        self.assertEqual(trained.scores[tokenizer.FIRST_PIECE :], [0.0, -1.0, -2.0, -3.0, -4.0])

    def test_counts_stay_those_of_a_fresh_count(self) -> None:
        words = tokenizer.Counter({" banana": 3, " bandana": 2, "aaa": 5})
        merges = tokenizer.Merges(words)
        for _ in range(4):
            merges.apply(merges.best())
            counted: tokenizer.Counter = tokenizer.Counter()
            for word, frequency in zip(merges.words, merges.frequencies):
                for pair in zip(word, word[1:]):
                    counted[pair] += frequency
            self.assertEqual(+merges.counts, counted)

    def test_pieces_do_not_reach_from_a_word_into_punctuation(self) -> None:
        self.assertEqual(tokenizer.split_words(" the LORD's, yea"), [" the", " LORD", "'", "s", ",", " yea"])


class Encoding(unittest.TestCase):
    def setUp(self) -> None:
        self.pieces = tokenizer.train([SENTENCE], tokenizer.FIRST_PIECE + 60)

    def test_is_that_of_llama2c(self) -> None:
        for characters in (SENTENCE, "the  king, Æneas\n was called called", ""):
            self.assertEqual(self.pieces.encode(characters), plain_encoding(self.pieces, characters))

    def test_decoding_gives_the_text_back(self) -> None:
        for characters in (SENTENCE, "Æneas\n", ""):
            self.assertEqual(self.pieces.decode(self.pieces.encode(characters)), characters)

    def test_unknown_characters_are_bytes(self) -> None:
        self.assertEqual(self.pieces.encode("Æ")[-2:], [0xC3 + 3, 0x86 + 3])

    def test_a_file_gives_the_same_tokenizer(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tokenizer.bin"
            self.pieces.save(path)
            again = tokenizer.load(path)
        self.assertEqual((again.pieces, again.scores), (self.pieces.pieces, self.pieces.scores))

    def test_a_piece_with_a_space_inside_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "space inside"):
            tokenizer.Tokenizer(tokenizer.SPECIAL + [b"a b"], [0.0] * 260)


class Text(unittest.TestCase):
    def test_verses_become_chapters(self) -> None:
        printed = "Ge1:1 In the beginning\nGe1:2 And  the earth\n1Sm2:3 Talk no more\n"
        self.assertEqual(text.split_chapters(printed), ["In the beginning And the earth", "Talk no more"])
        with self.assertRaisesRegex(ValueError, "'Genesis' is not a verse"):
            text.split_chapters("Genesis\n")

    def test_every_twentieth_chapter_is_held_out(self) -> None:
        kept, held_out = text.hold_out([str(i) for i in range(text.CHAPTERS)])
        self.assertEqual(held_out[:2] + held_out[-1:], ["7", "27", "1187"])
        self.assertEqual((len(kept), len(held_out)), (1129, 60))
        self.assertFalse(set(kept) & set(held_out))

    @unittest.skipUnless(shutil.which("bible"), "bible-kjv is not installed")
    def test_the_package_prints_the_whole_book(self) -> None:
        chapters = text.read_chapters()
        self.assertTrue(chapters[0].startswith("In the beginning God created the heaven and the earth."))
        self.assertTrue(chapters[-1].endswith("The grace of our Lord Jesus Christ be with you all. Amen."))

    @unittest.skipUnless(shutil.which("bible"), "bible-kjv is not installed")
    @unittest.skipUnless(reference.present("kjv_tok1024.bin"), reference.MISSING)
    def test_the_shipped_tokenizer_encodes_chapters_as_llama2c_does(self) -> None:
        pieces = tokenizer.load(reference.path("kjv_tok1024.bin"))
        self.assertEqual(len(pieces.pieces), 1024)
        for chapter in text.hold_out(text.read_chapters())[1][::20]:
            beginning = chapter[:1000]
            self.assertEqual(pieces.encode(beginning), plain_encoding(pieces, beginning))
            self.assertEqual(pieces.decode(pieces.encode(chapter)), chapter)

    @unittest.skipUnless(shutil.which("bible"), "bible-kjv is not installed")
    @unittest.skipUnless(reference.present("kjv_tok1024.bin"), reference.MISSING)
    def test_training_finds_the_pieces_of_the_shipped_tokenizer(self) -> None:
        """Not all in the same order: where counts are equal, the shipped file follows another rule."""
        shipped = tokenizer.load(reference.path("kjv_tok1024.bin"))
        own = tokenizer.train(text.hold_out(text.read_chapters())[0], 1024)
        self.assertEqual(set(own.pieces), set(shipped.pieces))


if __name__ == "__main__":
    unittest.main()
