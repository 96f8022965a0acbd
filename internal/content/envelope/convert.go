package envelope

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Conversion converts documents between two neighbouring majors, Older and Older+1, in place. A document is given as decoded
// JSON with numbers as [json.Number]; Up and Down set its version. They return the fields that could not be carried
// over, as paths; everything else must be there. Older versions are only ever converted by the same rules again: a
// conversion is tested on frozen files.
type Conversion struct {
	Older    int
	Up, Down func(doc map[string]any) (lost []string, err error)
}

// Converter reads and writes documents of several majors. The zero value knows the one of [Version] and no other: that
// is all there is today. When a major follows, its step goes in here, and for the time of the migration senders emit
// both.
type Converter struct {
	steps map[int]Conversion
}

// Copy is one document in one major.
type Copy struct {
	Sealed
	// Major is the document's. Of is the digest of the document that it was converted from; its own if it was not.
	Major int
	Of    string
	// Lost are the fields that its major has no place for, as paths, sorted.
	Lost []string
}

// NewConverter makes a converter of steps, which must lead from the major of [Version] without a hole.
func NewConverter(steps ...Conversion) (Converter, error) {
	c := Converter{steps: map[int]Conversion{}}
	for _, s := range steps {
		if _, twice := c.steps[s.Older]; twice || s.Older < 0 || s.Up == nil || s.Down == nil {
			return Converter{}, fmt.Errorf("envelope: the step from major %d is not whole, or there twice", s.Older)
		}
		c.steps[s.Older] = s
	}
	majors := c.Majors()
	if n := len(majors); majors[n-1]-majors[0] != n-1 {
		return Converter{}, fmt.Errorf("envelope: there is a hole in the majors %v", majors)
	}
	return c, nil
}

// Majors lists the majors that can be read and written, in order.
func (c Converter) Majors() []int {
	ours, _, _ := splitVersion(Version)
	known := map[int]bool{ours: true}
	for older := range c.steps {
		known[older], known[older+1] = true, true
	}
	return slices.Sorted(maps.Keys(known))
}

// Read returns a document of any known major as an envelope of ours, and the fields that could not be carried over.
// Like [Decode] it takes any spelling of JSON and proves nothing.
func (c Converter) Read(doc []byte) (Envelope, []string, error) {
	ours, _, _ := splitVersion(Version)
	copied, err := c.ToMajor(doc, ours)
	if err != nil {
		return Envelope{}, nil, err
	}
	e, err := Decode(copied.Bytes)
	return e, copied.Lost, err
}

// Emit returns a sealed envelope of ours in each of the majors, in their order: what a sender puts side by side during
// a migration. The copy in our own major is the envelope itself.
func (c Converter) Emit(sealed Sealed, majors ...int) ([]Copy, error) {
	if _, digest, err := Open(sealed.Bytes); err != nil {
		return nil, err
	} else if digest != sealed.Digest {
		return nil, invalid("envelope", "send the sealed bytes exactly as they were", "has the digest %s, not %.80s", digest, sealed.Digest)
	}
	copies := make([]Copy, 0, len(majors))
	for _, major := range majors {
		if slices.ContainsFunc(copies, func(o Copy) bool { return o.Major == major }) {
			return nil, invalid("version", "name every major once", "major %d is asked for twice", major)
		}
		copied, err := c.ToMajor(sealed.Bytes, major)
		if err != nil {
			return nil, err
		}
		copies = append(copies, copied)
	}
	return copies, nil
}

// ToMajor converts a document of a known major to another one, step by step. The result is in canonical form; if it is
// of our major, it is valid. A document that is of that major already only becomes canonical. Errors are a
// [refusal.Error] with the code invalid or too_large; an unknown major is one.
func (c Converter) ToMajor(doc []byte, major int) (Copy, error) {
	if len(doc) > MaxSize {
		return Copy{}, tooLarge("envelope", len(doc), MaxSize)
	}
	canon, err := canonical(doc, MaxDepth+slack)
	if err != nil {
		return Copy{}, badJSON("envelope", err)
	}
	tree, err := asTree(canon)
	if err != nil {
		return Copy{}, err
	}
	from, err := c.majorOf(tree)
	if err != nil {
		return Copy{}, err
	}
	if !slices.Contains(c.Majors(), major) {
		return Copy{}, c.unknown(strconv.Itoa(major))
	}
	out := Copy{Sealed: Sealed{Bytes: canon}, Major: major, Of: DigestOf(canon)}
	if from != major {
		if out.Lost, err = c.walk(tree, from, major); err != nil {
			return Copy{}, err
		}
		if out.Bytes, err = treeBytes(tree); err != nil {
			return Copy{}, err
		}
	}
	if err := c.settle(&out); err != nil {
		return Copy{}, err
	}
	out.Digest = DigestOf(out.Bytes)
	return out, nil
}

// walk goes from major to major.
func (c Converter) walk(tree map[string]any, from, to int) (lost []string, err error) {
	for from != to {
		var gone []string
		if from < to {
			gone, err = c.steps[from].Up(tree)
			from++
		} else {
			from--
			gone, err = c.steps[from].Down(tree)
		}
		if err != nil {
			return nil, invalid("version", "send it in the major it is of", "cannot be converted to major %d: %v", from, err)
		}
		lost = append(lost, gone...)
		if now, err := c.majorOf(tree); err != nil || now != from {
			return nil, invalid("version", "mend the conversion", "is %v after the conversion to major %d", tree["version"], from)
		}
	}
	slices.Sort(lost)
	return slices.Compact(lost), nil
}

// settle checks a converted document, as far as this package knows its major.
func (c Converter) settle(out *Copy) error {
	if ours, _, _ := splitVersion(Version); out.Major == ours {
		e, err := Decode(out.Bytes)
		if err != nil {
			return err
		}
		if out.Bytes, err = encode(e); err != nil {
			return err
		}
	}
	if len(out.Bytes) > MaxSize {
		return tooLarge("envelope", len(out.Bytes), MaxSize)
	}
	return nil
}

func treeBytes(tree map[string]any) ([]byte, error) {
	raw, err := json.Marshal(tree)
	if err != nil {
		return nil, invalid("envelope", "mend the conversion", "cannot be written as JSON: %v", err)
	}
	canon, err := canonical(raw, MaxDepth+slack)
	if err != nil {
		return nil, badJSON("envelope", err)
	}
	return canon, nil
}

func (c Converter) majorOf(tree map[string]any) (int, error) {
	version, ok := tree["version"].(string)
	if !ok {
		return 0, invalid("version", `set it to "`+Version+`"`, "is missing, or no text")
	}
	major, _, ok := splitVersion(version)
	if !ok {
		return 0, invalid("version", `write it like "`+Version+`"`, "%.20q is not major.minor", version)
	}
	if !slices.Contains(c.Majors(), major) {
		return 0, c.unknown(version)
	}
	return major, nil
}

func (c Converter) unknown(version string) error {
	var names []string
	for _, m := range c.Majors() {
		names = append(names, strconv.Itoa(m))
	}
	known := strings.Join(names, ", ")
	return invalid("version", "use major "+known+", or upgrade this server", "%.20s is of an unknown major version: known are %s", version, known)
}
