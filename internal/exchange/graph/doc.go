// Package graph imports knowledge graphs: the files of the reference memory server of MCP, JSON lines of
// entities and relations, and the variants that other programs write.
//
// Its invariant: everything that parses comes in, and each line that does not is named.
package graph
