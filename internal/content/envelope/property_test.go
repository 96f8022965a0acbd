package envelope_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

var (
	anyText  = rapid.String()
	someText = rapid.Map(anyText, func(s string) string { return "." + s })
	anyName  = rapid.StringMatching(`[a-zA-Z0-9._:@-]{1,20}`)
	anyTime  = rapid.Map(rapid.Int64Range(0, 4e18), func(n int64) time.Time { return time.Unix(0, n) })
	anyJSON  = rapid.Custom(func(t *rapid.T) json.RawMessage {
		raw, err := json.Marshal(drawJSON(t, 4))
		if err != nil {
			t.Fatal(err)
		}
		return raw
	})
	anySchema = rapid.Map(rapid.MapOf(anyText, anyText), func(m map[string]string) json.RawMessage {
		raw, _ := json.Marshal(m) // a map of strings cannot fail
		return raw
	})
)

func drawJSON(t *rapid.T, depth int) any {
	switch rapid.IntRange(0, 5).Draw(t, "sort") {
	case 0:
		return rapid.Bool().Draw(t, "bool")
	case 1:
		return rapid.Float64Range(-1e15, 1e15).Draw(t, "number")
	case 2:
		return anyText.Draw(t, "text")
	case 3:
		list := []any{}
		for range rapid.IntRange(0, depth).Draw(t, "n") {
			list = append(list, drawJSON(t, depth-1))
		}
		return list
	case 4:
		object := map[string]any{}
		for range rapid.IntRange(0, depth).Draw(t, "n") {
			object[anyText.Draw(t, "key")] = drawJSON(t, depth-1)
		}
		return object
	}
	return nil
}

func drawItems(t *rapid.T, name string) []envelope.Item {
	var list []envelope.Item
	for i := range rapid.IntRange(0, 4).Draw(t, name) {
		list = append(list, envelope.Item{ID: "i" + strconv.Itoa(i), Text: someText.Draw(t, "text"), By: rapid.SampledFrom([]string{"", "ben", "operator/ann"}).Draw(t, "by")})
	}
	return list
}

func drawEnvelope(t *rapid.T) envelope.Envelope {
	e := envelope.Envelope{
		CreatedAt: anyTime.Draw(t, "created"), Hops: rapid.IntRange(0, 100).Draw(t, "hops"),
		Priority: rapid.SampledFrom(event.Priorities.Values()).Draw(t, "priority"),
		Handoff: envelope.Header{
			TaskID: anyName.Draw(t, "task"), From: anyName.Draw(t, "from"), To: rapid.SliceOfN(anyName, 0, 3).Draw(t, "to"),
			Kind: rapid.SampledFrom(event.Kinds.Values()).Draw(t, "kind"), Reason: rapid.SampledFrom(event.Reasons.Values()).Draw(t, "reason"),
			Detail: anyText.Draw(t, "detail"), Notes: anyText.Draw(t, "notes"),
		},
		Task:                envelope.Task{Intent: someText.Draw(t, "intent"), State: anyText.Draw(t, "state"), Data: anyJSON.Draw(t, "data")},
		ConversationSummary: anyText.Draw(t, "summary"),
		KeyFacts:            drawItems(t, "facts"), Decisions: drawItems(t, "decisions"),
		OpenQuestions:  rapid.SliceOfN(someText, 0, 3).Draw(t, "questions"),
		Confidence:     rapid.Ptr(rapid.Float64Range(0, 1), true).Draw(t, "confidence"),
		ExpectedOutput: envelope.Expected{Criteria: rapid.SliceOfN(someText, 0, 2).Draw(t, "criteria"), Schema: anySchema.Draw(t, "schema")},
	}
	for range rapid.IntRange(0, 3).Draw(t, "steps") {
		e.History = append(e.History, envelope.Step{
			Time: anyTime.Draw(t, "time"), Agent: anyName.Draw(t, "agent"),
			Action: someText.Draw(t, "action"), Detail: anyText.Draw(t, "detail"),
		})
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "constraints") {
		e.Constraints = append(e.Constraints, envelope.Constraint{
			ID: "c" + strconv.Itoa(i), Kind: event.ConstraintSecurity, Text: someText.Draw(t, "text"),
			Max:   rapid.Ptr(rapid.Float64Range(-1e9, 1e9), true).Draw(t, "max"),
			MaxBy: rapid.SampledFrom([]string{"", "agent/ben"}).Draw(t, "max by"), Added: rapid.Bool().Draw(t, "added"),
		})
	}
	if rapid.Bool().Draw(t, "packed") {
		drawRefs(t, &e)
	}
	if rapid.Bool().Draw(t, "newer") {
		e.Version = "1.5"
		e.Extra = envelope.Extra{"x" + anyText.Draw(t, "extra"): anyJSON.Draw(t, "extra value")}
		e.Task.Extra = envelope.Extra{"y": anyJSON.Draw(t, "extra value")}
		for i := range e.Memory {
			e.Memory[i].Extra = envelope.Extra{"z": anyJSON.Draw(t, "extra value")}
		}
		if e.Packing.Strategy != "" {
			e.Packing.Extra = envelope.Extra{"z": anyJSON.Draw(t, "extra value")}
		}
	}
	return e
}

