package mcpd

// ServeLines is ServeStdio without signals, which a bubble of synctest cannot have.
var ServeLines = (*Server).ServePipe

// ViaSDK is an option that leaves every message to the SDK.
func ViaSDK(s *Server) { s.viaSDK = true }

// IsEnvelope reports whether a message may be answered directly.
func IsEnvelope(message []byte) bool {
	if checkJSON(message) != nil {
		return false
	}
	m, ok := readEnvelope(message)
	return ok && m.isOfOneEra()
}
