//! The page of every mechanism: complete, closed, and small enough to send.

use stribeck_derive::catalogue;
use stribeck_derive::mechanism::Mechanism;
use stribeck_derive::page::page;
use stribeck_derive::proof::prove;
use stribeck_derive::{kane, lagrange};

#[test]
fn every_mechanism_has_a_page() {
    for entry in catalogue::ALL {
        let m = Mechanism::read(entry.toml).unwrap();
        let (l, k) = (lagrange::derive(&m).unwrap(), kane::derive(&m).unwrap());
        let text = page(&m, &l, &k, &prove(&m, &l, &k).unwrap()).unwrap();
        println!("{}: {} kB", m.name, text.len() / 1000);
        assert!(text.len() < 3_000_000, "{}: {} bytes", m.name, text.len());
        for tag in [
            "math", "mrow", "mtable", "mtr", "mtd", "msub", "msup", "mover", "mfrac", "details",
            "section", "script", "canvas",
        ] {
            let opened = text.matches(&format!("<{tag}>")).count()
                + text.matches(&format!("<{tag} ")).count();
            assert_eq!(
                opened,
                text.matches(&format!("</{tag}>")).count(),
                "{}: {tag}",
                m.name
            );
        }
        assert!(
            !text.contains("http://") && !text.contains("https://"),
            "{} loads something",
            m.name
        );
        assert!(!text.contains("NaN") && !text.contains("undefined"));
    }
}

/// A name from a description cannot become markup or script.
#[test]
fn text_of_a_description_is_escaped() {
    let toml = catalogue::find("doublependulum").unwrap().toml;
    let toml = toml.replace(
        "name = \"doublependulum\"",
        "name = '<script>alert(\"x\")</script>'",
    );
    let m = Mechanism::read(&toml).unwrap();
    let (l, k) = (lagrange::derive(&m).unwrap(), kane::derive(&m).unwrap());
    let text = page(&m, &l, &k, &prove(&m, &l, &k).unwrap()).unwrap();
    assert!(!text.contains("<script>alert") && text.contains("&lt;script&gt;"));
}
