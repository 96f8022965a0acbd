package search

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/view"
)

func TestWordsOfOtherScriptsAreFoundAsPeopleTypeThem(t *testing.T) {
	h := open(t)
	items := []struct {
		text    string
		queries []string
	}{
		{"Η άδεια στάθμευσης ανανεώνεται κάθε χρόνο", []string{"άδεια", "αδεια", "ΑΔΕΙΑ", "στάθμευσης", "ΣΤΑΘΜΕΥΣΗΣ", "χρονο", "ανανεωνεται"}},
		{"Τα μαΐστρια και τα λόγια", []string{"μαιστρια", "μαϊστρια", "λογια"}},
		{"Ёлка стоит, за\u0301мок и замо\u0301к", []string{"елка", "ёлка", "ЁЛКА", "замок"}},
		{"Договор аренды склада истекает в марте, а мой - в мае", []string{"договор", "АРЕНДЫ", "мой"}},
		{"הַחוֹזֶה עִם הַסַּפָּק", []string{"החוזה", "הספק", "הַחוֹזֶה"}},
		{"العَقْدُ ينتهي في سبتمبـــر", []string{"العقد", "سبتمبر", "العَقْدُ"}},
		{"हिन्दी में अनुबंध शुक्रवार को समाप्त होता है", []string{"हिन्दी", "अनुबंध", "शुक्रवार"}},
		{"বাংলা চুক্তি মার্চে শেষ", []string{"বাংলা", "চুক্তি"}},
		{"ஒப்பந்தம் மார்ச்சில் முடிகிறது", []string{"ஒப்பந்தம்"}},
		{"สัญญาเช่า สิ้นสุด มีนาคม", []string{"สัญญาเช่า", "มีนาคม"}},
		{"ხელშეკრულება მარტში სრულდება", []string{"ხელშეკრულება"}},
		{"Café, naïve e\u0301te\u0301 ❤\ufe0f", []string{"cafe", "naive", "été", "ete"}},
	}
	for i, x := range items {
		h.add(newNote(string(rune('a'+i))), memory.Remember{By: ann, ID: string(rune('a' + i)), Scope: memory.Workspace, Content: text(x.text)})
	}
	for i, x := range items {
		for _, q := range x.queries {
			found, err := h.Memory(t.Context(), "default", view.MemoryFilter{By: ann, Text: q, Now: time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC), Limit: 5})
			if err != nil {
				t.Fatal(err)
			}
			if len(found) == 0 || found[0].ID != string(rune('a'+i)) {
				t.Errorf("%q does not find %q, but %v", q, x.text, found)
			}
		}
	}
}
