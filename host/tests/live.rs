//! The live view drawn into memory: a deterministic moment of a simulated run, compared with the golden picture.
//!
//! `STRIBECK_BLESS=1 cargo test --release --test live` rewrites the picture after a wanted change; look at it.

use std::path::Path;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use stribeck::cli::live::feed::Feed;
use stribeck::cli::live::screen::{self, View};
use stribeck::link::command;
use stribeck::link::scenario::Scenario;
use stribeck::link::session::Session;
use stribeck::link::source::{Arrival, Source};
use stribeck::link::twin::Twin;
use stribeck_core::device::config::Config;
use stribeck_core::wire::Ask;

fn view() -> View {
    View {
        span_s: 10.0,
        paused: false,
        help: false,
        recording: None,
        source: "sim".into(),
        lost: false,
    }
}

/// What the view has seen after `seconds` of the default simulated run.
fn feed_after(seconds: f64) -> Feed {
    let mut twin = Twin::new(
        &Config::default(),
        &Scenario::default(),
        Some(seconds),
        false,
    );
    twin.write(&command::frame(1, Ask::Start)).unwrap();
    let (mut session, mut feed) = (Session::live(true), Feed::default());
    let mut bytes = Vec::new();
    while twin.read(&mut bytes).unwrap() != Arrival::End {
        session
            .bytes(&bytes, |h| -> Result<(), ()> {
                feed.take(&h);
                Ok(())
            })
            .unwrap();
        bytes.clear();
    }
    feed
}

fn picture(feed: &Feed, view: &View, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| screen::draw(frame, feed, view))
        .unwrap();
    terminal.backend().to_string()
}

#[test]
fn a_moment_of_the_default_run_looks_like_the_golden_picture() {
    let feed = feed_after(12.0);
    let got = picture(&feed, &view(), 120, 40);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/live.txt");
    if std::env::var_os("STRIBECK_BLESS").is_some() {
        std::fs::write(&path, &got).unwrap();
    }
    let want = std::fs::read_to_string(&path).unwrap();
    assert!(
        got == want,
        "the live view changed; if wanted, bless it:\n{got}"
    );
    assert_eq!((feed.lost_ticks, feed.differing), (0, 0));
    assert!(
        feed.compared > 1000,
        "bits are compared while watching: {}",
        feed.compared
    );
}

#[test]
fn small_terminals_empty_feeds_and_the_help_draw() {
    let mut view = view();
    for (w, h) in [(80, 24), (40, 12), (10, 5), (1, 1)] {
        picture(&Feed::default(), &view, w, h);
    }
    view.help = true;
    view.paused = true;
    view.lost = true;
    view.recording = Some("live-1.mcap".into());
    let text = picture(&feed_after(1.0), &view, 100, 30);
    for expected in ["arm: hold the links", "paused", "unplugged", "live-1.mcap"] {
        assert!(text.contains(expected), "{expected} is missing:\n{text}");
    }
}
