package envelope

// refParts lists the objects that version 1.1 brought, as [Envelope.parts] does.
func (e *Envelope) refParts() []part {
	var list []part
	for i := range e.Memory {
		list = append(list, part{"memory", i, &e.Memory[i].Extra, memoryFields})
	}
	for i := range e.Artifacts {
		list = append(list, part{"artifacts", i, &e.Artifacts[i].Extra, artifactFields})
	}
	for i := range e.Conversation {
		list = append(list, part{"conversation", i, &e.Conversation[i].Extra, turnFields})
	}
	for i := range e.Omissions {
		list = append(list, part{"omissions", i, &e.Omissions[i].Extra, omissionFields})
	}
	for i := range e.Gaps {
		list = append(list, part{"gaps", i, &e.Gaps[i].Extra, gapFields})
	}
	return list
}

func (e *Envelope) refsHaveExtra() bool {
	if len(e.Packing.Extra) > 0 {
		return true
	}
	for _, p := range e.refParts() {
		if len(*p.extra) > 0 {
			return true
		}
	}
	return false
}
