//! What changes, told as it changes.

use crate::limits::Limits;
use hyper::body::Bytes;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;
use tokio::sync::{mpsc, watch};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// Draws what there is now; `None` when nothing of it will change any more.
pub type Draw = Box<dyn FnMut() -> Option<String> + Send>;

/// So many times as long as a drawing took passes before the next: who looks on takes a fiftieth
/// of a processor at most from what is looked at, which is a measurement.
const SELDOM: u32 = 50;

/// Draws again and again, and sends what is unlike what was seen last.
///
/// `seen` is the id of the last event that the other side saw, where it had one before; `over`
/// says that the connection takes no more.
pub(crate) async fn tell(
    mut draw: Draw,
    mut seen: Option<String>,
    to: mpsc::Sender<Bytes>,
    mut over: watch::Receiver<bool>,
    limits: Limits,
) {
    loop {
        let began = Instant::now();
        let drawn = spawn_blocking(move || {
            let drawn = draw();
            (draw, drawn)
        });
        // One that panicked said so where the server runs.
        let Ok((again, drawn)) = drawn.await else {
            return;
        };
        draw = again;
        let took = began.elapsed();
        let Some(drawn) = drawn else {
            // Who went away needs no end.
            let _ = to.send(Bytes::from_static(b"event: end\ndata:\n\n")).await;
            return;
        };
        let id = id(&drawn);
        if seen.as_ref() != Some(&id) {
            if to.send(event(&id, &drawn)).await.is_err() {
                return;
            }
            seen = Some(id);
        }
        let wait = limits.look.max(took.saturating_mul(SELDOM));
        // Also where the connection is gone, and with it who would say so.
        if timeout(wait, over.wait_for(|over| *over)).await.is_ok() {
            return;
        }
    }
}

/// Tells one drawing from another.
fn id(drawn: &str) -> String {
    let mut hasher = DefaultHasher::new();
    drawn.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// An event as it is sent: a line ends with CR, LF or both (HTML Living Standard, 9.2.6), so each
/// piece between them has its own `data:`, and becomes a line again.
fn event(id: &str, drawn: &str) -> Bytes {
    let mut text = format!("retry: 1000\nid: {id}\n");
    for line in drawn.split(['\r', '\n']) {
        text.push_str("data: ");
        text.push_str(line);
        text.push('\n');
    }
    text.push('\n');
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_drawing_ends_its_event_or_begins_another_field() {
        let drawn = "a\n\nevent: end\r\rid: 7\r\ndata";
        let event = event("1", drawn);
        let text = std::str::from_utf8(&event).unwrap();
        let (head, lines) = text.split_once("id: 1\n").unwrap();
        assert_eq!(head, "retry: 1000\n");
        let lines = lines.strip_suffix("\n\n").unwrap();
        let data = lines
            .split('\n')
            .map(|line| line.strip_prefix("data: ").unwrap());
        assert_eq!(
            data.collect::<Vec<_>>(),
            ["a", "", "event: end", "", "id: 7", "", "data"]
        );
    }
}
