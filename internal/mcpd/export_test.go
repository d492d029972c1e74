package mcpd

// ServeLines is ServeStdio without signals, which a bubble of synctest cannot have.
var ServeLines = (*Server).ServePipe
