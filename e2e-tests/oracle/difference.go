package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// How many places of a difference are named.
const namedPlaces = 6

// paths names the places at which two JSON texts differ, after a colon.
func paths(before, after []byte) string {
	var a, b any
	if json.Unmarshal(before, &a) != nil || json.Unmarshal(after, &b) != nil {
		return ""
	}
	var places []string
	compare("", a, b, &places)
	switch {
	case len(places) == 0:
		return ": only its layout"
	case len(places) > namedPlaces:
		more := fmt.Sprintf("and %d more", len(places)-namedPlaces)
		places = append(places[:namedPlaces], more)
	}
	return ": " + strings.Join(places, ", ")
}

func compare(at string, a, b any, places *[]string) {
	if reflect.DeepEqual(a, b) {
		return
	}
	switch a := a.(type) {
	case map[string]any:
		if b, same := b.(map[string]any); same {
			keys := maps.Clone(a)
			maps.Copy(keys, b)
			for _, key := range slices.Sorted(maps.Keys(keys)) {
				escaped := strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
				compare(at+"/"+escaped, a[key], b[key], places)
			}
			return
		}
	case []any:
		if b, same := b.([]any); same && len(a) == len(b) {
			for index := range a {
				compare(fmt.Sprintf("%s/%d", at, index), a[index], b[index], places)
			}
			return
		}
	}
	*places = append(*places, at)
}
