// Package consoletest tries the pages for people in a browser, on the served product.
package consoletest
