package main

import "testing"

func TestLayouts(t *testing.T) {
	one := &result{
		Name:     "a/b",
		Outcome:  injected,
		Warnings: []string{"<\"&\">"},
		Object:   []byte(`{"z":1.50,"a":["\u0041\u0001é` + "\u2028" + `",null,true,{}]}`),
	}
	for _, test := range []struct {
		as   layout
		line string
	}{
		{compact, `{"name":"a/b","outcome":"injected","warnings":["<\"&\">"],"object":{"z":1.50,"a":["\u0041\u0001é` + "\u2028" + `",null,true,{}]}}`},
		{spaced, `{"name": "a/b", "object": {"a": ["A\u0001é` + "\u2028" + `", null, true, {}], "z": 1.50}, "outcome": "injected", "warnings": ["<\"&\">"]}`},
	} {
		line, err := one.write(test.as)
		if err != nil || string(line) != test.line+"\n" {
			t.Errorf("%s, %v, expected %s", line, err, test.line)
		}
		if layoutOf(line) != test.as {
			t.Errorf("%s is taken for the other layout", line)
		}
	}
}

func TestDifferencesAreNamed(t *testing.T) {
	before := `{"same":1,"list":[1,2],"grown":[1],"a/b":{"~":1},"gone":1}`
	after := `{"same":1,"list":[1,3],"grown":[1,2],"a/b":{"~":2},"new":1}`
	expected := ": /a~1b/~0, /gone, /grown, /list/1, /new"
	if found := paths([]byte(before), []byte(after)); found != expected {
		t.Errorf("%q, expected %q", found, expected)
	}
}

func TestMergesLeaveTheirInputAlone(t *testing.T) {
	base := map[string]any{"a": map[string]any{"b": 1, "c": 2}, "d": 1}
	merged := deepMerge(base, map[string]any{"a": map[string]any{"b": 3}, "d": map[string]any{"e": 4}})
	a, d := merged["a"].(map[string]any), merged["d"].(map[string]any)
	if a["b"] != 3 || a["c"] != 2 || d["e"] != 4 || base["a"].(map[string]any)["b"] != 1 || base["d"] != 1 {
		t.Errorf("%v of %v", merged, base)
	}
}
