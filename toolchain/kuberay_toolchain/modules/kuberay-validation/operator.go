package main

import (
	"context"
	_ "unsafe" // for go:linkname

	"k8s.io/apimachinery/pkg/runtime"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
)

// The RayJob controller's own steps are not exported; the linker gives them to
// this program under the names that they have in the pinned version.

//go:linkname validateRayJob github.com/ray-project/kuberay/ray-operator/controllers/ray.validateRayJob
func validateRayJob(ctx context.Context, job *rayv1.RayJob) (utils.K8sEventType, error)

//go:linkname initRayJobStatusIfNeed github.com/ray-project/kuberay/ray-operator/controllers/ray.initRayJobStatusIfNeed
func initRayJobStatusIfNeed(ctx context.Context, job *rayv1.RayJob)

//go:linkname constructRayCluster github.com/ray-project/kuberay/ray-operator/controllers/ray.(*RayJobReconciler).constructRayClusterForRayJob
func constructRayCluster(r *ray.RayJobReconciler, job *rayv1.RayJob, name string) (*rayv1.RayCluster, error)

// rayClusterOf makes the RayCluster as the RayJob controller does before it creates it.
func rayClusterOf(ctx context.Context, job *rayv1.RayJob, scheme *runtime.Scheme) (*rayv1.RayCluster, error) {
	started := job.DeepCopy()
	initRayJobStatusIfNeed(ctx, started)
	return constructRayCluster(&ray.RayJobReconciler{Scheme: scheme}, started, started.Status.RayClusterName)
}

// validateRayCluster runs the checks of the RayCluster controller in its order.
func validateRayCluster(cluster *rayv1.RayCluster) error {
	if err := utils.ValidateRayClusterMetadata(cluster.ObjectMeta); err != nil {
		return err
	}
	if err := utils.ValidateRayClusterSpec(&cluster.Spec, cluster.Annotations); err != nil {
		return err
	}
	if err := utils.ValidateRayClusterUpgradeOptions(cluster); err != nil {
		return err
	}
	return utils.ValidateRayClusterStatus(cluster)
}
