// Package mcpd serves operations, resources and prompts over the Model Context Protocol:
// on stdio and on Streamable HTTP, in both eras of the protocol (the initialize handshake
// of 2024-11-05 to 2025-11-25, and the sessionless 2026-07-28).
//
// Its invariant: it takes no decision about a caller's rights. Every call goes to the engine, and
// an operation that the caller may not use is answered byte for byte as one that does not exist.
//
// Tool calls and resource reads in the usual form are decoded once (envelope.go) and answered
// without the SDK (direct.go). The SDK handles everything else: the handshake, sessions, streams,
// progress, batches, and unusual or broken messages. For methods that carry our data, its receiving
// middleware (method.go) answers with results that are built once, because the SDK's typed results
// are encoded several times over. Both routes give the same answers. Package op runs operations,
// identity determines callers, and access applies limits.
//
// An address or a command line names the set of tools that is listed (scope.go), each in a form for
// its readers (toolform.go). A set restricts listings; openset.go adds to the list of a session.
//
// A handler's question to the person behind a client is sent as an elicitation (ask.go).
//
// A message over HTTP passes front (panics, origin, caller, body, session). It then goes through
// direct to the engine, or through the SDK's stateful or stateless handler and method to the
// engine. Answers from the SDK return through reply, which turns a stream of one response into
// plain JSON.
package mcpd
