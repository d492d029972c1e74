// Package httpd serves operations over REST, and with them, over HTTP, OpenAPI, tokens for keys,
// key sets, metadata, health and metrics.
//
// Its invariant: a route belongs to an operation and decides nothing. It builds the input from
// path, query, headers and body, invokes the operation, and writes the answer. The caller's rights
// are decided behind op.Local, and its identity by the Authenticator. Every request passes the same
// outer layers, also those for MCP: recovery, correlation, allowed addresses, Host and Origin.
package httpd
