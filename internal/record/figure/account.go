package figure

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/alert"
)

// account is what became of what one principal sent: of handoffs that ended, of envelopes that were packed, or of hops.
type account struct {
	all    float64 // the sum over all accounts is the number of handoffs or envelopes
	wrong  float64 // of all; the sum over all accounts is what went wrong
	caused float64 // what the principal may have caused: not what receivers did by falling silent. What was forgotten may be caused by two
}

func (a account) plus(o account, sign float64) account {
	return account{a.all + sign*o.all, a.wrong + sign*o.wrong, a.caused + sign*o.caused}
}

// party is the sender, and the receiver if there is one, to whom what became of a handoff is attributed. An offer that ended without an answer in less than
// the usual time is the principal's that allowed no more, what was lost before is the first loser's, and what was forgotten is whose who forgot it.
type party struct{ sender, receiver string }

// maxParties is the number of parties that a minute tells apart; those beyond are one.
const maxParties = 64

// restOfSenders are the senders that a minute does not tell apart. No agent can have that name.
const restOfSenders = "(others)"

// entry is the account of a party.
type entry struct {
	party
	account
}

// accounts are those of some parties.
type accounts []entry

func (a *accounts) add(of party, by account) {
	if of.sender == "" || by == (account{}) {
		return
	}
	at := func() int { return slices.IndexFunc(*a, func(e entry) bool { return e.party == of }) }
	i := at()
	if i < 0 && len(*a) >= maxParties {
		of = party{sender: restOfSenders}
		i = at()
	}
	if i < 0 {
		*a = append(*a, entry{of, by})
		return
	}
	(*a)[i].account = (*a)[i].plus(by, 1)
}

// worst names the senders of most that went wrong, the worst first.
func (a accounts) worst() []string {
	by := map[string]float64{}
	for i := range a {
		if a[i].sender != restOfSenders {
			by[a[i].sender] += a[i].wrong
		}
	}
	list := ranked(by)
	names := make([]string, 0, alert.MaxSenders)
	for i := range list[:min(len(list), alert.MaxSenders)] {
		names = append(names, list[i].name)
	}
	return names
}

// amount is how much of something one has.
type amount struct {
	name string
	n    float64
}

// ranked orders amounts, the greatest first, without those that have nothing.
func ranked(by map[string]float64) []amount {
	list := make([]amount, 0, len(by))
	for name, n := range by {
		if n > rounding {
			list = append(list, amount{name, n})
		}
	}
	slices.SortFunc(list, func(a, b amount) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.name, b.name)) })
	return list
}

// running is an account, summed up from the first minute on.
type running struct {
	minutes []int64
	upTo    []account // with the minute
}

func (r *running) add(minute int64, by account) {
	n := len(r.upTo)
	if n > 0 {
		by = by.plus(r.upTo[n-1], 1)
	}
	if n > 0 && r.minutes[n-1] == minute {
		r.upTo[n-1] = by
		return
	}
	r.minutes, r.upTo = append(r.minutes, minute), append(r.upTo, by)
}

// within is the account from a minute up to another, with both.
func (r *running) within(from, to int64) account {
	before := func(minute int64) account {
		if i, _ := slices.BinarySearch(r.minutes, minute); i > 0 {
			return r.upTo[i-1]
		}
		return account{}
	}
	return before(to+1).plus(before(from), -1)
}

// books are the accounts of many minutes.
type books struct {
	sent   map[string]*running // by sender
	faults map[party]*running  // of parties of which something went wrong
}

// booksOf sums up the accounts that minutes have of a figure; they are empty if the figure tells nobody apart.
func booksOf(figure string, slots []slot) books {
	b := books{map[string]*running{}, map[party]*running{}}
	for i := range slots {
		s := &slots[i]
		for _, e := range s.accountsOf(figure) {
			runningOf(b.sent, e.sender).add(s.minute, e.account)
			if e.wrong > 0 || e.caused > 0 {
				runningOf(b.faults, e.party).add(s.minute, e.account)
			}
		}
	}
	return b
}

func runningOf[K comparable](all map[K]*running, k K) *running {
	r := all[k]
	if r == nil {
		r = &running{}
		all[k] = r
	}
	return r
}

// accountsOf are the accounts of a minute that a figure is about. Envelopes have no receivers: what they lost is the same for each.
func (s *slot) accountsOf(figure string) accounts {
	switch figure {
	case HandoffsFailed.Name:
		return s.handoffs
	case EnvelopeCompleteness.Name:
		return s.envelopes
	case TaskHops.Name:
		return s.routes
	}
	return nil
}

// faulty are the accounts from a minute up to another of which something went wrong.
func (b *books) faulty(from, to int64) (list accounts) {
	for of, r := range b.faults {
		if n := r.within(from, to); n.wrong > rounding || n.caused > rounding {
			list = append(list, entry{of, n})
		}
	}
	return list
}

// faults are what went wrong in a window, by whom.
type faults struct {
	wrong     map[string]float64 // by sender
	causers   []amount           // agents, those that may have caused most first. People and programs, whose tokens operators make, may cause all
	receivers []amount           // those of most that went wrong first
	pairs     map[party]float64
}

func faultsOf(list accounts) faults {
	f := faults{wrong: map[string]float64{}, pairs: map[party]float64{}}
	caused, received := map[string]float64{}, map[string]float64{}
	for i := range list {
		e := &list[i]
		f.wrong[e.sender] += e.wrong
		if !strings.Contains(e.sender, "/") {
			caused[e.sender] += e.caused
		}
		if e.receiver != "" {
			received[e.receiver] += e.wrong
			f.pairs[e.party] += e.wrong
		}
	}
	f.causers, f.receivers = ranked(caused), ranked(received)
	return f
}

// excess is by how much more of what went wrong one agent caused, or was to receive, than all others together; 0 if none did. Without is a sender that is
// left out; "": none is.
func (f *faults) excess(wrong float64, without string) float64 {
	most := 0.0
	for _, c := range f.causers {
		if c.name != without {
			most = c.n
			break
		}
	}
	for _, r := range f.receivers {
		if r.n <= most {
			break
		}
		most = max(most, r.n-f.pairs[party{without, r.name}])
	}
	most = min(most, wrong)
	if n := 2*most - wrong; n > rounding {
		return n
	}
	return 0
}
