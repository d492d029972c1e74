// Package unreal carries out the studio's tools in an Unreal editor over its Remote Control HTTP
// interface, as documented: documented calls, a bridge script in the project for operations that
// those calls cannot do, and an allow-list of operations. Beside that it knows the MCP server that Epic
// ships in the editor, for listing assets and placing them.
//
// Its invariant: this package never claims that an Unreal editor did something unless the editor
// answered over the network. No Unreal editor has run this code; the tests use a double that
// replays documented exchanges, executes nothing, and labels every result with the kind
// protocol-double.
package unreal
