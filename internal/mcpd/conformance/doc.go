// Package conformance holds the fixtures that the official conformance suite of the Model
// Context Protocol asks a server for: tools, resources and prompts that only show that
// the protocol is spoken.
//
// Its invariant: nothing in the product imports it. The program in conformance/server
// serves the fixtures through the product's own router and middleware, and
// docs/conformance.md says what comes of it.
package conformance
