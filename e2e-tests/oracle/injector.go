package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch"
	"github.com/linkerd/linkerd2/controller/k8s"
	"github.com/linkerd/linkerd2/pkg/inject"
	pkgk8s "github.com/linkerd/linkerd2/pkg/k8s"
	"github.com/linkerd/linkerd2/pkg/version"
	log "github.com/sirupsen/logrus"
	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// injector answers cases with Linkerd's packages, in the steps of controller/proxy-injector/webhook.go. That handler itself reads its
// configuration from fixed places of its container, and keeps the reasons of a skipped pod to its metrics.
type injector struct {
	defaults map[string]any
	// What look-ups find, by the cases' clusters, most of which are empty.
	clusters map[string]*k8s.MetadataAPI
	log      *warnings
}

func newInjector() (*injector, error) {
	text, err := chartDefaults()
	if err != nil {
		return nil, fmt.Errorf("the chart's values: %w", err)
	}
	it := &injector{clusters: map[string]*k8s.MetadataAPI{}, log: &warnings{}}
	log.AddHook(it.log)
	return it, json.Unmarshal(text, &it.defaults)
}

// run gives the result of the case on a line.
func (it *injector) run(line []byte) (*result, error) {
	one := &admissionCase{}
	if err := json.Unmarshal(line, one); err != nil {
		return nil, fmt.Errorf("not a case: %w", err)
	}
	answer, err := it.ask(one)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", one.Name, err)
	}
	apply(answer, one.Request.Object)
	return answer, nil
}

// review answers a request as the webhook does, with everything but the object of a case.
func (it *injector) review(one *admissionCase, asked *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
	own := *one
	own.Request = request{
		Kind: asked.Kind.Kind, Namespace: asked.Namespace, Operation: string(asked.Operation), SubResource: asked.SubResource,
		Object: asked.Object.Raw,
	}
	answer, err := it.ask(&own)
	if err != nil {
		return nil, err
	}
	response := &admissionv1.AdmissionResponse{UID: asked.UID, Allowed: answer.Outcome != denied}
	if answer.RawPatch != "" {
		patchType := admissionv1.PatchTypeJSONPatch
		response.PatchType, response.Patch = &patchType, []byte(answer.RawPatch)
	}
	if !response.Allowed {
		response.Result = &metav1.Status{Message: answer.Message}
	}
	return response, nil
}

// ask gives the result of a case with the patch instead of the object.
func (it *injector) ask(one *admissionCase) (*result, error) {
	values, err := configuration(it.defaults, one)
	if err != nil {
		// The webhook would deny every request with it.
		return &result{Name: one.Name, Outcome: denied, Message: err.Error()}, nil
	}
	cluster, err := it.cluster(one)
	if err != nil {
		return nil, err
	}
	asked, err := admissionRequest(one)
	if err != nil {
		return &result{Name: one.Name, Outcome: denied, Message: err.Error()}, nil
	}
	owner := func(pod *corev1.Pod) (string, string, error) {
		// What is logged here is of caches and of clients, not of the case.
		defer it.log.pause()()
		pod.SetNamespace(asked.Namespace)
		return cluster.GetOwnerKindAndName(context.Background(), pod, true)
	}
	it.log.start()
	config := inject.NewResourceConfig(values, inject.OriginWebhook, one.ControlPlaneNamespace).
		WithOwnerRetriever(owner).
		WithNsAnnotations(one.Namespace.Annotations).
		WithKind(asked.Kind.Kind)
	answer := decide(config, asked.Object.Raw)
	answer.Name = one.Name
	answer.Warnings = slices.Sorted(slices.Values(it.log.messages))
	return answer, nil
}

// decide gives the outcome with the patch that the webhook answers with, if any.
func decide(config *inject.ResourceConfig, object []byte) *result {
	report, err := config.ParseMetaAndYAML(object)
	if err != nil {
		return &result{Outcome: denied, Message: err.Error()}
	}
	injectable, reasons := report.Injectable()
	if !injectable {
		patch, err := config.CreateOpaquePortsPatch()
		if err != nil {
			return &result{Outcome: denied, Reasons: reasons, Message: err.Error()}
		}
		if len(patch) == 0 {
			return &result{Outcome: skipped, Reasons: reasons}
		}
		return &result{Outcome: annotated, Reasons: reasons, RawPatch: string(patch)}
	}
	config.AppendPodAnnotation(pkgk8s.CreatedByAnnotation, "linkerd/proxy-injector "+version.Version)
	inject.AppendNamespaceAnnotations(config.GetOverrideAnnotations(), config.GetNsAnnotations(), config.GetWorkloadAnnotations())
	if !config.HasWorkloadAnnotation(pkgk8s.ProxyOpaquePortsAnnotation) {
		defaults := strings.Split(config.GetValues().Proxy.OpaquePorts, ",")
		if ports := config.FilterPodOpaquePorts(defaults); len(ports) != 0 {
			config.AppendPodAnnotation(pkgk8s.ProxyOpaquePortsAnnotation, strings.Join(ports, ","))
		}
	}
	patch, err := config.GetPodPatch(true, inject.GetOverriddenValues)
	if err != nil {
		return &result{Outcome: denied, Message: err.Error()}
	}
	return &result{Outcome: injected, RawPatch: string(patch)}
}

// apply puts the object after the patch into the result, as the API server makes it, and keeps a patch that it could not apply.
func apply(answer *result, object []byte) {
	if answer.RawPatch == "" {
		return
	}
	patched, err := applied(answer.RawPatch, object)
	if err != nil {
		answer.Outcome, answer.Message = badPatch, err.Error()
		return
	}
	answer.Object, answer.RawPatch = patched, ""
}

func applied(raw string, object []byte) (json.RawMessage, error) {
	patch, err := jsonpatch.DecodePatch([]byte(raw))
	if err != nil {
		return nil, err
	}
	return patch.Apply(object)
}

// admissionRequest gives the request as the webhook's server reads it.
func admissionRequest(one *admissionCase) (*admissionv1beta1.AdmissionRequest, error) {
	review, err := json.Marshal(map[string]any{
		"apiVersion": "admission.k8s.io/v1beta1",
		"kind":       "AdmissionReview",
		"request": map[string]any{
			"uid":         one.Name,
			"kind":        metav1.GroupVersionKind{Version: "v1", Kind: one.Request.Kind},
			"namespace":   one.Request.Namespace,
			"operation":   one.Request.Operation,
			"subResource": one.Request.SubResource,
			"object":      one.Request.Object,
		},
	})
	if err != nil {
		return nil, err
	}
	var read admissionv1beta1.AdmissionReview
	if err := yaml.Unmarshal(review, &read); err != nil {
		return nil, err
	}
	return read.Request, nil
}

// cluster gives the API that answers look-ups with the case's objects.
func (it *injector) cluster(one *admissionCase) (*k8s.MetadataAPI, error) {
	key, err := json.Marshal(one.Cluster)
	if err != nil {
		return nil, err
	}
	if known, found := it.clusters[string(key)]; found {
		return known, nil
	}
	objects := make([]string, 0, len(one.Cluster))
	for _, object := range one.Cluster {
		objects = append(objects, string(object))
	}
	api, err := k8s.NewFakeMetadataAPI(objects)
	if err != nil {
		return nil, err
	}
	api.Sync(nil)
	it.clusters[string(key)] = api
	return api, nil
}
