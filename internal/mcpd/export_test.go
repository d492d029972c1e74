package mcpd

import "github.com/modelcontextprotocol/go-sdk/jsonrpc"

// ServeLines is ServeStdio without signals, which a bubble of synctest cannot have.
var ServeLines = (*Server).ServePipe

// ViaSDK leaves every message to the SDK.
func ViaSDK(s *Server) { s.viaSDK = true }

// Envelope is an envelope as tests see it.
type Envelope struct {
	ID                             jsonrpc.ID
	Method, Target, World, Version string
	Input                          []byte
	OfOneEra                       bool
}

// ReadEnvelope reads a message as a server does.
func ReadEnvelope(message []byte) (Envelope, bool) {
	if checkJSON(message) != nil {
		return Envelope{}, false
	}
	m, ok := readEnvelope(message)
	if !ok {
		return Envelope{}, false
	}
	return Envelope{m.rpcID(), m.method, m.target, m.world, m.version, m.input, m.isOfOneEra()}, true
}

// CompactText is the text of an output that is shown without structured content.
var CompactText = compactText
