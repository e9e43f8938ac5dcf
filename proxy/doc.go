// Package proxy is foyer's HTTP edge: it matches a request to a gate, asks the gate's room for a verdict, and then
// serves the waiting answer or forwards the request.
//
// It knows no store and no configuration file: cmd hands it plain [Settings], and a [Room] per gate.
//
// # The way of a request
//
// Each request is one exchange that walks through the steps listed in chain.go, in the order of execution:
//
//	method allow-list → header hygiene → canonical host and path → own endpoints → gate → token → admission → forward
//
// The canonical path and host are computed once, into one value. Gates are matched on that value and upstreams get
// that value, so that no upstream can read a path in another way than the gate that let it through.
//
// # Guarantees
//
//   - What the edge answers itself is no-store, and of the kind that was asked for: a page for a navigation, an
//     RFC 9457 problem for everything else, never a redirect.
//   - No upstream sees a token, an X-Foyer-* header of the client, or a forwarded header of an untrusted peer.
//   - Every answer that an upstream gives may carry commands (Foyer-Command); they are obeyed and stripped.
//   - An upstream that fails costs nobody the slot.
package proxy
