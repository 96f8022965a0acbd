package envelope

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/content/canonical"
)

// Conversion converts documents between two adjacent majors, Older and Older+1, in place. The document is decoded JSON
// with numbers as [json.Number]; Up and Down set its version. They return the paths of the fields that the other major
// cannot hold; all others must be carried over. A conversion never changes once it is released: frozen files test it.
type Conversion struct {
	Older    int
	Up, Down func(doc map[string]any) (lost []string, err error)
}

// Converter reads and writes documents of several majors. The zero value converts only the major of [Version], the only
// one so far. The next major adds its conversion here, and senders emit both during the migration.
type Converter struct {
	steps map[int]Conversion
}

// Copy is one document in one major.
type Copy struct {
	Sealed
	// Major is the major of this copy. Of is the digest of the document it was converted from, its own digest if it was
	// not converted.
	Major int
	Of    string
	// Lost are the paths of the fields that this major cannot hold, sorted.
	Lost []string
}

// NewConverter returns a converter with these conversions, which must join to the major of [Version] without a gap.
func NewConverter(steps ...Conversion) (Converter, error) {
	c := Converter{steps: map[int]Conversion{}}
	for _, s := range steps {
		if _, twice := c.steps[s.Older]; twice || s.Older < 0 || s.Up == nil || s.Down == nil {
			return Converter{}, fmt.Errorf("envelope: the conversion from major %d is incomplete or given twice", s.Older)
		}
		c.steps[s.Older] = s
	}
	majors := c.Majors()
	if n := len(majors); majors[n-1]-majors[0] != n-1 {
		return Converter{}, fmt.Errorf("envelope: the conversions leave a gap in the majors %v", majors)
	}
	return c, nil
}

// Majors lists the supported majors in ascending order.
func (c Converter) Majors() []int {
	current, _, _ := splitVersion(Version)
	supported := map[int]bool{current: true}
	for older := range c.steps {
		supported[older], supported[older+1] = true, true
	}
	return slices.Sorted(maps.Keys(supported))
}

// Read returns a document of any supported major as an envelope of the major of [Version], and the paths of the fields
// that were lost. Like [Decode] it accepts any spelling of JSON and does not verify the digest.
func (c Converter) Read(doc []byte) (Envelope, []string, error) {
	current, _, _ := splitVersion(Version)
	copied, err := c.ToMajor(doc, current)
	if err != nil {
		return Envelope{}, nil, err
	}
	e, err := Decode(copied.Bytes)
	return e, copied.Lost, err
}

// Emit returns a sealed envelope of the major of [Version] in each of the majors, in that order: the copies that a sender
// publishes together during a migration. The copy in the major of [Version] is the envelope itself.
func (c Converter) Emit(sealed Sealed, majors ...int) ([]Copy, error) {
	if _, digest, err := Open(sealed.Bytes); err != nil {
		return nil, err
	} else if digest != sealed.Digest {
		return nil, invalid("envelope", "send the sealed bytes exactly as they were", "has the digest %s, not %.80s", digest, sealed.Digest)
	}
	copies := make([]Copy, 0, len(majors))
	for _, major := range majors {
		if slices.ContainsFunc(copies, func(o Copy) bool { return o.Major == major }) {
			return nil, invalid("version", "name every major once", "major %d is given twice", major)
		}
		copied, err := c.ToMajor(sealed.Bytes, major)
		if err != nil {
			return nil, err
		}
		copies = append(copies, copied)
	}
	return copies, nil
}

// ToMajor converts a document of a supported major to another one, conversion by conversion. The result is in canonical
// form, and valid if it is of the major of [Version]. A document that already is of that major only becomes canonical.
// Errors are a [refusal.Error] with the code invalid, also for an unsupported major, or too_large.
func (c Converter) ToMajor(doc []byte, major int) (Copy, error) {
	if len(doc) > MaxSize {
		return Copy{}, tooLarge("envelope", len(doc), MaxSize)
	}
	canon, err := canonical.JSON(doc, MaxDepth+slack)
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

// walk converts the tree in place, one major at a time.
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
			return nil, invalid("version", "send it in its own major", "cannot be converted to major %d: %v", from, err)
		}
		lost = append(lost, gone...)
		if now, err := c.majorOf(tree); err != nil || now != from {
			return nil, invalid("version", "fix the conversion", "is %v after the conversion to major %d", tree["version"], from)
		}
	}
	slices.Sort(lost)
	return slices.Compact(lost), nil
}

// settle validates a converted document if it is of the major of [Version], and checks its size.
func (c Converter) settle(out *Copy) error {
	if current, _, _ := splitVersion(Version); out.Major == current {
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
		return nil, invalid("envelope", "fix the conversion", "cannot be written as JSON: %v", err)
	}
	canon, err := canonical.JSON(raw, MaxDepth+slack)
	if err != nil {
		return nil, badJSON("envelope", err)
	}
	return canon, nil
}

func (c Converter) majorOf(tree map[string]any) (int, error) {
	version, ok := tree["version"].(string)
	if !ok {
		return 0, invalid("version", `set it to "`+Version+`"`, "is missing or is not text")
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
	supported := strings.Join(names, ", ")
	return invalid("version", "use major "+supported+", or upgrade this server",
		"%.20s is of an unknown major version: this server reads %s", version, supported)
}
