// Package unpack opens the source of an import: a folder, a file, or an archive (zip, 7-Zip, tar, gzip, bzip2).
//
// Its invariant: an archive is checked as a whole before any file of it is read. It is refused, with
// the name of the offending entry, if it is too large, grows too much, is nested too deeply, contains
// links or devices, or has names that are unsafe or that some systems take for the same name. Size and growth
// are judged while it is unpacked, so that it uses no more memory, time and disk than its limits, whatever it
// says about itself. The entries of a zip file are read from the file. All other archives are unpacked into one
// file in a Space, of which nothing is left when the source is closed or the process ends.
//
// The formats of the files inside are left to the importers.
package unpack
