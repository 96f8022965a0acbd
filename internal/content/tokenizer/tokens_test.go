package tokenizer

import (
	"flag"
	"os"
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the tokens of the library into the lists")

// TestTheTokensAreThoseOfTheLibrary compares the lists of tokens, byte by byte.
func TestTheTokensAreThoseOfTheLibrary(t *testing.T) {
	for name, c := range map[string]struct {
		library *codec.Codec
		tokens  string
		least   int
	}{O200kBase: {codec.NewO200kBase(), o200kTokens, 199_000}, Cl100kBase: {codec.NewCl100kBase(), cl100kTokens, 100_000}} {
		var list []byte
		n := 0
		for id := range uint(201_000) {
			token, err := c.library.Decode([]uint{id})
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
		if n < c.least || string(list) != c.tokens {
			t.Errorf("the library has %d tokens of %s, in %d bytes; the list has %d, and they differ: run the test with -update", n, name, len(list), len(c.tokens))
		}
	}
}

func TestLongAndShortPiecesAreMergedAsByTheLibrary(t *testing.T) {
	library, own := codec.NewO200kBase(), o200kBase().tokens
	few := rapid.StringOfN(rapid.SampledFrom([]rune("abeAE")), 1, 2*maxShort, -1)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(few, rapid.StringN(1, -1, 2*maxShort)).Draw(t, "text")
		want, err := library.Count(text)
		if got, cerr := own.count(text); got != want || err != nil || cerr != nil {
			t.Errorf("%q has %d tokens, want %d (%v, %v)", text, got, want, err, cerr)
		}
		if len(text) <= maxShort && own.short(text) != own.long(text) {
			t.Errorf("%q has %d tokens as a short piece, %d as a long one", text, own.short(text), own.long(text))
		}
	})
}
