// Package layout holds the rules of the house as code: which package may import which, where drivers may appear, how
// long a file and a function may be, what a script's header says. Its test applies them to the whole tree.
//
// Each [Rule] reads files through an [io/fs.FS] and returns what offends it, each [Offence] with the reason for the
// rule, so that whoever meets one need not look for it. A rule asks no other program: a test that ran the go command
// would be cached as if it depended on nothing.
//
// A rule that has to be bent is bent here, by name and with a reason, never in the code that bends it.
package layout
