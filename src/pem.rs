//! The armour of a trust bundle.
//!
//! Whether a certificate is one that the proxy trusts is the proxy's matter; a text that holds none at all, or something else in the
//! armour of one, would leave every proxy without an identity, so that is caught here. Of each, the beginning is read.

use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine, alphabet};

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
        if !begins_a_certificate(body) {
            return Err("a bundle with something else than a certificate");
        }
        found = true;
        rest = after;
    }
    if found { Ok(()) } else { Err("not a bundle of PEM certificates") }
}

/// Whether base64 is that of a certificate, as far as its first bytes tell: a sequence that begins with a sequence and is not longer than
/// it says. What is cut off behind that is not seen.
fn begins_a_certificate(body: &str) -> bool {
    // Enough for two tags with their lengths.
    const HEAD: usize = 24;
    let letters: Vec<u8> = body.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let padding = letters.iter().rev().take_while(|b| **b == b'=').count();
    let padded_at_the_end = letters.iter().filter(|b| **b == b'=').count() == padding && padding <= 2;
    if !letters.len().is_multiple_of(4) || !padded_at_the_end {
        return false;
    }
    let bytes = (letters.len() / 4).saturating_mul(3).saturating_sub(padding);
    let Ok(head) = BASE64.decode(letters.get(..HEAD).unwrap_or(&letters)) else { return false };
    let Some((SEQUENCE, rest)) = head.split_first().map(|(tag, rest)| (*tag, rest)) else { return false };
    let Some((length, content)) = length(rest) else { return rest.len() < LONGEST_LENGTH };
    let before = head.len().saturating_sub(content.len());
    bytes <= before.saturating_add(length) && content.first().is_none_or(|tag| *tag == SEQUENCE)
}

/// Bits that say nothing at the end are no fault of a certificate.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));
/// The tag of a sequence in DER.
const SEQUENCE: u8 = 0x30;
/// The most bytes that the length of a certificate takes: one that says how many follow, and three.
const LONGEST_LENGTH: usize = 4;

/// A length in DER and what comes after it; `None` where it is cut off, or longer than that of any certificate.
fn length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    if *first < 0x80 {
        return Some((usize::from(*first), rest));
    }
    let (digits, rest) = rest.split_at_checked(usize::from(*first & 0x7f))?;
    let fits = (1..LONGEST_LENGTH).contains(&digits.len());
    fits.then(|| (digits.iter().fold(0_usize, |sum, digit| (sum << 8) | usize::from(*digit)), rest))
}

#[cfg(test)]
mod tests {
    use super::bundle;

    #[test]
    fn bundles() {
        let another = "a bundle with something else than a certificate";
        let one = "-----BEGIN CERTIFICATE-----\nMIIB+/==\n-----END CERTIFICATE-----\n";
        for (text, expected) in [
            (one.to_owned(), Ok(())),
            (format!("\n\n  {one}{one}"), Ok(())),
            (String::new(), Err("not a bundle of PEM certificates")),
            ("MIIB".to_owned(), Err("not a bundle of PEM certificates")),
            ("-----BEGIN CERTIFICATE-----\nMIIB\n".to_owned(), Err("a bundle with an unfinished certificate")),
            (one.replace("MIIB+/==", "MIIBizCCATGgAwIBAgIRAKq0bVbZ6m0f8dF9nVn2mDYw"), Ok(())),
            // The beginnings of a private key, a text, a certificate that says how short it is, and one letter too few.
            (one.replace("MIIB+/==", "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIB"), Err(another)),
            (one.replace("MIIB+/==", "aHVudGVyMg=="), Err(another)),
            (one.replace("MIIB+/==", "MAMwAQAA"), Err(another)),
            (one.replace("MIIB+/==", "MAMwAQA="), Ok(())),
            (one.replace("MIIB+/==", "MIIBizC"), Err(another)),
            (one.replace("MIIB+/==", "MIIB=w=="), Err(another)),
            (one.replace("MIIB+/==", "MIX///////8="), Err(another)),
            (one.replace("MIIB+/==", "{{ anchors }}"), Err("a bundle with a certificate that is not base64")),
            (one.replace("MIIB+/==", ""), Err("a bundle with a certificate that is not base64")),
            (format!("{one}-----BEGIN CERTIFICATE-----"), Err("a bundle with an unfinished certificate")),
        ] {
            assert_eq!(bundle(&text), expected, "{text}");
        }
    }
}
