//! The annotations and labels that this policy reads or writes, each named once.
//!
//! Source: `pkg/k8s/labels.go` of linkerd/linkerd2. For every key, an absent annotation means "as configured"; where an
//! empty one means something else, the constant says so. What a value does is the matter of [`crate::overrides`].

/// Whether a pod is meshed: `enabled`, `ingress` or `disabled`; on a namespace, for all its pods. Empty means absent.
pub const INJECT: &str = "linkerd.io/inject";
/// Who injected the pod: this policy and its version.
pub const CREATED_BY: &str = "linkerd.io/created-by";
/// The version of the injected proxy.
pub const PROXY_VERSION: &str = "linkerd.io/proxy-version";
/// SHA-256 of the trust anchors that the proxy was given, of the untrimmed PEM text, in hexadecimal.
pub const TRUST_ROOT_SHA256: &str = "linkerd.io/trust-root-sha256";
/// What this policy wrote to the pod, for its next call: hashes of paths and values.
pub const RECORD: &str = "linkerd.io/injection-record";
/// What a person should know of the injected pod, a line each, for `kubectl describe`.
pub const WARNINGS: &str = "linkerd.io/injection-warnings";
/// The container that kubectl takes when none is named.
pub const DEFAULT_CONTAINER: &str = "kubectl.kubernetes.io/default-container";

/// Label: namespace of the control plane that meshes the pod.
pub const CONTROL_PLANE_NS: &str = "linkerd.io/control-plane-ns";
/// Label: namespace of the pod.
pub const WORKLOAD_NS: &str = "linkerd.io/workload-ns";
/// Label of a namespace: the pod security level that its pods have to meet.
pub const POD_SECURITY_ENFORCE: &str = "pod-security.kubernetes.io/enforce";
/// Annotation of a namespace on OpenShift: the user ids that its pods may run as, `START/LENGTH` or `START-END`.
pub const OPENSHIFT_UID_RANGE: &str = "openshift.io/sa.scc.uid-range";
/// What LimitRanger filled in, in its words.
pub const LIMIT_RANGER: &str = "kubernetes.io/limit-ranger";
/// Label set by the Deployment controller on the pods of one ReplicaSet.
pub const POD_TEMPLATE_HASH: &str = "pod-template-hash";
/// Label: the application instance; the trace service name before [`APP_NAME`].
pub const APP_INSTANCE: &str = "app.kubernetes.io/instance";
/// Label: the application name; the trace service name when there is no instance.
pub const APP_NAME: &str = "app.kubernetes.io/name";
/// Prefix of the annotations that become trace attributes.
pub const OTEL_PREFIX: &str = "resource.opentelemetry.io/";
/// Label of a node, used in node selectors: its operating system.
pub const NODE_OS: &str = "kubernetes.io/os";
/// The former name of [`NODE_OS`].
pub const NODE_OS_BETA: &str = "beta.kubernetes.io/os";

