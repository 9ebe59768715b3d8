//! The style of all pages, and the name by which a policy lets it in.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// The style of all pages, light and dark, on a screen and on paper.
pub const STYLE: &str = include_str!("style.css");

/// A text as the sources of a Content-Security-Policy name it: `sha256-...`.
pub(crate) fn source(text: &str) -> String {
    format!(
        "sha256-{}",
        STANDARD.encode(Sha256::digest(text.as_bytes()))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_text_is_named_by_its_hash() {
        // The test vector of FIPS 180-4 in base64.
        assert_eq!(
            source("abc"),
            "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
        );
    }

    /// The colours of the scheme that begins with this text.
    fn colours(begins: &str) -> BTreeMap<String, [f64; 3]> {
        let (_, rest) = STYLE.split_once(begins).expect("a scheme");
        let (block, _) = rest.split_once('}').expect("its end");
        let declarations = block
            .split(['{', ';'])
            .filter_map(|one| one.split_once(": #"));
        declarations
            .map(|(name, digits)| {
                let digits: Vec<u8> = digits.trim().bytes().collect();
                let digit = |at: usize| {
                    let at = if digits.len() == 3 {
                        [at, at]
                    } else {
                        [2 * at, 2 * at + 1]
                    };
                    let value = at.map(|at| char::from(digits[at]).to_digit(16).expect("a digit"));
                    f64::from(value[0] * 16 + value[1]) / 255.0
                };
                (
                    name.trim().trim_start_matches("--").to_owned(),
                    [digit(0), digit(1), digit(2)],
                )
            })
            .collect()
    }

    /// Relative luminance and contrast (WCAG 2.2).
    fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
        let linear = |c: f64| {
            if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        };
        let luminance =
            |[r, g, b]: [f64; 3]| 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_and_graphics_stand_out_in_every_scheme() {
        for begins in [
            ":root {",
            "(prefers-color-scheme: dark) {\n  :root {",
            "color-scheme: light;\n",
        ] {
            let colours = colours(begins);
            let of = |name: &str| {
                *colours
                    .get(name)
                    .unwrap_or_else(|| panic!("{name} in {begins}"))
            };
            for text in ["ink", "soft", "link", "good", "doubt", "bad"] {
                for ground in ["page", "panel"] {
                    let contrast = contrast(of(text), of(ground));
                    assert!(
                        contrast >= 4.5,
                        "{begins} {text} on {ground}: {contrast:.2}"
                    );
                }
            }
            for shade in 0..crate::html::chart::matrix::SHADES {
                let contrast = contrast(of("ink"), of(&format!("h{shade}")));
                assert!(contrast >= 4.5, "{begins} on h{shade}: {contrast:.2}");
            }
            for place in 0..crate::html::plot::SERIES {
                let series = of(&format!("s{place}"));
                let on_page = contrast(series, of("page"));
                assert!(on_page >= 3.0, "{begins} s{place}: {on_page:.2}");
                let letter = contrast(series, of("on"));
                assert!(letter >= 4.0, "{begins} letter on s{place}: {letter:.2}");
            }
        }
    }
}
