//go:build slow

package natslog

import (
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// What is read in one pass is what JSON says, and anything else is left to that.
func TestAnAnswerToAnAppendIsReadInOnePassIfItIsAsUsual(t *testing.T) {
	for _, tt := range []struct {
		answer string
		want   ledger.Position // 0: an error
		once   bool            // in one pass
	}{
		{`{"stream":"S","seq":1}`, 1, true},
		{`{"stream":"S","seq":18446744073709551615}`, 1<<64 - 1, true},
		{`{"stream":"S","seq":0}`, 0, false},
		{`{"stream":"S","seq":-1}`, 0, false},
		{`{"stream":"S","seq":+1}`, 0, false},
		{`{"stream":"S","seq":1 }`, 1, false},
		{`{"stream":"S","seq":18446744073709551616}`, 0, false},
		{`{"stream":"S","seq":}`, 0, false},
		{`{"stream":"S","seq":1`, 0, false},
		{`{"stream":"SO","seq":1}`, 0, false},
		{`{"stream":"","seq":1}`, 0, false},
		{`{"stream":"S","domain":"D","seq":7}`, 7, false},
		{`{"stream":"S","seq":7,"duplicate":true}`, 7, false},
		{`{"seq":7,"stream":"S"}`, 7, false},
		{`{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 1"},"stream":"S","seq":0}`, 0, false},
		{`{"stream":"S","seq":5,"error":{"code":503,"err_code":10008}}`, 0, false},
		{``, 0, false},
	} {
		at, once := readStored([]byte(tt.answer), "S")
		if once != tt.once || once && at != tt.want {
			t.Errorf("%s is read in one pass as %d, %v", tt.answer, at, once)
		}
		if at, err := readAnswer([]byte(tt.answer), "S"); at != tt.want || (err == nil) != (tt.want > 0) {
			t.Errorf("%s is %d, %v", tt.answer, at, err)
		}
	}
}

func BenchmarkReadAnswer(b *testing.B) {
	for b.Loop() {
		if at, err := readAnswer([]byte(`{"stream":"TRAPEZE","seq":1234567}`), "TRAPEZE"); err != nil || at == 0 {
			b.Fatal(at, err)
		}
	}
}
