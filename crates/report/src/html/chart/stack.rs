//! What it is made of: the stack as boxes, each within what stands on it, with its settings.

use crate::html::figure::{Drawing, Figure};
use crate::html::table::Table;
use crate::text::devices::{details, details_of_filesystem, identity, identity_of_filesystem};
use crate::text::list;
use diskfacts_record::{BlockDevice, Stack};
use maud::{Markup, html};

/// `None` where nothing is known of it.
pub(crate) fn figure(id: String, stack: &Stack) -> Option<Figure> {
    if stack.filesystem.is_none() && stack.devices.is_empty() {
        return None;
    }
    let devices = tops(stack);
    // A device that carries several others is described once.
    let mut described = Vec::new();
    let below = html! {
        @for device in devices { (boxed(stack, device, &mut described)) }
    };
    let drawing = match &stack.filesystem {
        Some(filesystem) => html! {
            div class="box" {
                p { strong { (filesystem.mount_point) } ": " (identity_of_filesystem(filesystem)) }
                (lines(&details_of_filesystem(filesystem)))
                (below)
            }
        },
        None => below,
    };
    Some(Figure {
        id,
        title: "What it is made of".to_owned(),
        seen: seen(stack),
        drawing: Drawing::Marked(html! { div class="stack" { (drawing) } }),
        legend: Vec::new(),
        numbers: Table::default(),
    })
}

/// The devices on which no other stands.
fn tops(stack: &Stack) -> impl Iterator<Item = &BlockDevice> {
    stack.devices.iter().filter(|device| {
        let above = |other: &BlockDevice| other.below.contains(&device.name);
        !stack.devices.iter().any(above)
    })
}

fn boxed<'a>(stack: &'a Stack, device: &'a BlockDevice, described: &mut Vec<&'a str>) -> Markup {
    if described.contains(&device.name.as_str()) {
        return html! { div class="box" { p { strong { (device.name) } ", as above" } } };
    }
    described.push(&device.name);
    html! {
        div class="box" {
            p { strong { (device.name) } ": " (identity(device)) }
            (lines(&details(device)))
            @if !device.below.is_empty() {
                div class="below" {
                    @for name in &device.below {
                        @match stack.device(name) {
                            Some(below) => (boxed(stack, below, described)),
                            None => div class="box" { p { strong { (name) } ": unknown" } },
                        }
                    }
                }
            }
        }
    }
}

fn lines(lines: &[String]) -> Markup {
    html! {
        @if !lines.is_empty() {
            ul { @for line in lines { li { (line) } } }
        }
    }
}

/// What stands on what, and what the data finally goes to.
fn seen(stack: &Stack) -> String {
    let leaves: Vec<&str> = stack.leaves().map(|leaf| leaf.name.as_str()).collect();
    let all = stack.devices.len();
    let between = all - leaves.len();
    let goes = if leaves.is_empty() {
        "It stands on no known block device".to_owned()
    } else {
        format!("The data goes to {}", list(&leaves))
    };
    let through = match between {
        0 => String::new(),
        1 => " through 1 device above".to_owned(),
        many => format!(" through {many} devices above"),
    };
    format!("{goes}{through}; a box stands on those within it.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use maud::Render as _;
    use serde_json::{Value, json};

    fn device(name: &str, kind: &str, below: &[&str]) -> Value {
        json!({
            "name": name, "path": format!("/dev/{name}"), "major": 8, "minor": 0, "kind": kind,
            "below": below, "schedulers": [], "holders": [],
        })
    }

    #[test]
    fn a_box_has_those_that_it_stands_on_within_it_and_each_device_once() {
        let stack = json!({
            "filesystem": null,
            "devices": [
                device("md<0>", "software_raid", &["sda", "sdb", "sda"]),
                device("sda", "disk", &[]),
                device("sdb", "disk", &[]),
            ],
            "unseen": [],
        });
        let stack: Stack = serde_json::from_value(stack).expect("a stack");
        let figure = figure("r1-stack".into(), &stack).expect("it has devices");
        let markup = figure.render().into_string();
        assert!(
            markup.contains("md&lt;0&gt;") && !markup.contains("md<0>"),
            "{markup}"
        );
        assert_eq!(
            markup.matches("<strong>sda</strong>").count(),
            2,
            "{markup}"
        );
        assert_eq!(markup.matches(", as above").count(), 1, "{markup}");
        assert!(
            markup.contains("The data goes to sda and sdb through 1 device above"),
            "{markup}"
        );
        let (_, within) = markup.split_once("class=\"below\"").expect("a box within");
        assert!(within.contains("<strong>sdb</strong>"));
    }
}
