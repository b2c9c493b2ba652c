//! The JSON of what is rendered.
//!
//! The types are those of k8s-openapi. Its own writers have every field that the API has, a twentieth of the module, and copy every
//! text; here each type writes the fields that rendering sets, and moves their texts. Tests write each object both ways, so that no
//! field can be forgotten here.

use k8s_openapi::api::core::v1::{
    Capabilities, Container, ContainerPort, DownwardAPIVolumeFile, DownwardAPIVolumeSource, EmptyDirVolumeSource, EnvVar,
    EnvVarSource, ExecAction, HTTPGetAction, Lifecycle, LifecycleHandler, ObjectFieldSelector, Probe, ProjectedVolumeSource,
    ResourceRequirements, SeccompProfile, SecurityContext, ServiceAccountTokenProjection, VolumeMount, VolumeProjection,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What can be written.
pub(super) trait Json {
    /// Its JSON; `null` where there is none.
    fn json(self) -> Value;
}

/// A typed object as JSON.
pub(super) fn json<T: Json + serde::Serialize>(typed: T) -> Value {
    #[cfg(test)]
    let by_its_own_writer = serde_json::to_value(&typed).unwrap_or_default();
    let json = typed.json();
    #[cfg(test)]
    assert_eq!(json, by_its_own_writer, "a field is not written");
    json
}

/// An object of these fields, without those that are `null`.
pub(super) fn object<const N: usize>(mut fields: [(&'static str, Value); N]) -> Value {
    fn of(fields: &mut [(&'static str, Value)]) -> Value {
        let mut object = Map::new();
        for (name, value) in fields {
            if !value.is_null() {
                object.insert((*name).to_owned(), value.take());
            }
        }
        Value::Object(object)
    }
    of(&mut fields)
}

/// Types whose objects have these fields.
macro_rules! objects {
    ($($type:ty { $($name:literal: $field:ident),* })*) => {
        $(impl Json for $type {
            fn json(self) -> Value {
                object([$(($name, self.$field.json())),*])
            }
        })*
    };
}

objects! {
    Capabilities { "add": add, "drop": drop }
    Container {
        "args": args,
        "command": command,
        "image": image,
        "imagePullPolicy": image_pull_policy,
        "lifecycle": lifecycle,
        "livenessProbe": liveness_probe,
        "name": name,
        "ports": ports,
        "readinessProbe": readiness_probe,
        "resources": resources,
        "restartPolicy": restart_policy,
        "securityContext": security_context,
        "startupProbe": startup_probe,
        "terminationMessagePolicy": termination_message_policy,
        "volumeMounts": volume_mounts
    }
    ContainerPort { "containerPort": container_port, "name": name }
    DownwardAPIVolumeFile { "fieldRef": field_ref, "path": path }
    DownwardAPIVolumeSource { "items": items }
    EmptyDirVolumeSource { "medium": medium }
    EnvVar { "name": name, "value": value, "valueFrom": value_from }
    EnvVarSource { "fieldRef": field_ref }
    ExecAction { "command": command }
    HTTPGetAction { "path": path, "port": port }
    Lifecycle { "postStart": post_start, "preStop": pre_stop }
    LifecycleHandler { "exec": exec }
    ObjectFieldSelector { "fieldPath": field_path }
    Probe {
        "exec": exec,
        "failureThreshold": failure_threshold,
        "httpGet": http_get,
        "initialDelaySeconds": initial_delay_seconds,
        "periodSeconds": period_seconds,
        "timeoutSeconds": timeout_seconds
    }
    ProjectedVolumeSource { "sources": sources }
    ResourceRequirements { "limits": limits, "requests": requests }
    SeccompProfile { "type": type_ }
    SecurityContext {
        "allowPrivilegeEscalation": allow_privilege_escalation,
        "capabilities": capabilities,
        "privileged": privileged,
        "readOnlyRootFilesystem": read_only_root_filesystem,
        "runAsGroup": run_as_group,
        "runAsNonRoot": run_as_non_root,
        "runAsUser": run_as_user,
        "seccompProfile": seccomp_profile
    }
    ServiceAccountTokenProjection { "audience": audience, "expirationSeconds": expiration_seconds, "path": path }
    VolumeMount { "mountPath": mount_path, "name": name, "readOnly": read_only }
    VolumeProjection { "serviceAccountToken": service_account_token }
}

impl<T: Json> Json for Option<T> {
    fn json(self) -> Value {
        self.map_or(Value::Null, Json::json)
    }
}

impl<T: Json> Json for Vec<T> {
    fn json(self) -> Value {
        self.into_iter().map(Json::json).collect()
    }
}

impl Json for BTreeMap<String, Quantity> {
    fn json(self) -> Value {
        let mut object = Map::new();
        for (name, Quantity(amount)) in self {
            object.insert(name, amount.into());
        }
        object.into()
    }
}

impl Json for IntOrString {
    fn json(self) -> Value {
        match self {
            IntOrString::Int(number) => number.into(),
            IntOrString::String(text) => text.into(),
        }
    }
}

/// Scalars.
macro_rules! scalars {
    ($($type:ty),*) => {
        $(impl Json for $type {
            fn json(self) -> Value {
                self.into()
            }
        })*
    };
}

scalars!(bool, i32, i64, String);
