package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// admissionCase is one line of a file of cases.
type admissionCase struct {
	Name                  string            `json:"name"`
	ControlPlaneNamespace string            `json:"controlPlaneNamespace"`
	Values                map[string]any    `json:"values"`
	TrustAnchors          string            `json:"trustAnchors"`
	Namespace             namespace         `json:"namespace"`
	Cluster               []json.RawMessage `json:"cluster"`
	Request               request           `json:"request"`
}

type namespace struct {
	Name        string            `json:"name"`
	Annotations map[string]string `json:"annotations"`
}

type request struct {
	Kind        string          `json:"kind"`
	Namespace   string          `json:"namespace"`
	Operation   string          `json:"operation"`
	SubResource string          `json:"subResource"`
	Object      json.RawMessage `json:"object"`
}

// What becomes of a case.
const (
	injected  = "injected"  // it joins the mesh
	annotated = "annotated" // it stays out, and gets an annotation
	skipped   = "skipped"   // it is stored as it is
	denied    = "error"     // the request fails
	badPatch  = "bad-patch" // the answer's patch cannot be applied
)

// result is one line of a file of results.
type result struct {
	Name     string          `json:"name"`
	Outcome  string          `json:"outcome"`
	Reasons  []string        `json:"reasons,omitempty"`
	Message  string          `json:"message,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`
	Object   json.RawMessage `json:"object,omitempty"`
	RawPatch string          `json:"rawPatch,omitempty"`
}

// eachLine gives every line that is not empty.
func eachLine(in io.Reader, use func(line []byte) error) error {
	lines := bufio.NewScanner(in)
	// A case may hold a whole pod with hundreds of containers.
	lines.Buffer(nil, 64<<20)
	for number := 1; lines.Scan(); number++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if err := use(lines.Bytes()); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	return lines.Err()
}
