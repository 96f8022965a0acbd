package envelope

// Canonical returns the RFC 8785 form of one JSON value, nested at most two levels deeper than [MaxDepth]. It restores the
// bytes of a sealed envelope that was a JSON value in another document, whose writer may have escaped it differently.
// Errors are a [refusal.Error] with the code invalid that names the place of the fault.
func Canonical(src []byte) ([]byte, error) {
	out, err := canonicalJSON(src, MaxDepth+slack)
	if err != nil {
		return nil, badJSON("JSON", err)
	}
	return out, nil
}

// CheckData refuses JSON that [Seal] would refuse as an envelope's data: it has no canonical form, or is nested deeper than
// [MaxDepth]. Errors are a [refusal.Error] with the code invalid that names the place of the fault.
func CheckData(src []byte) error {
	if err := checkCanonical(src, MaxDepth); err != nil {
		return badJSON("data", err)
	}
	return nil
}
