//go:build slow && !race

package tokenizer

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/dlclark/regexp2/v2"
	"github.com/tiktoken-go/tokenizer/codec"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the tokens of the library into the lists, and its counts of some texts")

// libraries are the library's form of each vocabulary. Of its patterns, written here letter by letter, it has compiled forms, which regexp2 then uses.
var libraries = map[string]struct {
	*codec.Codec
	pattern *regexp2.Regexp
	least   int // tokens
}{
	O200kBase: {codec.NewO200kBase(), regexp2.MustCompile(
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?`+
			`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?`+
			`|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`, regexp2.None), 199_000},
	Cl100kBase: {codec.NewCl100kBase(), regexp2.MustCompile(
		`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`, regexp2.None), 100_000},
}

var own = map[string]func() *vocabulary{O200kBase: o200kBase, Cl100kBase: cl100kBase}

// TestTheTokensAreThoseOfTheLibrary compares the lists of tokens, byte by byte.
func TestTheTokensAreThoseOfTheLibrary(t *testing.T) {
	for name, library := range libraries {
		var list []byte
		n := 0
		for id := range uint(201_000) {
			token, err := library.Decode([]uint{id})
			if err != nil { // no token has that number
				continue
			}
			list = append(append(list, byte(len(token))), token...)
			n++
		}
		if *update {
			if err := os.WriteFile(name+".tokens", list, 0o644); err != nil { //nolint:gosec // a part of the program
				t.Fatal(err)
			}
			continue
		}
		if have := own[name]().tokens.list; n < library.least || string(list) != have {
			t.Errorf("the library has %d tokens of %s, in %d bytes; the list has %d, and they differ: run the test with -update", n, name, len(list), len(have))
		}
	}
}

// samePieces splits a text by the patterns and without them.
func samePieces(t rapid.TB, text string) {
	t.Helper()
	for name, library := range libraries {
		var want, got []string
		for m, err := library.pattern.FindStringMatch(text); m != nil || err != nil; m, err = library.pattern.FindNextMatch(m) {
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, m.String())
		}
		for rest := text; rest != ""; {
			end := own[name]().tokens.split(rest)
			if rest[:end] != "\x7f" { // which the library skips
				got = append(got, rest[:end])
			}
			rest = rest[end:]
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s: %q is split into %q, want %q", name, text, got, want)
		}
	}
}

func TestATextIsSplitAsByThePatternsOfTheLibrary(t *testing.T) {
	of := []*rapid.Generator[rune]{
		rapid.SampledFrom([]rune("stremvldSTREMVLDſK''''/\n\n\r  aA\u0301")), rapid.SampledFrom([]rune("'sreAa \n")), rapid.Rune(),
	}
	for _, table := range []*unicode.RangeTable{
		unicode.Lu, unicode.Lt, unicode.Ll, unicode.Lm, unicode.Lo, unicode.M, unicode.N, unicode.White_Space, unicode.P, unicode.S,
	} {
		of = append(of, rapid.RuneFrom(nil, table))
	}
	texts := rapid.StringOfN(rapid.OneOf(of...), 1, 20, -1)
	for range 50 {
		rapid.Check(t, func(t *rapid.T) { samePieces(t, texts.Draw(t, "text")) })
	}
}

func TestEachCharacterIsSplitAsByThePatternsOfTheLibrary(t *testing.T) {
	var b strings.Builder
	for r := range rune(unicode.MaxRune + 1) {
		if r >= 0xD800 && r < 0xE000 { // half of a character
			continue
		}
		c := string(r)
		b.WriteString(c + "a" + c + "B" + c + c + "9 " + c + "'" + c + "." + c + "\n")
		if r%64 == 63 {
			samePieces(t, b.String())
			b.Reset()
		}
	}
}

func TestLongAndShortPiecesAreMergedAsByTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := pieces.Draw(t, "text")
		for name, library := range libraries {
			want, err := library.Count(text)
			want += strings.Count(text, "\x7f") // which the library skips
			if got := own[name]().tokens.count(text); got != want || err != nil {
				t.Errorf("%s: %q has %d tokens, want %d (%v)", name, text, got, want, err)
			}
		}
	})
}

// TestTheRecordedCountsAreThoseOfTheLibrary is for the tests that do without it.
func TestTheRecordedCountsAreThoseOfTheLibrary(t *testing.T) {
	texts := []string{
		"it'Tx it'Sx it'Mx it'Dx IT'TX 20ºC it's IT'S it't it're it'VE it'm it'll it'LL it'd it'lx it'x 'tis", "oldſ'ſ", "漢A漢字Ab漢", "字Aʰ漢B", "ʰABC ʰABc", "AB\u0301CD", "\u0301AB", ".\u0301 a\u0301b",
		"\x7fa", "a \x7f\x7fb", " \x7f.\x7f", "12\x7f3", "ǅabc Ǆǅ", "1٣²Ⅷ½", "./\n/\n", "x.\r\n/y", " .\n\n a",
	}
	for seed := range 800 {
		texts = append(texts, pieces.Example(seed), Edges.Example(seed))
	}
	slices.Sort(texts)
	var list []recorded
	for _, text := range slices.Compact(texts) {
		del := strings.Count(text, "\x7f") // which the library skips
		o200k, err := libraries[O200kBase].Count(text)
		if err != nil {
			t.Fatal(err)
		}
		cl100k, err := libraries[Cl100kBase].Count(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, recorded{text, o200k + del, cl100k + del})
	}
	want, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile(recordedFile, want, 0o644); err != nil { //nolint:gosec // no secret
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(recordedFile); err != nil || string(have) != string(want) {
		t.Errorf("%s differs from what the library counts: run the test with -update (%v)", recordedFile, err)
	}
}
