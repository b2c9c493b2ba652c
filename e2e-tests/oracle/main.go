// Oracle asks Linkerd's own packages what the proxy injector does with the corpus' cases.
//
//	linkerd-oracle < cases.jsonl > results.jsonl
//	linkerd-oracle -serve ADDRESS < case.json
//	linkerd-oracle -corpus DIR -out DIR
//
// The first form answers any cases, one result a line in the order of the cases. The second answers AdmissionReviews over HTTP, in the
// cluster of the case that it reads. The third computes every result of the corpus in DIR anew, writes the files of the same names to
// another folder, and prints what came out differently; it ends with status 1 when something did. The formats are told in the README of
// the corpus.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	log "github.com/sirupsen/logrus"
)

func main() {
	corpus := flag.String("corpus", "", "folder of the corpus")
	out := flag.String("out", "", "folder that the corpus' results are written to")
	address := flag.String("serve", "", "address to answer AdmissionReviews at")
	flag.Parse()
	// Linkerd's packages log much; what they say of a case is part of its result.
	log.SetOutput(io.Discard)

	same, err := true, error(nil)
	switch {
	case *address != "":
		err = serve(*address, os.Stdin)
	case *corpus == "" && *out == "":
		err = answer(os.Stdin, os.Stdout)
	case *corpus == "" || *out == "":
		err = errors.New("-corpus and -out go together")
	default:
		same, err = recompute(*corpus, *out, os.Stdout)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "linkerd-oracle: %v\n", err)
		os.Exit(2)
	}
	if !same {
		os.Exit(1)
	}
}

// answer gives the results of the cases that it reads, in the compact layout.
func answer(in io.Reader, out io.Writer) error {
	injector, err := newInjector()
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	err = eachLine(in, func(line []byte) error {
		result, err := injector.run(line)
		if err != nil {
			return err
		}
		written, err := result.write(compact)
		if err != nil {
			return err
		}
		_, err = buffered.Write(written)
		return err
	})
	return errors.Join(err, buffered.Flush())
}
