package mcpapi_test

import (
	"slices"
	"strings"
	"testing"
)

// modelNames are the public attributes of pydantic's BaseModel (version 2), besides those that begin with model_. Python frameworks make a class of the
// arguments of a tool, and warn, at each start, about a field that hides one of them.
var modelNames = []string{
	"construct", "copy", "dict", "fields", "from_orm", "json", "parse_file", "parse_obj", "parse_raw", "schema", "schema_json", "update_forward_refs", "validate",
}

func TestNoArgumentHidesAnAttributeOfThePythonClassThatFrameworksMakeOfIt(t *testing.T) {
	a, err := open(t).at(statelessVersion, "reader", "tools=all")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := a.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, x := range tools.Tools {
		for _, schema := range []any{x.InputSchema, x.OutputSchema} {
			for _, name := range fieldNames(schema) {
				seen++
				if slices.Contains(modelNames, name) || strings.HasPrefix(name, "model_") || strings.HasPrefix(name, "_") {
					t.Errorf("%s has a field %s", x.Name, name)
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d fields were looked at", seen)
	}
}

// fieldNames lists the names of the properties of a schema, and of those in it.
func fieldNames(schema any) (names []string) {
	switch s := schema.(type) {
	case m:
		for key, value := range s {
			if properties, is := value.(m); is && key == "properties" {
				for name, of := range properties {
					names = append(append(names, name), fieldNames(of)...)
				}
				continue
			}
			names = append(names, fieldNames(value)...)
		}
	case []any:
		for _, value := range s {
			names = append(names, fieldNames(value)...)
		}
	}
	return names
}
