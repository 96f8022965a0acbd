package agent

// foldCircuit moves the circuits by their own events and leaves them alone at all others.
func (s State) foldCircuit(e Event) State {
	switch e := e.(type) {
	case FailureCounted:
		s.count(e.Sender, e.Outcome, Circuit{Failures: e.Failures, LastCause: e.Cause})
	case FailuresCleared:
		s.succeed(e)
	case CircuitOpened:
		opened := Circuit{Failures: e.Failures, Open: true, OpenedAt: e.At, ResetAt: e.ResetAt, LastCause: e.Cause, Openers: e.Openers}
		if e.Sender != "" {
			s.count(e.Sender, e.Outcome, opened)
			break
		}
		opened.LastCause = max(s.Circuit.LastCause, e.Cause)
		s.Circuit = opened
		s.forget()
	case ProbeClaimed:
		s.setSender(e.Sender, func(p *SenderCircuit) {
			p.Circuit.Probe, p.Circuit.ProbeAt, p.Circuit.ProbeUntil = e.Handoff, e.At, e.Until
		})
		if e.Sender == "" {
			s.Circuit.Probe, s.Circuit.ProbeAt, s.Circuit.ProbeUntil = e.Handoff, e.At, e.Until
		}
	case CircuitClosed:
		if e.Sender != "" {
			s.setSender(e.Sender, func(p *SenderCircuit) {
				p.Circuit.Open, p.Circuit.OnTrial = false, e.Failures
				p.Circuit.Lost = min(p.Circuit.Lost, s.Spec.Breaker.Failures-1) // one more opens it again
			})
			s.succeed(FailuresCleared{e.Cause, e.Task, e.Handoff, e.Sender, e.Outcome})
			break
		}
		closed := Circuit{LastCause: max(s.Circuit.LastCause, e.Cause)}
		if e.Failures > 0 {
			closed.OnTrial, closed.OpenedAt = e.Failures, s.Circuit.OpenedAt
		}
		s.Circuit = closed
		s.forget()
	case CircuitReset:
		s.Circuit, s.SenderCircuits = Circuit{LastCause: s.Circuit.LastCause}, nil
	}
	return s
}
