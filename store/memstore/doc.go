// Package memstore keeps a gate's line in this process: the admission.Store of a single replica.
//
// It is the same model, step for step, as store/redisstore keeps in Redis: bitmaps for who is live, kept, held and
// ended, a map of slots, a log of endings. All of it stands behind one mutex, in a line whose methods are pure steps of
// its state and the time they are given; storetest holds both stores to the same answers.
//
// Its clock is the wall clock at the start plus the time that has passed since, so that a clock set while the process
// runs ends no lease early.
package memstore
