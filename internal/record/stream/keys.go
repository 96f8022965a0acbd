package stream

import "github.com/trapezehq/trapeze/internal/record/ledger"

// keyed is a call that carried an idempotency key. Folds share what came before.
type keyed struct {
	key, request string
	at           ledger.Position
	before       *keyed
}

// keys are the calls that a fold remembers, in two generations: when the newer is full, it becomes the older, and what
// was the older is forgotten. So nothing is ever copied or changed in place, and the folds that share it need not know.
type keys struct {
	newer, older *keyed // the newest first
	count        int    // of the newer
}

// with is the keys with one more call. most bounds a generation; 0: nothing is forgotten.
func (k keys) with(key, request string, at ledger.Position, most int) keys {
	if most > 0 && k.count >= most {
		k = keys{older: k.newer}
	}
	return keys{newer: &keyed{key, request, at, k.newer}, older: k.older, count: k.count + 1}
}

// find is the call that was made under a key; nil if none is remembered.
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
