// Package unpack opens the source of an import: a folder, a file, or an archive (zip, gzip, tar).
//
// Its invariant: an archive is checked as a whole before any file of it is read. It is refused, with
// the name of the offending entry, if it is too large, grows too much, is nested too deeply, contains
// links or devices, or has names that are unsafe or that some systems take for the same name. Nothing
// is written to disk.
//
// The formats of the files inside are left to the importers.
package unpack
