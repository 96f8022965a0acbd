package packing_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/packing"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// BenchmarkPack packs 20 memory items and 10 pinned ones, about 8,500 tokens, to 4,000: with texts that were counted
// before, as they are in a task's later envelopes.
func BenchmarkPack(b *testing.B) {
	doc := task()
	doc.Memory = nil
	for i := range 30 {
		m := envelope.MemoryRef{
			ID: fmt.Sprint("mem-", i), Version: 3, Digest: envelope.DigestOf([]byte{byte(i)}), Title: fmt.Sprint("Case note ", i),
			Text: strings.Repeat(fmt.Sprintf("The customer said on day %d that the plan was renewed twice, by card and by transfer. ", i), 14),
		}
		if i >= 20 {
			m.Pinned, m.Text = true, m.Text[:len(m.Text)/2]
		}
		doc.Memory = append(doc.Memory, m)
	}
	for _, strategy := range event.Strategies.Values()[1:] {
		b.Run(string(strategy), func(b *testing.B) {
			b.ReportAllocs()
			var p packing.Packed
			for b.Loop() {
				p = pack(b, doc, packing.Options{Budget: 4000, Strategy: strategy})
			}
			b.ReportMetric(float64(p.Tokens), "tokens")
		})
	}
}
