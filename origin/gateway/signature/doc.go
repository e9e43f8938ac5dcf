// Package signature signs and verifies webhooks in the form that Stripe made common: a header
//
//	t=1764428400,v1=5257a869e7…
//
// whose v1 is the hex HMAC-SHA256 of "<t>.<raw body>" under a shared secret. Several v1 may be given, and several
// secrets may be valid at once, so that a secret can be rotated.
package signature
