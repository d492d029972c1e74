// Package mcpd serves operations, resources and prompts over the Model Context Protocol:
// on stdio and on Streamable HTTP, in both eras of the protocol (the initialize handshake
// of 2024-11-05 to 2025-11-25, and the sessionless 2026-07-28).
//
// Its invariant: it decides nothing about what a caller may do. Every call goes to the
// engine, and what a caller may not use is answered byte for byte as what does not exist.
//
// Calls of tools and reads of resources, written as the common client writes them, are
// decoded once (envelope.go) and answered without the SDK (direct.go). Everything else is
// the SDK's: the handshake, sessions, streams, progress, batches, and what is odd or
// broken. Its answers to methods that carry our data are made in its receiving middleware
// (method.go) from results that are built once, because the SDK's typed results are encoded
// several times over. Both ways give the same answers. What an operation does, who a caller
// is and what is limited are left to op, identity and access.
//
// A handler's question to the person behind a client travels as an elicitation (ask.go).
//
// A message over HTTP passes front (panics, origin, caller, body, session), then direct →
// the engine; or the SDK's stateful or stateless handler → method → the engine, and on the
// way back reply, which turns a stream of one response into plain JSON.
package mcpd
