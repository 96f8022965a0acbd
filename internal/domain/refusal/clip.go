package refusal

// Clip shortens text to at most n bytes, at a character's end. Messages and records quote what came from outside only
// clipped.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}