/// Image of the proxy, the init container and the validator, without a tag.
pub const PROXY_IMAGE: &str = "config.linkerd.io/proxy-image";
/// Tag of that image. Empty: the version of the control plane.
pub const PROXY_VERSION_OVERRIDE: &str = "config.linkerd.io/proxy-version";
/// Pull policy of that image. Empty: that of the mesh.
pub const IMAGE_PULL_POLICY: &str = "config.linkerd.io/image-pull-policy";
/// Image of the debug container, without a tag.
pub const DEBUG_IMAGE: &str = "config.linkerd.io/debug-image";
/// Tag of the debug image. Empty: the version of the control plane.
pub const DEBUG_IMAGE_VERSION: &str = "config.linkerd.io/debug-image-version";
/// Pull policy of the debug image. Empty: that of the mesh.
pub const DEBUG_IMAGE_PULL_POLICY: &str = "config.linkerd.io/debug-image-pull-policy";
/// Adds the debug container. Empty: as absent.
pub const ENABLE_DEBUG: &str = "config.linkerd.io/enable-debug-sidecar";
/// The proxy's control port.
pub const CONTROL_PORT: &str = "config.linkerd.io/control-port";
/// The proxy's inbound port.
pub const INBOUND_PORT: &str = "config.linkerd.io/inbound-port";
/// The proxy's outbound port.
pub const OUTBOUND_PORT: &str = "config.linkerd.io/outbound-port";
/// The proxy's admin port.
pub const ADMIN_PORT: &str = "config.linkerd.io/admin-port";
/// The ports on which the application listens, in place of those detected. Empty: none.
pub const POD_INBOUND_PORTS: &str = "config.linkerd.io/pod-inbound-ports";
/// Ports whose inbound connections bypass the proxy. Empty: only the proxy's own.
pub const SKIP_INBOUND_PORTS: &str = "config.linkerd.io/skip-inbound-ports";
/// Ports whose outbound connections bypass the proxy. Empty: none.
pub const SKIP_OUTBOUND_PORTS: &str = "config.linkerd.io/skip-outbound-ports";
/// Networks whose connections bypass the proxy. Empty: none.
pub const SKIP_SUBNETS: &str = "config.linkerd.io/skip-subnets";
/// Ports that are proxied without protocol detection. Empty: none.
pub const OPAQUE_PORTS: &str = "config.linkerd.io/opaque-ports";
/// CPU request of the injected containers.
pub const CPU_REQUEST: &str = "config.linkerd.io/proxy-cpu-request";
/// CPU limit of the injected containers.
pub const CPU_LIMIT: &str = "config.linkerd.io/proxy-cpu-limit";
/// The proxy's worker threads as a share of the node's CPUs, between 0 and 1.
pub const CPU_RATIO_LIMIT: &str = "config.linkerd.io/proxy-cpu-ratio-limit";
/// Memory request of the injected containers.
pub const MEMORY_REQUEST: &str = "config.linkerd.io/proxy-memory-request";
/// Memory limit of the injected containers.
pub const MEMORY_LIMIT: &str = "config.linkerd.io/proxy-memory-limit";
/// Ephemeral storage request of the injected containers.
pub const EPHEMERAL_STORAGE_REQUEST: &str = "config.linkerd.io/proxy-ephemeral-storage-request";
/// Ephemeral storage limit of the injected containers.
pub const EPHEMERAL_STORAGE_LIMIT: &str = "config.linkerd.io/proxy-ephemeral-storage-limit";
/// User id of the proxy.
pub const PROXY_UID: &str = "config.linkerd.io/proxy-uid";
/// Group id of the proxy; a negative one means none.
pub const PROXY_GID: &str = "config.linkerd.io/proxy-gid";
/// Whether the proxy's admin server can shut it down.
pub const ADMIN_SHUTDOWN: &str = "config.linkerd.io/proxy-admin-shutdown";
/// The proxy's log filter.
pub const LOG_LEVEL: &str = "config.linkerd.io/proxy-log-level";
/// Whether the proxy may log HTTP headers.
pub const LOG_HTTP_HEADERS: &str = "config.linkerd.io/proxy-log-http-headers";
/// The proxy's log format.
pub const LOG_FORMAT: &str = "config.linkerd.io/proxy-log-format";
/// The proxy's access log format. Empty: no access log.
pub const ACCESS_LOG: &str = "config.linkerd.io/access-log";
/// Whether service profiles of external names are looked up.
pub const ENABLE_EXTERNAL_PROFILES: &str = "config.linkerd.io/enable-external-profiles";
/// Inbound ports that demand a mesh identity. Empty: none.
pub const REQUIRE_IDENTITY_PORTS: &str = "config.linkerd.io/proxy-require-identity-inbound-ports";
/// Whether outbound metrics carry host names.
pub const METRICS_HOSTNAME_LABELS: &str = "config.linkerd.io/proxy-metrics-hostname-labels";
/// Timeout of outbound TCP connections.
pub const OUTBOUND_CONNECT_TIMEOUT: &str = "config.linkerd.io/proxy-outbound-connect-timeout";
/// Timeout of inbound TCP connections.
pub const INBOUND_CONNECT_TIMEOUT: &str = "config.linkerd.io/proxy-inbound-connect-timeout";
/// How long unused outbound discovery results are kept.
pub const OUTBOUND_DISCOVERY_TIMEOUT: &str = "config.linkerd.io/proxy-outbound-discovery-cache-unused-timeout";
/// How long unused inbound discovery results are kept.
pub const INBOUND_DISCOVERY_TIMEOUT: &str = "config.linkerd.io/proxy-inbound-discovery-cache-unused-timeout";
/// Switches the outbound protocol detection timeout off.
pub const DISABLE_OUTBOUND_DETECT_TIMEOUT: &str = "config.linkerd.io/proxy-disable-outbound-protocol-detect-timeout";
/// Switches the inbound protocol detection timeout off.
pub const DISABLE_INBOUND_DETECT_TIMEOUT: &str = "config.linkerd.io/proxy-disable-inbound-protocol-detect-timeout";
/// How long the proxy waits for connections to end when it is stopped.
pub const SHUTDOWN_GRACE_PERIOD: &str = "config.linkerd.io/shutdown-grace-period";
/// Whether the proxy is a multicluster gateway.
pub const ENABLE_GATEWAY: &str = "config.linkerd.io/enable-gateway";
/// `nf_conntrack_tcp_timeout_close_wait` of the pod. Empty: as absent.
pub const CLOSE_WAIT_TIMEOUT: &str = "config.linkerd.io/close-wait-timeout";
/// Seconds that the proxy outlives a stop of the pod.
pub const WAIT_BEFORE_EXIT: &str = "config.alpha.linkerd.io/proxy-wait-before-exit-seconds";
/// Whether the proxy is a native sidecar.
pub const NATIVE_SIDECAR: &str = "config.linkerd.io/proxy-enable-native-sidecar";
/// The former name of [`NATIVE_SIDECAR`].
pub const NATIVE_SIDECAR_BETA: &str = "config.beta.linkerd.io/proxy-enable-native-sidecar";
/// The first name of [`NATIVE_SIDECAR`].
pub const NATIVE_SIDECAR_ALPHA: &str = "config.alpha.linkerd.io/proxy-enable-native-sidecar";
/// Whether the application waits for the proxy: `enabled` or `disabled`.
pub const AWAIT: &str = "config.linkerd.io/proxy-await";
/// What inbound traffic is allowed where no policy says.
pub const DEFAULT_INBOUND_POLICY: &str = "config.linkerd.io/default-inbound-policy";
/// More environment variables of the proxy, a JSON list; merged by name: values, namespace, pod. Empty: none.
pub const ADDITIONAL_ENV: &str = "config.linkerd.io/proxy-additional-env";
