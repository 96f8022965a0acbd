package idform

import (
	"slices"
	"strings"
	"unicode"
)

// blanks are the symbols and letters whose glyph is empty: of braille, musical, Egyptian and Khitan script.
const blanks = "\u2800\U0001D159\U00013441\U00013442\U00016FE4"

// Invisible reports whether a character that is no white space and no control cannot be seen, so that no id, name or rule has it.
func Invisible(r rune) bool {
	return r > unicode.MaxASCII && (ignorable(r) || strings.ContainsRune(blanks, r))
}

// ignorable reports whether a character is Default_Ignorable_Code_Point, by its derivation in UAX #44, table 9.
func ignorable(r rune) bool {
	switch {
	case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r), unicode.Is(unicode.Variation_Selector, r):
		return true
	case !unicode.Is(unicode.Cf, r), unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	}
	return r < 0xfff9 || r > 0xfffb && (r < 0x13430 || r > 0x1345f)
}

// Letters of other scripts that look like those of ASCII, by place; after UTS #39, but for lower case alone.
const (
	lookAlike = "аеорсухіјѕԁԛԝһкмтвнгпαορνυκιτχγηεβωσı"
	looksLike = "aeopcyxijsdqwhkmtbhrnaopvukitxynebwoi"
)

// alike maps what cannot be told apart in ASCII.
var alike = strings.NewReplacer("rn", "m", "vv", "w", "0", "o", "1", "l", "i", "l")

// Skeleton is what is left of an id for a hasty reader: neither separators nor punctuation. Ids of the record can have any script.
func Skeleton(id string) string {
	like := []rune(looksLike)
	var b strings.Builder
	for _, r := range strings.ToLower(id) {
		switch {
		case ignorable(r):
			continue
		case r >= 0xff01 && r <= 0xff5e: // fullwidth
			r = unicode.ToLower(r - 0xfee0)
		}
		if unicode.IsPunct(r) || unicode.IsSymbol(r) || unicode.IsSpace(r) {
			continue
		}
		if i := slices.Index([]rune(lookAlike), r); i >= 0 {
			r = like[i]
		}
		b.WriteRune(r)
	}
	return alike.Replace(b.String())
}
