//! `diskfacts man`: writes the manual pages.

use crate::args::{Common, ManArgs};
use crate::exit::{Exit, Failure, OrFail, say};
use crate::reference::manual;
use anyhow::Context;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::fs;

pub(crate) fn run(args: &ManArgs, common: &Common) -> Result<Exit, Failure> {
    let epoch = std::env::var_os("SOURCE_DATE_EPOCH");
    let epoch = epoch.map(|epoch| epoch.to_string_lossy().into_owned());
    let pages = manual(&date(epoch.as_deref())?);
    let folder = &args.folder;
    fs::create_dir_all(folder)
        .with_context(|| format!("making the folder {} failed", folder.display()))
        .or_failed()?;
    for (name, text) in &pages {
        let path = folder.join(name);
        fs::write(&path, text)
            .with_context(|| format!("writing {} failed", path.display()))
            .or_failed()?;
    }
    if !common.quiet {
        let number = pages.len();
        say(&format!(
            "diskfacts: wrote {number} manual pages into {}",
            folder.display()
        ));
    }
    Ok(Exit::Done)
}

/// The day of the pages: that of `SOURCE_DATE_EPOCH`, as reproducible builds set it
/// (<https://reproducible-builds.org/specs/source-date-epoch/>), else today.
fn date(epoch: Option<&str>) -> Result<String, Failure> {
    let at = match epoch {
        None => Timestamp::now(),
        Some(epoch) => {
            let seconds = epoch.trim().parse().ok();
            let at = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
            at.ok_or_else(|| {
                Failure::wrong_call(format!(
                    "SOURCE_DATE_EPOCH is '{epoch}'; it takes seconds since 1970, as `date +%s` \
                     prints them"
                ))
            })?
        }
    };
    Ok(at.to_zoned(TimeZone::UTC).date().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_that_of_the_source_where_it_is_given() {
        let of = |epoch| date(epoch).map_err(|failure| failure.sentence());
        assert_eq!(of(Some("1764097200")), Ok("2025-11-25".to_owned()));
        let error = of(Some("yesterday")).expect_err("no number");
        assert!(error.contains("seconds since 1970"), "{error}");
    }
}
