package stream

import "github.com/trapezehq/trapeze/internal/record/ledger"

// keyed is a call with an idempotency key. Folds share the earlier ones.
type keyed struct {
	key, request string
	at           ledger.Position
	before       *keyed
}

// keys are the calls that a fold remembers, in two generations: when the newer is full, it replaces the older. Nothing is
// copied or changed in place, so that folds can share them.
type keys struct {
	newer, older *keyed // the newest first
	count        int    // of the newer
}

// with returns the keys with one more call. most bounds a generation; 0 means no bound.
func (k keys) with(key, request string, at ledger.Position, most int) keys {
	if most > 0 && k.count >= most {
		k = keys{older: k.newer}
	}
	return keys{newer: &keyed{key, request, at, k.newer}, older: k.older, count: k.count + 1}
}

// find returns the call with a key; nil if none is remembered.
func (k keys) find(key string) *keyed {
	for _, generation := range []*keyed{k.newer, k.older} {
		for past := generation; past != nil; past = past.before {
			if past.key == key {
				return past
			}
		}
	}
	return nil
}
