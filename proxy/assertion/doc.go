// Package assertion proves to an upstream that a request came through a gate.
//
// An upstream that can be reached by other ways than foyer cannot believe an X-Foyer-Ticket header: anybody may send one.
// So each request that foyer forwards carries a JWT in the header X-Foyer-Assertion, signed by foyer, which lives for
// half a minute, names one upstream, and is bound to one method and one request target. Taken out of a log or sent to
// another upstream it is worth nothing.
//
// [Signer] makes them; [Checker] is what an upstream wraps its handler in:
//
//	check := assertion.Checker{Upstream: "http://shop.internal:3000", JWKS: "https://tickets.example.com/_foyer/jwks.json"}
//	http.ListenAndServe(":3000", check.Wrap(shop))
//
// Behind it [From] says whose request it is. The upstream is named as the gate's configuration names it.
//
// # Keys
//
// Where tokens.keys has an EdDSA key, the first of them signs, and the upstream verifies with the public half that foyer
// serves at /_foyer/jwks.json. Otherwise a secret signs by HS256. It is not that of tokens.keys, which would let the
// upstream make passes, but one derived from it for this upstream alone; `foyer keys upstream URL` prints it.
//
// # On the wire
//
//	header  alg EdDSA or HS256, kid, typ foyer-assertion+jwt
//	iss     foyer
//	aud     the upstream
//	iat exp of foyer's clock, 30 s apart
//	gate    the gate's name
//	sub     the visitor; empty where nobody is known
//	tkt     the ticket; 0 without one
//	via     pass, open or bypass: why it was let through
//	req     base64url, unpadded, of the SHA-256 of the method, a space, and the request target as sent
package assertion
