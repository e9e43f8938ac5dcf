// Command probe turns programs that attack or judge web servers on foyer, and says how it did. It starts ./foyer in
// front of a small storefront, with certificates of its own.
//
//	probe h2spec     the conformance tests of HTTP/2, against foyer and against Go's own server: no test may fail that
//	                 does not fail there too
//	probe slowhttp   slowhttptest in its three modes (header, body, read), while others go on visiting
//
// It ends with 1 where foyer did not stand the test. `make h2spec` and `make slowhttp` run it.
package main
