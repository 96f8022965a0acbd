package visibletest

import (
	"encoding/json"
	"reflect"
	"time"
)

// A Filler fills values. The functions may be nil.
type Filler struct {
	Text string                   // of each string
	Time time.Time                // of each time
	Leaf func(reflect.Value) bool // sets a value that is filled otherwise, and reports whether it did
	Done func(reflect.Value)      // changes a struct that is filled
	Many int                      // elements of each slice; 0 means 1. Deep within a value there are at most 2
}

// depth is how far a value of a type that contains itself is filled.
const depth = 8

// Fill sets each string within v, which can be set, to the text, and everything else to something that is not zero. Maps stay empty.
func (f *Filler) Fill(v reflect.Value) { f.fill(v, 0) }

func (f *Filler) fill(v reflect.Value, level int) {
	if level > depth || !v.CanSet() || f.Leaf != nil && f.Leaf(v) {
		return
	}
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(f.Time))
		return
	case json.RawMessage:
		b, _ := json.Marshal(map[string]string{"text": f.Text}) //nolint:errchkjson // a map of strings
		v.SetBytes(b)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.Text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint64:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), level+1)
	case reflect.Slice:
		many := max(f.Many, 1)
		if level > depth/2 {
			many = min(many, 2)
		}
		v.Set(reflect.MakeSlice(v.Type(), many, many))
		for i := range many {
			f.fill(v.Index(i), level+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i), level+1)
		}
		if f.Done != nil {
			f.Done(v)
		}
	default:
	}
}
