// Package remote connects a local client to a remote server: it relays MCP messages between the
// client's standard streams and the server's /mcp, so that the client has the server's own tools,
// prompts and resources.
//
// Its invariant: a message is sent again only if the server did not act on it, or if it may be
// delivered twice without harm. Messages travel with a token that is issued for an API key and
// accepted only if it verifies with the server's published keys. The server decides on the caller's
// rights.
package remote
