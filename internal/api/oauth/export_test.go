package oauth

// Settle returns when the lookup of keys in the background is over.
func (v *Verifier) Settle() {
	v.issuer.turn <- struct{}{}
	<-v.issuer.turn
}
