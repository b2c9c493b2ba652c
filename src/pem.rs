//! The armour of a trust bundle.
//!
//! Whether a certificate is one that the proxy trusts is the proxy's matter; a text that holds none at all would leave every proxy
//! without an identity, so that is caught here.

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// Whether the text holds at least one certificate in PEM form, and every one of them whole.
///
/// # Errors
/// A noun phrase that says what is missing, without any of the text.
pub fn bundle(text: &str) -> Result<(), &'static str> {
    let mut rest = text;
    let mut found = false;
    while let Some((_, after)) = rest.split_once(BEGIN) {
        let Some((body, after)) = after.split_once(END) else {
            return Err("a bundle with an unfinished certificate");
        };
        let armour = |b: u8| b.is_ascii_alphanumeric() || b.is_ascii_whitespace() || matches!(b, b'+' | b'/' | b'=');
        if body.trim().is_empty() || !body.bytes().all(armour) {
            return Err("a bundle with a certificate that is not base64");
        }
        found = true;
        rest = after;
    }
    if found { Ok(()) } else { Err("not a bundle of PEM certificates") }
}

#[cfg(test)]
mod tests {
    use super::bundle;

    #[test]
    fn bundles() {
        let one = "-----BEGIN CERTIFICATE-----\nMIIB+/==\n-----END CERTIFICATE-----\n";
        for (text, expected) in [
            (one.to_owned(), Ok(())),
            (format!("\n\n  {one}{one}"), Ok(())),
            (String::new(), Err("not a bundle of PEM certificates")),
            ("MIIB".to_owned(), Err("not a bundle of PEM certificates")),
            ("-----BEGIN CERTIFICATE-----\nMIIB\n".to_owned(), Err("a bundle with an unfinished certificate")),
            (one.replace("MIIB+/==", "{{ anchors }}"), Err("a bundle with a certificate that is not base64")),
            (one.replace("MIIB+/==", ""), Err("a bundle with a certificate that is not base64")),
            (format!("{one}-----BEGIN CERTIFICATE-----"), Err("a bundle with an unfinished certificate")),
        ] {
            assert_eq!(bundle(&text), expected, "{text}");
        }
    }
}
