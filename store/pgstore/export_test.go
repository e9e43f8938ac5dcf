package pgstore

// Wrap is wrap, for tests.
var Wrap = wrap
