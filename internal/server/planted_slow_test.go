//go:build slow

package server

import (
	"strings"
	"testing"
)

// TestWhatIsPlantedInTheFileIsNamed by the verification, and no server starts on it. It has a trigger that acts when the server writes next, and leaves all content as it is until then.
func TestWhatIsPlantedInTheFileIsNamed(t *testing.T) {
	t.Parallel()
	dir, _, _, kept := recorded(t)
	for what, statement := range map[string]string{
		"trigger": "CREATE TRIGGER later AFTER INSERT ON view_inbox WHEN NEW.agent = 'carol' BEGIN DELETE FROM view_inbox WHERE agent = 'carol';END",
		"view":    "CREATE VIEW later AS SELECT * FROM view_task",
	} {
		copied := copyOf(t, dir)
		db := database(t, copied)
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if found := verified(t, copied, kept); len(found) != 1 || !strings.Contains(found[0].What, what+` named "later"`) {
			t.Errorf("with a %s, what is found is %v", what, found)
		}
		if s, err := Open(t.Context(), Config{DataDir: copied, Addr: "127.0.0.1:0"}); err == nil || !strings.Contains(err.Error(), what+` named "later"`) {
			if err == nil {
				stop(t, s)
			}
			t.Errorf("with a %s, a server starts: %v", what, err)
		}
	}
}
