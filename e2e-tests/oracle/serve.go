package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
)

// serve answers AdmissionReviews over HTTP, with the configuration, the namespace and the cluster of the first case that it reads.
func serve(address string, in io.Reader) error {
	injector, err := newInjector()
	if err != nil {
		return err
	}
	var first *admissionCase
	err = eachLine(in, func(line []byte) error {
		if first != nil {
			return nil
		}
		first = &admissionCase{}
		return json.Unmarshal(line, first)
	})
	if err != nil {
		return err
	}
	if first == nil {
		return fmt.Errorf("no case to take the configuration from")
	}
	// One after the other: the warnings of a case are collected for all.
	turn := make(chan struct{}, 1)
	handler := func(out http.ResponseWriter, in *http.Request) {
		turn <- struct{}{}
		defer func() { <-turn }()
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(in.Body).Decode(&review); err != nil || review.Request == nil {
			http.Error(out, "not an AdmissionReview", http.StatusBadRequest)
			return
		}
		response, err := injector.review(first, review.Request)
		if err != nil {
			http.Error(out, err.Error(), http.StatusInternalServerError)
			return
		}
		review.Request, review.Response = nil, response
		out.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(out).Encode(review); err != nil {
			http.Error(out, err.Error(), http.StatusInternalServerError)
		}
	}
	server := http.Server{Addr: address, Handler: http.HandlerFunc(handler), ReadHeaderTimeout: 10 * time.Second}
	return server.ListenAndServe()
}
