package bench

import (
	"errors"
	"testing"
	"time"
)

func TestOptionsThatMakeNoSenseAreRefused(t *testing.T) {
	good := Options{Clients: []int{1}, For: time.Second, Kind: kindWarm, Over: overHTTP}
	if err := good.check(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Options){
		"no clients":        func(o *Options) { o.Clients = nil },
		"zero clients":      func(o *Options) { o.Clients = []int{1, 0} },
		"too many clients":  func(o *Options) { o.Clients = []int{maxClients + 1} },
		"no time":           func(o *Options) { o.For = 0 },
		"a small envelope":  func(o *Options) { o.Envelope = -1 },
		"a large envelope":  func(o *Options) { o.Envelope = maxEnvelope + 1 },
		"direct delegation": func(o *Options) { o.Direct, o.Kind = true, kindDelegation },
	} {
		o := good
		change(&o)
		var exit interface{ ExitCode() int }
		if err := o.check(); !errors.As(err, &exit) || exit.ExitCode() != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
