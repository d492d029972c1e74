// Package worldtest is a small town with people in it, for tests that read as a story. It
// serves the surface world from a store in a temporary folder.
package worldtest
