// Package conformance holds the fixtures that the official conformance suite of the Model Context
// Protocol requires of a server: tools, resources and prompts that only exercise the protocol. The
// product serves them when it is built with the tag conformance, for tests only;
// docs/conformance.md has the results.
package conformance
