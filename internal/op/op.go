// Package op declares and invokes operations.
package op
