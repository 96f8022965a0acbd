package mcptest

import (
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// elicit asks the user to fill in a form.
func elicit(text, properties string, required ...string) *mcp.ElicitParams {
	if required == nil {
		required = []string{}
	}
	names, err := json.Marshal(required)
	if err != nil {
		panic(err) // strings
	}
	return &mcp.ElicitParams{
		Message:         text,
		RequestedSchema: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":%s,"required":%s}`, properties, names)),
	}
}

func askName() *mcp.ElicitParams {
	return elicit("What is your name?", `{"name":{"type":"string"}}`, "name")
}

// defaults are properties of every simple type, with defaults.
const defaults = `{"name":{"type":"string","description":"User name","default":"John Doe"},
"age":{"type":"integer","description":"User age","default":30},
"score":{"type":"number","description":"User score","default":95.5},
"status":{"type":"string","description":"User status","enum":["active","inactive","pending"],"default":"active"},
"verified":{"type":"boolean","description":"Verification status","default":true}}`

// choices are the five ways to let somebody choose.
const choices = `{"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
"untitledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},
"titledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}`
