// Package storetest defines what a store is: one suite for each of its interfaces, run by every implementation.
//
// [Line] is the suite of admission.Store, [Ledger] that of origin.Ledger with strategy.Ledger, [Strategy]
// that of origin.Strategy. [LedgerModel] drives a ledger beside a model of it, and [RecordHistory] lets
// clients use one all at once and checks that what they were answered can be explained. A new method is first a test
// here. [Scenarios] runs the text files of admission/testdata, and [Agree] drives two stores through the same random steps
// and wants the same answers.
package storetest
