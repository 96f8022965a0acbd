package wire

import (
	"strings"
	"time"
)

// Duration writes a duration as Go does, without zeros at its end: 10m, 1h30m. All of Trapeze has this spelling.
func Duration(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}
