//! Admission webhooks that a test serves itself, over HTTPS: others who edit the pods that we edit.

use std::{
    io::{BufRead, BufReader, Read as _, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::Arc,
    thread,
};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
};
use serde_json::{Value, json};
use thiserror::Error;

use super::certificate::Certificate;

/// What answers at a path.
pub enum Handler {
    /// Changes the object of a request.
    Edit(fn(&mut Value)),
    /// Hands the request to who answers at this address, over HTTP.
    Forward(String),
}

/// A webhook that cannot be served.
#[derive(Debug, Error)]
pub enum ServeError {
    /// It has no certificate.
    #[error("cannot make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// TLS does not take the certificate.
    #[error("cannot use the certificate: {0}")]
    Tls(#[from] rustls::Error),
    /// It has no port.
    #[error("cannot listen: {0}")]
    Listen(#[from] std::io::Error),
}

/// Webhooks by path, served until the process ends.
pub struct Webhooks {
    port: u16,
    /// What their clients have to trust, as PEM.
    pub ca: String,
}

impl Webhooks {
    /// Serves each handler at `/` and its name.
    ///
    /// # Errors
    /// There is no certificate or no port.
    pub fn serve(handlers: Vec<(String, Handler)>) -> Result<Self, ServeError> {
        let Certificate { pem, der, key_der, .. } = Certificate::for_loopback()?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key_der));
        let tls = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![CertificateDer::from(der)], key)?;
        let (tls, handlers) = (Arc::new(tls), Arc::new(handlers));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (tls, handlers) = (Arc::clone(&tls), Arc::clone(&handlers));
                // A client that goes away ends its thread, and the API server says so to the test.
                thread::spawn(move || connection(stream, tls, &handlers));
            }
        });
        Ok(Self { port, ca: pem })
    }

    /// Where a handler is served.
    #[must_use]
    pub fn url(&self, name: &str) -> String {
        format!("https://127.0.0.1:{}/{name}", self.port)
    }
}

fn connection(stream: TcpStream, tls: Arc<ServerConfig>, handlers: &[(String, Handler)]) -> std::io::Result<()> {
    let session = ServerConnection::new(tls).map_err(std::io::Error::other)?;
    let mut stream = BufReader::new(StreamOwned::new(session, stream));
    while let Some((path, body)) = request(&mut stream)? {
        let is_asked = |name: &str| path.strip_prefix('/').is_some_and(|path| path.split('?').next() == Some(name));
        let (status, answer) = match handlers.iter().find(|(name, _)| is_asked(name)) {
            Some((_, handler)) => ("200 OK", handler.answer(&body)?),
            None => ("404 Not Found", String::new()),
        };
        let length = answer.len();
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n");
        let writer = stream.get_mut();
        writer.write_all(head.as_bytes())?;
        writer.write_all(answer.as_bytes())?;
        writer.flush()?;
    }
    Ok(())
}

/// Path and body of the next request, `None` at the connection's end. The API server sends bodies with their length.
fn request(stream: &mut impl BufRead) -> std::io::Result<Option<(String, Vec<u8>)>> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        line.clear();
        stream.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().map_err(std::io::Error::other)?;
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = Vec::new();
    stream.take(length).read_to_end(&mut body)?;
    Ok(Some((path, body)))
}

impl Handler {
    fn answer(&self, body: &[u8]) -> std::io::Result<String> {
        match self {
            Handler::Edit(edit) => Ok(respond(&serde_json::from_slice(body)?, *edit).to_string()),
            Handler::Forward(url) => {
                let answer = ureq::post(url).content_type("application/json").send(body).map_err(std::io::Error::other)?;
                answer.into_body().read_to_string().map_err(std::io::Error::other)
            }
        }
    }
}

fn respond(review: &Value, edit: fn(&mut Value)) -> Value {
    let empty = Value::Null;
    let request = review.get("request").unwrap_or(&empty);
    let object = request.get("object").unwrap_or(&empty);
    let mut edited = object.clone();
    edit(&mut edited);
    let patch = json!(json_patch::diff(object, &edited)).to_string();
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {
            "uid": request.get("uid"),
            "allowed": true,
            "patchType": "JSONPatch",
            "patch": BASE64_STANDARD.encode(patch),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_requests_until_the_end() {
        let mut stream: &[u8] = b"POST /a?timeout=10s HTTP/1.1\r\ncontent-length: 2\r\nHost: x\r\n\r\n{}GET /b HTTP/1.1\r\n\r\n";
        assert_eq!(request(&mut stream).unwrap(), Some(("/a?timeout=10s".to_owned(), b"{}".to_vec())));
        assert_eq!(request(&mut stream).unwrap(), Some(("/b".to_owned(), Vec::new())));
        assert_eq!(request(&mut stream).unwrap(), None);
    }

    #[test]
    fn answers_with_a_patch() {
        let review = json!({"request": {"uid": "u", "object": {"a": 1}}});
        let answer = respond(&review, |object| *object = json!({"a": 2}));
        assert_eq!(answer["response"]["uid"], "u");
        let patch = BASE64_STANDARD.decode(answer["response"]["patch"].as_str().unwrap()).unwrap();
        assert_eq!(String::from_utf8(patch).unwrap(), r#"[{"op":"replace","path":"/a","value":2}]"#);
    }
}
