package argument

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Number is a number whose 0 has a meaning, such as the largest value of a limit. It is written as text, such as "5": models that must fill every
// field write 0 for a number that they would omit, and "" for a text.
type Number struct {
	Value *float64 // nil: none was given
}

// UnmarshalJSON accepts a text that is a number, or a number.
func (n *Number) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(string(number(b)), 64)
	if err != nil || !json.Valid(number(b)) {
		return fmt.Errorf(`%.40s is not a number; write it as "5"`, b)
	}
	n.Value = &v
	return nil
}

// Whole returns the number as a whole one, nil if none was given. It refuses (invalid) a fraction.
func (n Number) Whole(name string) (*int, error) {
	if n.Value == nil {
		return nil, nil
	}
	v := int(*n.Value)
	if float64(v) != *n.Value {
		return nil, Invalid("%s must be a whole number such as 3, not %v", name, *n.Value)
	}
	return &v, nil
}
