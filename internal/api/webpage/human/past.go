package human

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// layouts are those of the times that people type, in UTC where they name no zone.
var layouts = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"}

// Past reads a time that a person types: how long ago, such as 90m, 2h or 7d, or a time, such as 2026-11-27 or 2026-11-27 14:30. Of no text it is the zero time.
func Past(now time.Time, text string) (time.Time, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= 100_000 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, strings.ToUpper(text)); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%.30q is no time", text)
}