// drawRefs fills in what version 1.1 brought.
func drawRefs(t *rapid.T, e *envelope.Envelope) {
	share := rapid.Float64Range(0, 1)
	count := rapid.IntRange(0, 1<<31-1)
	digest := rapid.Map(rapid.SliceOf(rapid.Byte()), envelope.DigestOf)
	for i := range rapid.IntRange(0, 3).Draw(t, "memory") {
		e.Memory = append(e.Memory, envelope.MemoryRef{
			ID: "m" + strconv.Itoa(i), Version: count.Draw(t, "version"), Digest: digest.Draw(t, "digest"),
			Title: anyText.Draw(t, "title"), Text: someText.Draw(t, "text"), Tokens: count.Draw(t, "tokens"),
			Weight: envelope.Weight{Pinned: rapid.Bool().Draw(t, "pinned"), Importance: share.Draw(t, "importance")},
		})
	}
	for range rapid.IntRange(0, 2).Draw(t, "others") {
		e.Artifacts = append(e.Artifacts, envelope.Artifact{Digest: digest.Draw(t, "digest"), Name: anyText.Draw(t, "name"), Bytes: count.Draw(t, "bytes")})
		e.Conversation = append(e.Conversation, envelope.Turn{Time: anyTime.Draw(t, "time"), Agent: anyName.Draw(t, "agent"), Text: someText.Draw(t, "text")})
		e.Omissions = append(e.Omissions, envelope.Omission{
			Kind: rapid.SampledFrom(envelope.PartKinds.Values()).Draw(t, "kind"), Reason: rapid.SampledFrom(envelope.OmissionReasons.Values()).Draw(t, "reason"),
			Count: count.Draw(t, "count"), Tokens: count.Draw(t, "tokens"), Important: rapid.Bool().Draw(t, "important"),
		})
		e.Gaps = append(e.Gaps, envelope.Gap{
			Kind: rapid.SampledFrom(envelope.PartKinds.Values()).Draw(t, "kind"), ID: anyName.Draw(t, "id"),
			Reason: rapid.SampledFrom(envelope.GapReasons.Values()).Draw(t, "reason"),
		})
	}
	e.Packing = envelope.Packing{
		Strategy: rapid.SampledFrom(event.Strategies.Values()).Draw(t, "strategy"), Tokens: count.Draw(t, "tokens"), Tokenizer: anyName.Draw(t, "tokenizer"),
		Utilisation: share.Draw(t, "utilisation"), Completeness: share.Draw(t, "completeness"), Listing: rapid.SampledFrom(envelope.Listings.Values()).Draw(t, "listing"),
	}
}

func TestTheDigestIsStableAcrossDecodingAndEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawEnvelope(t)
		s, err := envelope.Seal(doc, rapid.SliceOfN(rapid.Byte(), 16, 32).Draw(t, "salt"))
		if err != nil {
			t.Fatal(err)
		}
		e, digest, err := envelope.Open(s.Bytes)
		if err != nil || digest != s.Digest {
			t.Fatalf("open: %v, digest %s, sealed as %s", err, digest, s.Digest)
		}
		again, err := envelope.RenderJSON(e)
		if err != nil || !bytes.Equal(again, s.Bytes) {
			t.Fatalf("%v: got\n%s\nwant\n%s", err, again, s.Bytes)
		}
		other, err := jcs.Transform(s.Bytes)
		if err != nil || !bytes.Equal(other, s.Bytes) {
			t.Fatalf("the independent implementation (%v) makes\n%s\nof\n%s", err, other, s.Bytes)
		}
		// Another writer's spelling of the same document is the same envelope.
		var tree any
		if err := json.Unmarshal(s.Bytes, &tree); err != nil {
			t.Fatal(err)
		}
		spelled, err := json.MarshalIndent(tree, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		d, err := envelope.Decode(spelled)
		if err != nil {
			t.Fatal(err)
		}
		if again, err = envelope.RenderJSON(d); err != nil || envelope.DigestOf(again) != s.Digest {
			t.Fatalf("%v: decoded from another spelling\n%s\nwant\n%s", err, again, s.Bytes)
		}
		if envelope.Render(e) != envelope.Render(d) {
			t.Fatal("the same envelope rendered differently")
		}
	})
}

func seeds(f *testing.F) {
	files, err := filepath.Glob("testdata/frozen/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, s := range []string{
		``, `{}`, `null`, `{"version":"9.0"}`, `{"version":"1.9","handoff":null,"task":[]}`,
		`{"version":"1.2","Task":{}}`, `{"version":"1.0","task":{"intent":"\ud800"}}`, `{"version":"1.9","x":{"y":[1e2]}}`,
	} {
		f.Add([]byte(s))
	}
}

func FuzzOpen(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		e, digest, err := envelope.Open(b)
		if err != nil {
			if _, ok := refusal.As(err); !ok {
				t.Fatalf("not a refusal: %v", err)
			}
			return
		}
		if out, err := envelope.RenderJSON(e); err != nil || !bytes.Equal(out, b) || envelope.DigestOf(out) != digest {
			t.Fatalf("%v: opened\n%s\nwritten\n%s", err, b, out)
		}
		outside(t, envelope.Render(e))
	})
}

func FuzzDecode(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := envelope.Decode(b)
		if err != nil {
			if _, ok := refusal.As(err); !ok {
				t.Fatalf("not a refusal: %v", err)
			}
			return
		}
		s, err := envelope.Seal(e, salt)
		if refusal.CodeOf(err) == refusal.TooLarge {
			return
		}
		if err != nil {
			t.Fatalf("decoded but cannot be sealed: %v\n%s", err, b)
		}
		open(t, s.Bytes)
		outside(t, envelope.Render(e))
	})
}
