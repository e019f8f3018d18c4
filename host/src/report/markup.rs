//! HTML from numbers: tables, figures with captions, values with their uncertainty. Text is escaped by its type: what is not [`Markup`]
//! cannot become a tag.

use maud::{Markup, PreEscaped, html};

use crate::number;
use crate::report::chart::{Chart, Figure};

/// Plain text, escaped as everything that is not markup.
pub fn text(text: impl AsRef<str>) -> Markup {
    html! { (text.as_ref()) }
}

/// A table. Columns whose index is in `flush` are set flush left.
pub fn table(class: &str, head: &[&str], flush: &[usize], rows: &[Vec<Markup>]) -> Markup {
    let align = |i: usize| flush.contains(&i).then_some("t");
    html! {
        table class=(class) {
            thead { tr { @for (i, cell) in head.iter().enumerate() { th class=[align(i)] { (cell) } } } }
            tbody {
                "\n"
                @for row in rows {
                    tr { @for (i, cell) in row.iter().enumerate() { td class=[align(i)] { (cell) } } }
                    "\n"
                }
            }
        }
        "\n"
    }
}

/// Name and value pairs.
pub fn facts(rows: &[(&str, Markup)]) -> Markup {
    html! {
        table.facts {
            tbody {
                "\n"
                @for (name, value) in rows {
                    tr { th.t { (name) } td.t { (value) } }
                    "\n"
                }
            }
        }
        "\n"
    }
}

/// Something in order, and something that is not.
pub fn good(words: &str) -> Markup {
    html! { span.good { (words) } }
}

pub fn bad(words: impl AsRef<str>) -> Markup {
    html! { span.bad { (words.as_ref()) } }
}

/// Charts as a numbered figure.
pub fn figure(number: usize, charts: &[Chart], columns: usize, caption: &str) -> Markup {
    let size = match columns {
        1 => (900, 250),
        _ => (450, 300),
    };
    let svg = Figure {
        charts,
        size,
        columns,
    }
    .svg();
    // Inside HTML the name space is known; the page names no address at all.
    let svg = svg.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1);
    html! {
        figure id={ "figure-" (number) } {
            "\n" (PreEscaped(svg)) "\n"
            figcaption { b { "Figure " (number) "." } " " (caption) }
        }
        "\n"
    }
}

/// A value and its uncertainty in a common power of ten, with the digits the uncertainty allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaled {
    exponent: i32,
    decimals: usize,
}

impl Scaled {
    /// For `value` known to ± `sigma`; four significant digits without `sigma`.
    pub fn new(value: f64, sigma: Option<f64>) -> Self {
        let magnitude = |x: f64| number::log10(x.abs()).floor() as i32;
        let sigma = sigma.filter(|s| *s > 0.0 && s.is_finite());
        let largest = value.abs().max(sigma.unwrap_or(0.0));
        let usable = largest > 0.0 && largest.is_finite();
        let exponent = if usable { magnitude(largest) } else { 0 };
        // Small powers read better written out.
        let exponent = if (-2..=3).contains(&exponent) {
            0
        } else {
            exponent
        };
        let digits = match sigma {
            Some(sigma) => exponent - magnitude(sigma) + 1,
            None if usable => exponent - magnitude(largest) + 3,
            None => 0,
        };
        Scaled {
            exponent,
            decimals: digits.clamp(0, 8) as usize,
        }
    }

    /// A number in this scale, without its power of ten.
    pub fn digits(&self, x: f64) -> String {
        let text = format!("{:.*}", self.decimals, x / 10f64.powi(self.exponent));
        text.replace('-', "−")
    }

    /// The unit with the power of ten in front.
    pub fn unit(&self, unit: &str) -> Markup {
        match self.exponent {
            0 => text(unit),
            e => html! { "10" sup { (e.to_string().replace('-', "−")) } "\u{a0}" (unit) },
        }
    }
}

/// A fit in percent: more digits the closer it is to 100.
pub fn percent(fit: Option<f64>) -> String {
    match fit {
        None => "did not move".into(),
        Some(fit) if !fit.is_finite() => "diverged".into(),
        Some(fit) if fit < -999.0 => "below −999".into(),
        Some(fit) if fit < 90.0 => format!("{fit:.1}").replace('-', "−"),
        Some(fit) if fit < 99.9 => format!("{fit:.2}"),
        Some(fit) => format!("{fit:.4}"),
    }
}

/// UTC date and time of nanoseconds since 1970.
pub fn date(ns: u64) -> String {
    let seconds = ns / 1_000_000_000;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days of the proleptic Gregorian calendar counted from 1 March 0000.
    let day = days + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (year, month) = match month {
        0..=9 => (era * 400 + year, month + 3),
        _ => (era * 400 + year + 1, month - 9),
    };
    format!(
        "{year}-{month:02}-{date:02} {:02}:{:02}:{:02} UTC",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_uncertainty() {
        let s = Scaled::new(6.004e-4, Some(2.1e-7));
        assert_eq!(
            (s.digits(6.004e-4), s.digits(2.1e-7)),
            ("6.0040".into(), "0.0021".into())
        );
        assert_eq!(s.unit("m").into_string(), "10<sup>−4</sup>\u{a0}m");
        let s = Scaled::new(0.25, None);
        assert_eq!(s.digits(0.25), "0.2500");
        assert_eq!(s.unit("N").into_string(), "N");
        assert_eq!(Scaled::new(0.0, None).digits(0.0), "0");
        assert_eq!(Scaled::new(1e-5, Some(3e-3)).digits(-3e-3), "−3.0");
        assert_eq!(percent(Some(99.98123)), "99.9812");
    }

    #[test]
    fn dates_and_escapes() {
        assert_eq!(date(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(date(951_782_400_000_000_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(date(1_767_225_599_000_000_000), "2025-12-31 23:59:59 UTC");
        let escaped = text("<a & \"b\">").into_string();
        assert_eq!(escaped, "&lt;a &amp; &quot;b&quot;&gt;");
    }
}
