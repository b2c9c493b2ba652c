package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const defaultsFile = "chart-defaults.json"

// pair is a file of cases and the file of their results, relative to the corpus.
type pair struct{ cases, results string }

// recompute writes the results of the corpus to another folder, and says on words what came out differently.
func recompute(corpus, out string, words io.Writer) (same bool, err error) {
	injector, err := newInjector()
	if err != nil {
		return false, err
	}
	pairs, err := pairsOf(corpus)
	if err != nil {
		return false, err
	}
	defaults, err := chartDefaults()
	if err != nil {
		return false, err
	}
	changed, total := 0, 0
	known, err := os.ReadFile(filepath.Join(corpus, defaultsFile))
	if err != nil {
		return false, err
	}
	// The file may end with a new line or without.
	if !bytes.Equal(bytes.TrimSpace(known), defaults) {
		changed++
		fmt.Fprintf(words, "%s: the chart's values changed%s\n", defaultsFile, paths(known, defaults))
		known = append(defaults, '\n')
	}
	if err := write(out, defaultsFile, known); err != nil {
		return false, err
	}
	for _, files := range pairs {
		cases, err := os.ReadFile(filepath.Join(corpus, files.cases))
		if err != nil {
			return false, err
		}
		known, err := os.ReadFile(filepath.Join(corpus, files.results))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		was := map[string][]byte{}
		for line := range bytes.Lines(known) {
			var named struct{ Name string }
			if err := json.Unmarshal(line, &named); err != nil {
				return false, fmt.Errorf("%s: %w", files.results, err)
			}
			was[named.Name] = line
		}
		var results bytes.Buffer
		err = eachLine(bytes.NewReader(cases), func(line []byte) error {
			result, err := injector.run(line)
			if err != nil {
				return err
			}
			written, err := result.write(layoutOf(known))
			if err != nil {
				return err
			}
			total++
			before, found := was[result.Name]
			delete(was, result.Name)
			if !found {
				fmt.Fprintf(words, "%s: new\n", result.Name)
			} else if !bytes.Equal(before, written) {
				fmt.Fprintf(words, "%s: %s\n", result.Name, strings.TrimPrefix(paths(before, written), ": "))
			}
			if !found || !bytes.Equal(before, written) {
				changed++
			}
			results.Write(written)
			return nil
		})
		if err != nil {
			return false, fmt.Errorf("%s: %w", files.cases, err)
		}
		for name := range was {
			changed++
			fmt.Fprintf(words, "%s: a result without a case\n", name)
		}
		if err := write(out, files.results, results.Bytes()); err != nil {
			return false, err
		}
		if same := bytes.Equal(known, results.Bytes()); !same && changed == 0 {
			changed++
			fmt.Fprintf(words, "%s: the results are in another order\n", files.results)
		}
	}
	fmt.Fprintf(words, "results %d, changed %d\n", total, changed)
	return changed == 0, nil
}

// pairsOf finds the corpus' files: cases/FAMILY.jsonl with linkerd/FAMILY.jsonl, and extra/cases.jsonl with extra/linkerd.jsonl.
func pairsOf(corpus string) ([]pair, error) {
	found, err := filepath.Glob(filepath.Join(corpus, "cases", "*.jsonl"))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no cases in %s", corpus)
	}
	slices.Sort(found)
	var pairs []pair
	for _, path := range found {
		name := filepath.Base(path)
		pairs = append(pairs, pair{filepath.Join("cases", name), filepath.Join("linkerd", name)})
	}
	return append(pairs, pair{filepath.Join("extra", "cases.jsonl"), filepath.Join("extra", "linkerd.jsonl")}), nil
}

func write(folder, name string, text []byte) error {
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
