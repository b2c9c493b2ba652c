package main

import (
	"encoding/json"
	"maps"

	l5dcharts "github.com/linkerd/linkerd2/pkg/charts/linkerd2"
	"sigs.k8s.io/yaml"
)

// chartDefaults gives the values of the control plane's chart, as Linkerd's own packages read them, in the layout of
// chart-defaults.json.
func chartDefaults() ([]byte, error) {
	values, err := l5dcharts.NewValues()
	if err != nil {
		return nil, err
	}
	return json.MarshalIndent(values, "", "    ")
}

// configuration gives what the injector reads of the mesh: the chart's values with the case's over them, through the text of
// ConfigMap linkerd-config, and the trust anchors.
func configuration(defaults map[string]any, one *admissionCase) (*l5dcharts.Values, error) {
	merged := deepMerge(defaults, one.Values)
	// The chart does so, too, when it writes the ConfigMap.
	if domain := merged["identityTrustDomain"]; domain == nil || domain == "" {
		merged["identityTrustDomain"] = merged["clusterDomain"]
	}
	text, err := yaml.Marshal(merged)
	if err != nil {
		return nil, err
	}
	values := &l5dcharts.Values{}
	if err := yaml.Unmarshal(text, values); err != nil {
		return nil, err
	}
	values.IdentityTrustAnchorsPEM = one.TrustAnchors
	return values, nil
}

// deepMerge lays over onto base: objects merge, anything else replaces. Neither changes.
func deepMerge(base, over map[string]any) map[string]any {
	merged := maps.Clone(base)
	for key, value := range over {
		below, isBelow := merged[key].(map[string]any)
		above, isAbove := value.(map[string]any)
		if isBelow && isAbove {
			merged[key] = deepMerge(below, above)
		} else {
			merged[key] = value
		}
	}
	return merged
}
