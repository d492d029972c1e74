// Package op declares operations, resources, prompts and completions once, and invokes
// them. The MCP tool, the REST route, the command-line call, the schemas and the
// reference pages are all made from the declaration.
//
// Its invariant: every call from every transport enters through an Invoker, where the Guard admits
// it once. Surfaces define the operations; transports carry the calls.
package op
