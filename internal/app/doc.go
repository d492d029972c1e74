// Package app is the composition root: it reads the configuration, creates the parts, connects them
// and stops them again. It contains no decision that a part could make. The command line does its
// work through this package.
package app
