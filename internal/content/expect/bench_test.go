package expect_test

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/content/expect"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// BenchmarkRefusal is a refused result: of an ordinary schema, which is the baseline, and of schemas whose branches double, or triple,
// at ten levels.
func BenchmarkRefusal(b *testing.B) {
	for _, s := range []struct{ name, schema, result string }{
		{"ordinary", `{"type":"object","required":["name"],"properties":{"n":{"type":"number"}}}`, `{"n":"x"}`},
		{"ten anyOf of 2", chain(10, `{"anyOf":[NEXT,NEXT]}`), `1`},
		{"ten anyOf of 3", chain(10, `{"anyOf":[NEXT,NEXT,NEXT]}`), `1`},
		{"ten oneOf of 3 with a constant", strings.Replace(chain(10, `{"oneOf":[NEXT,NEXT,NEXT]}`), `false`, `{"const":"x"}`, 1), `1`},
	} {
		b.Run(s.name, func(b *testing.B) {
			c := expect.New(expect.Options{})
			e, r := expected(s.schema), event.Result{Text: s.result}
			for b.Loop() {
				if _, err := c.Check(e, r); err == nil {
					b.Fatal("the result was taken")
				}
			}
		})
	}
}
