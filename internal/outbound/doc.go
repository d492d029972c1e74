// Package outbound fetches from web addresses that callers and clients name.
//
// Its invariant: a request goes only over HTTPS to port 443 of a public IP address, and no redirect is
// followed. So no caller can reach the machine itself or its neighbours through the server. Which hosts are
// asked, and how often, is for the packages that fetch.
package outbound
