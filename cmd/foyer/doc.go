// Command foyer is a virtual waiting room in front of a storefront, and, where wanted, the shop behind it.
//
// This package is the wiring: one small file per subcommand, which turns flags and configuration into the settings of
// the packages that do the work. It takes no decisions of its own.
//
// Exit codes: 0 when all went well, 1 for a failure, 2 for wrong usage or a wrong configuration.
package main
