;; A minimal waPC guest, see the tests that use it.
(module
  (import "wapc" "__guest_request" (func $guest_request (param i32 i32)))
  (import "wapc" "__guest_response" (func $guest_response (param i32 i32)))
  (import "wapc" "__host_call"
    (func $host_call (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "wapc" "__host_response_len" (func $host_response_len (result i32)))
  (import "wapc" "__host_response" (func $host_response (param i32)))
  (import "wapc" "__host_error_len" (func $host_error_len (result i32)))
  (import "wapc" "__host_error" (func $host_error (param i32)))
  (memory (export "memory") 1)
  (global $calls (mut i32) (i32.const 0))
  (data (i32.const 0) "kubewarden")
  (data (i32.const 16) "kubernetes")
  (data (i32.const 32) "get_resource")
  (data (i32.const 64) "\"v1\"")
  (data (i32.const 128)
    "{\"api_version\":\"v1\",\"kind\":\"Namespace\",\"name\":\"shop\",\"disable_cache\":false}")
  (func (export "__guest_call") (param $operation i32) (param $payload i32) (result i32)
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (call $guest_request (i32.const 1024) (i32.const 2048))
    ;; "validate" has 8 letters, "protocol_version" 16.
    (if (i32.eq (local.get $operation) (i32.const 8)) (then
      (if (call $host_call
            (i32.const 0) (i32.const 10) (i32.const 16) (i32.const 10)
            (i32.const 32) (i32.const 12) (i32.const 128) (i32.const 75))
        (then
          (call $host_response (i32.const 4096))
          (call $guest_response (i32.const 4096) (call $host_response_len)))
        (else
          (call $host_error (i32.const 4096))
          (call $guest_response (i32.const 4096) (call $host_error_len))))
      (return (i32.const 1))))
    (if (i32.eq (local.get $operation) (i32.const 16)) (then
      (call $guest_response (i32.const 64) (i32.const 4))
      (return (i32.const 1))))
    (i32.store8 (i32.const 96) (i32.add (i32.const 48) (global.get $calls)))
    (call $guest_response (i32.const 96) (i32.const 1))
    (i32.const 1)))
