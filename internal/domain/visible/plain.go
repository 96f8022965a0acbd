package visible

import "github.com/trapezehq/trapeze/internal/domain/ascii"

// Plain reports whether text is ASCII that [Text] returns unchanged: the usual case, and much cheaper to test.
func Plain(text string) bool {
	for at := 0; at < len(text); {
		if at+ascii.Size <= len(text) {
			if w := ascii.At(text, at); !w.HasBeyond() && !w.HasLess(' ') {
				at += ascii.Size
				continue
			}
		}
		if b := text[at]; (b < ' ' && b != '\n' && b != '\t') || b >= 0x7F {
			return false
		}
		at++
	}
	return LongestRun(text) <= MaxBackquotes
}
