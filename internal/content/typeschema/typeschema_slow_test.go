//go:build slow

package typeschema_test

import (
	"reflect"
	"testing"

	"github.com/trapezehq/trapeze/internal/content/typeschema"
)

type size string

func TestATypeWithoutASchemaIsAnError(t *testing.T) {
	for _, typ := range []reflect.Type{reflect.TypeFor[size](), reflect.TypeFor[[]size](), reflect.TypeFor[map[string]*size](), reflect.TypeFor[chan int](), reflect.TypeFor[any]()} {
		if s, err := (typeschema.Types{}).Schema(typ); err == nil {
			t.Errorf("%s has the schema %v", typ, s)
		}
	}
}

func TestTheCallerOwnsASchema(t *testing.T) {
	ts := typeschema.Types{
		Enums: map[reflect.Type][]string{reflect.TypeFor[size](): {"small", "large"}},
		Other: map[reflect.Type]typeschema.Object{reflect.TypeFor[string](): {"type": "string"}},
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[size](), reflect.TypeFor[string]()} {
		first, err := ts.Schema(typ)
		if err != nil {
			t.Fatal(err)
		}
		first["description"] = "changed"
		if again, err := ts.Schema(typ); err != nil || again["description"] != nil {
			t.Errorf("%s has the schema %v (%v)", typ, again, err)
		}
	}
}
