package identity_test

import (
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/identity"
)

func TestAnAgentHasOneSpellingInEveryDocument(t *testing.T) {
	for doc, want := range map[string]string{
		`{"by":"agent/ann"}`: `{"by":"ann"}`,
		"{\"by\": \"agent/ann~2\",\n \"owner\" :\"operator/ann\"}": "{\"by\": \"ann~2\",\n \"owner\" :\"operator/ann\"}",
		`{"for":["agent/a","agent/b"],"n":1,"to":"agent/c"}`:       `{"for":["a","b"],"n":1,"to":"c"}`,
		`[{"x":{"from":"agent/a"}},{"from":"agent/b"}]`:            `[{"x":{"from":"a"}},{"from":"b"}]`,
		`{"chain":{"name":"agent/a","level":1},"name":"agent/b"}`:  `{"chain":{"name":"a","level":1},"name":"agent/b"}`,
		// Not the server's: texts, data of agents, sealed documents, what is no name.
		`{"text":"agent/ann","note":"by agent/ann"}`:                              `{"text":"agent/ann","note":"by agent/ann"}`,
		`{"data":{"by":"agent/ann"},"by":"agent/ann"}`:                            `{"data":{"by":"agent/ann"},"by":"ann"}`,
		`{"document":{"from":"agent/a"},"claimed_history":[{"agent":"agent/b"}]}`: `{"document":{"from":"agent/a"},"claimed_history":[{"agent":"agent/b"}]}`,
		`{"envelope":{"handoff":{"from":"agent/a"}},"z":[{"by":"agent/b"}]}`:      `{"envelope":{"handoff":{"from":"agent/a"}},"z":[{"by":"b"}]}`,
		`{"by":"agent/ann and others"}`:                                           `{"by":"agent/ann and others"}`,
		`{"by":"agent\/ann"}`:                                                     `{"by":"agent\/ann"}`,
		`{"by":"agent\/ann","to":"agent/ann"}`:                                    `{"by":"agent\/ann","to":"ann"}`,
		`{"agent/ann":"by"}`:                                                      `{"agent/ann":"by"}`,
		`"agent/ann"`:                                                             `"agent/ann"`,
		`{"by":"agent/ann"`:                                                       `{"by":"ann"`,
		`{"by":"agent/ann",]`:                                                     `{"by":"ann",]`,
		``:                                                                        ``,
	} {
		if got := string(identity.BareAgents([]byte(doc))); got != want {
			t.Errorf("%s: %s, want %s", doc, got, want)
		}
	}
}

func FuzzBareAgents(f *testing.F) {
	f.Add([]byte(`{"by":"agent/ann","to":["agent/b"],"data":{"by":"agent/c"}}`))
	f.Add([]byte(`[[{"by":"agent/ann"}],`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		once := identity.BareAgents(doc)
		if twice := identity.BareAgents(once); string(twice) != string(once) {
			t.Errorf("%q: %q, then %q", doc, once, twice)
		}
	})
}
