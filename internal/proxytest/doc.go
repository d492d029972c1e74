// Package proxytest relays connections for tests that disturb them.
package proxytest
