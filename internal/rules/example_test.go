package rules_test

import (
	"fmt"

	"loregate/internal/canon"
	"loregate/internal/rules"
	"loregate/internal/store/memory"
)

func Example() {
	s, err := rules.New(rules.Config{Canon: canon.New(canon.Config{Store: memory.New()}), Random: func([]byte) {}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Surface().Title, len(s.Surface().Operations))
	for _, system := range rules.Systems() {
		fmt.Println(system.Name())
	}
	// Output:
	// Rules 11
	// srd-5.1
	// freeform
}
