// Command kuberay-validation answers what the KubeRay operator of the pinned
// version says to a RayJob, without a cluster.
//
// Every line of standard input is a question: a JSON object with the RayJob as
// the API server stores it ("job") and the feature gates that differ from the
// operator's defaults ("gates"). Every line of standard output is the answer to
// the question in the same place. Nothing is decided here: all verdicts come
// from the operator's own functions.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	ctrl "sigs.k8s.io/controller-runtime"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
)

// question is one line of input.
type question struct {
	Gates map[string]bool `json:"gates"`
	Job   json.RawMessage `json:"job"`
}

// answer is one line of output. At most one of its fields is set, the first
// that applies; none is set if the RayJob and its RayCluster are accepted.
type answer struct {
	// Decode says why the question is no RayJob, or no known gates.
	Decode string `json:"decode,omitempty"`
	// Panic is what the operator panicked with.
	Panic string `json:"panic,omitempty"`
	// Error is the message of jobDeploymentStatus ValidationFailed, and Type the type of its event.
	Error string `json:"error,omitempty"`
	Type  string `json:"type,omitempty"`
	// Construct says why no RayCluster can be made from the RayJob.
	Construct string `json:"construct,omitempty"`
	// Cluster is the error with which the RayCluster controller refuses the RayCluster of the RayJob.
	Cluster string `json:"cluster,omitempty"`
}

func main() {
	log.SetFlags(0)
	if err := serve(); err != nil {
		log.Fatal(err)
	}
}

func serve() error {
	ctrl.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	if err := rayv1.AddToScheme(scheme); err != nil {
		return err
	}
	gates := newGates(utilfeature.DefaultMutableFeatureGate)
	decoder := json.NewDecoder(os.Stdin)
	encoder := json.NewEncoder(os.Stdout)
	for decoder.More() {
		var asked question
		if err := decoder.Decode(&asked); err != nil {
			return fmt.Errorf("a question is no JSON object with job and gates: %w", err)
		}
		if err := encoder.Encode(reply(asked, gates, scheme)); err != nil {
			return err
		}
	}
	return nil
}

func reply(asked question, gates *gates, scheme *runtime.Scheme) (given answer) {
	defer func() {
		if cause := recover(); cause != nil {
			given = answer{Panic: fmt.Sprint(cause)}
		}
	}()
	job := &rayv1.RayJob{}
	if err := json.Unmarshal(asked.Job, job); err != nil {
		return answer{Decode: err.Error()}
	}
	if err := gates.set(asked.Gates); err != nil {
		return answer{Decode: err.Error()}
	}
	ctx := context.Background()
	if event, err := validateRayJob(ctx, job); err != nil {
		return answer{Error: err.Error(), Type: string(event)}
	}
	if len(job.Spec.ClusterSelector) != 0 {
		return answer{}
	}
	cluster, err := rayClusterOf(ctx, job, scheme)
	if err != nil {
		return answer{Construct: err.Error()}
	}
	if err := validateRayCluster(cluster); err != nil {
		return answer{Cluster: err.Error()}
	}
	return answer{}
}

// gates are the feature gates of the operator and those that differ from its defaults.
type gates struct {
	all      featuregate.MutableFeatureGate
	defaults map[string]bool
	changed  map[string]bool
}

func newGates(all featuregate.MutableFeatureGate) *gates {
	defaults := map[string]bool{}
	for name, spec := range all.GetAll() {
		defaults[string(name)] = spec.Default
	}
	return &gates{all: all, defaults: defaults, changed: map[string]bool{}}
}

// set takes every gate back to its default except those of overrides.
func (g *gates) set(overrides map[string]bool) error {
	for name := range overrides {
		if _, known := g.defaults[name]; !known {
			return fmt.Errorf("the operator has no feature gate %q", name)
		}
	}
	wanted := map[string]bool{}
	for name := range g.changed {
		wanted[name] = g.defaults[name]
	}
	maps.Copy(wanted, overrides)
	if err := g.all.SetFromMap(wanted); err != nil {
		return err
	}
	g.changed = maps.Clone(overrides)
	return nil
}
