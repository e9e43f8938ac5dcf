// Package statefile keeps what one replica knows of one gate in a file, so that a restarted replica can help to restore
// a line that its store has lost meanwhile.
//
// The file is replaced as a whole, by rename, after it has reached the disk: whoever reads it finds the old content or
// the new one. A lock beside it keeps two processes from writing the same file.
package statefile
