// Package e2e tests the program as people run it: it builds the binary once, starts it as a process of its own, in front
// of real storefronts and with real stores, and looks at it from outside.
//
// There is nothing in it but tests.
package e2e
