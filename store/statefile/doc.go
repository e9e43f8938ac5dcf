// Package statefile keeps the images of a process's gates on disk, so that its successor can give the lines back.
//
// Without Redis the file is the store's memory; with Redis each replica has one, for the day on which Redis comes back
// empty. It is replaced as a whole, by rename, and belongs to one process at a time: a lock on a file beside it
// (path.lock) refuses a second one. After a clean stop it says so; from the moment it is opened again it no longer does.
package statefile
