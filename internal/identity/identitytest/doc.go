// Package identitytest implements identity's ports in memory, for tests, and has the suite that
// every identity.Store must pass.
package identitytest
