package idform

import "testing"

func TestEachLookAlikeLooksLikeALetter(t *testing.T) {
	if len([]rune(lookAlike)) != len([]rune(looksLike)) {
		t.Error("the tables of look-alikes differ in length")
	}
}
