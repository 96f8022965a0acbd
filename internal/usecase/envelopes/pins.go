package envelopes

import (
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/packing"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// pins reads what the sender pins: "KIND:ID", such as fact:f1 or memory:ID, or a kind alone of which there is one.
func pins(names []string) ([]packing.Ref, error) {
	var refs []packing.Ref
	for _, name := range names {
		kind, id, _ := strings.Cut(name, ":")
		k := envelope.PartKind(kind)
		if !slices.Contains(envelope.PartKinds.Values(), k) {
			return nil, refusal.New(refusal.Invalid, "pin parts like fact:f1, decision:d2, memory:ID, artifact:DIGEST, step:3, data or summary",
				"%.80q names no part of an envelope", name).With("field", "pack.pinned")
		}
		refs = append(refs, packing.Ref{Kind: k, ID: id})
	}
	return refs, nil
}

// CheckPack refuses wishes that no envelope can be packed by.
func CheckPack(p event.Pack) error {
	if err := refusal.In("pack", p.Check()); err != nil {
		return err
	}
	_, err := pins(p.Pinned)
	return err
}

// CheckPins refuses a pin that names nothing in an envelope. One that names what could not be had is fine: that never
// stops a handoff.
func CheckPins(doc envelope.Envelope, p event.Pack) error {
	refs, err := pins(p.Pinned)
	if err != nil {
		return err
	}
	for i, ref := range refs {
		missing := slices.ContainsFunc(doc.Gaps, func(g envelope.Gap) bool { return g.Kind == ref.Kind && g.ID == ref.ID })
		if !missing && !packing.Has(doc, ref) {
			return refusal.New(refusal.Invalid, "pin what the envelope holds: [preview it](envelope preview) to see its parts and their ids, or leave the pin out",
				"the pin %.80q names nothing that is handed over", p.Pinned[i]).With("field", "pack.pinned")
		}
	}
	return nil
}
