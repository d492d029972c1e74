// Package marked converts texts between Markdown and HTML without losing what an author marked as hidden: comments,
// secret callouts, elements, blocks and all other marks of package secrecy.
//
// Its one invariant: every word of a text that was marked is in the converted text, and is marked there. Comments
// become comments of HTML. Another mark that the other format does not have becomes an element of the class "secret".
//
// The package does not decide who reads a marked text, and hides nothing.
package marked
