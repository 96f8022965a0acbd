package human

import "net/url"

// Narrowed is what the filters of a list are set to, by the parameters of its address.
func Narrowed(q url.Values) (words []string) {
	for _, f := range []struct{ name, before string }{
		{"q", ""},
		{"text", ""},
		{"words", ""},
		{"in", "in "},
		{"state", ""},
		{"live", ""},
		{"parent", "children of "},
		{"owner", "owned by "},
		{"agent", "by "},
		{"tag", "tag "},
		{"scope", "read by "},
		{"since", "changed since "},
		{"until", "changed before "},
	} {
		switch text := q.Get(f.name); {
		case text == "":
		case f.name == "live" || f.name == "state" && text == "live":
			words = append(words, "not ended")
		case f.name == "state" || f.name == "scope":
			words = append(words, f.before+Label(text))
		default:
			words = append(words, f.before+Short(40, text))
		}
	}
	return words
}
