// Package disk writes files as a whole, measures the free space on the disk of a folder, and reports a full disk. It gives
// callers a message without paths. It gives the operator one with the folder and the remedy.
package disk
