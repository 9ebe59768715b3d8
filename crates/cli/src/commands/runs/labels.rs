//! `diskfacts runs rename`, `note` and `tag`: what people call a stored run.

use crate::args::{Common, NoteArgs, RenameArgs, TagArgs};
use crate::commands::print;
use crate::exit::{Exit, Failure, OrFail, clean};
use crate::named::Named;
use crate::storing;
use diskfacts_record::Labels;
use diskfacts_store::Error;

pub(super) fn rename(args: &RenameArgs, common: &Common) -> Result<Exit, Failure> {
    change(&args.run, common, |labels| {
        labels.name.clone_from(&args.name);
    })
}

pub(super) fn note(args: &NoteArgs, common: &Common) -> Result<Exit, Failure> {
    change(&args.run, common, |labels| {
        labels.note.clone_from(&args.text);
    })
}

pub(super) fn tag(args: &TagArgs, common: &Common) -> Result<Exit, Failure> {
    change(&args.run, common, |labels| {
        for tag in &args.tags {
            if args.remove {
                labels.tags.remove(tag);
            } else {
                labels.tags.insert(tag.clone());
            }
        }
    })
}

/// Changes what a run is called, and says what that is now.
fn change(run: &str, common: &Common, change: impl Fn(&mut Labels)) -> Result<Exit, Failure> {
    let mut named = Named::new(common);
    let id = named.id(run, "no run is stored yet, so there is none to name")?;
    drop(named);
    let mut store = storing::open_existing(common)?;
    match store.relabel(&[&id], change) {
        Err(error @ Error::Label(_)) => return Err(error).or_wrong_call(),
        changed => changed.or_failed()?,
    }
    let (run, _) = store.summary(&id).or_failed()?;
    let Labels { name, note, tags } = run.labels;
    let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
    let none = |text: String| {
        if text.is_empty() {
            "none".to_owned()
        } else {
            text
        }
    };
    print(&clean(&format!(
        "{id}\n  name  {}\n  note  {}\n  tags  {}\n",
        none(name.unwrap_or_default()),
        none(note.unwrap_or_default().replace('\n', "\n        ")),
        none(tags.join(" ")),
    )))?;
    Ok(Exit::Done)
}
