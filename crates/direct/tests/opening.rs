//! Opening on every system: what is granted is what the system says.

use std::fs;
use std::io::ErrorKind;

use directio::{Direct, Durability, Error, Exclusivity, OpenOptions};
use tempfile::{TempDir, tempdir};

fn folder() -> TempDir {
    tempdir().expect("a temporary folder can be made")
}

fn refused(result: Result<directio::Opened, Error>) -> Error {
    match result {
        Err(error) => error,
        Ok(opened) => panic!("was opened: {opened:?}"),
    }
}

#[test]
fn a_plain_open_is_granted_nothing_beyond_it() {
    let folder = folder();
    let opened = OpenOptions::new()
        .write(true)
        .create(true)
        .open(folder.path().join("file"))
        .expect("a new file");
    assert!(!opened.granted.direct);
    assert_eq!(opened.granted.direct_refused, None);
    assert_eq!(opened.granted.durability, Durability::None);
    assert_eq!(opened.granted.exclusive, Exclusivity::None);
    assert!(opened.granted.write);
}

#[test]
fn durability_is_granted_at_least_as_asked() {
    let folder = folder();
    for asked in [Durability::Data, Durability::Full] {
        let opened = OpenOptions::new()
            .write(true)
            .create(true)
            .durability(asked)
            .open(folder.path().join("file"))
            .expect("a new file");
        if cfg!(windows) {
            // One flag stands for both.
            assert_eq!(opened.granted.durability, Durability::Full);
        } else {
            assert_eq!(opened.granted.durability, asked);
        }
    }
}

#[test]
fn direct_if_possible_is_granted_or_says_why_not() {
    let folder = folder();
    let path = folder.path().join("file");
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .direct(Direct::IfPossible)
        .open(&path)
        .expect("IfPossible never fails for lack of direct I/O");
    assert_eq!(
        opened.granted.direct,
        opened.granted.direct_refused.is_none(),
        "{:?}",
        opened.granted
    );
    let required = OpenOptions::new()
        .read(true)
        .direct(Direct::Required)
        .open(&path);
    assert_eq!(
        required.is_ok(),
        opened.granted.direct,
        "the two must agree: {required:?}"
    );
}

#[test]
fn an_exclusive_open_keeps_out_the_next_exclusive_one_until_it_is_closed() {
    let folder = folder();
    let path = folder.path().join("file");
    let options = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .exclusive(true);
    let first = options.open(&path).expect("a new file");
    assert_ne!(first.granted.exclusive, Exclusivity::None);
    let error = refused(options.open(&path));
    assert!(error.hint().is_some(), "{error:#}");
    drop(first);
    options.open(&path).expect("the first one is closed");
}

#[test]
fn an_exclusive_open_that_is_refused_does_not_empty_the_file() {
    let folder = folder();
    let path = folder.path().join("file");
    fs::write(&path, b"precious").expect("the folder can be written");
    let held = OpenOptions::new()
        .read(true)
        .exclusive(true)
        .open(&path)
        .expect("nobody else has it");
    let options = OpenOptions::new()
        .write(true)
        .exclusive(true)
        .truncate(true);
    refused(options.open(&path));
    drop(held);
    assert_eq!(fs::read(&path).expect("it is there"), b"precious");
    options.open(&path).expect("nobody has it");
    assert_eq!(fs::read(&path).expect("it is there"), b"");
}

#[test]
fn create_new_refuses_what_exists_and_says_so() {
    let folder = folder();
    let path = folder.path().join("file");
    fs::write(&path, b"x").expect("the folder can be written");
    let error = refused(OpenOptions::new().write(true).create_new(true).open(&path));
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert!(error.to_string().contains("create_new"), "{error}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_device_that_has_gone_is_not_to_be_created() {
    let error = refused(
        OpenOptions::new()
            .read(true)
            .open("/dev/disk/by-id/directio-that-was-unplugged"),
    );
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let text = format!("{error:#}");
    assert!(text.contains("was unplugged, or was never there"), "{text}");
    assert!(!text.contains("created"), "{text}");
    // What lies in memory there is a file as any other.
    let missing = "/dev/shm/directio-that-nobody-made";
    let text = format!("{:#}", refused(OpenOptions::new().read(true).open(missing)));
    assert!(text.contains("ask for it to be created"), "{text}");
}

#[test]
fn a_missing_file_is_named_with_a_remedy() {
    let folder = folder();
    let path = folder.path().join("nothing");
    let error = refused(OpenOptions::new().read(true).open(&path));
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let text = format!("{error:#}");
    assert!(text.contains("nothing has this name"), "{text}");
    assert!(text.contains(&path.display().to_string()), "{text}");
}

#[test]
fn a_folder_cannot_be_opened_directly_or_for_writing() {
    let folder = folder();
    for options in [
        OpenOptions::new().read(true).direct(Direct::Required),
        OpenOptions::new().read(true).direct(Direct::IfPossible),
        OpenOptions::new().read(true).write(true),
    ] {
        let error = refused(options.open(folder.path()));
        assert!(
            error.to_string().contains("directory"),
            "{error:#} of {options:?}"
        );
    }
}

#[test]
fn options_that_make_no_sense_are_refused_with_what_is_missing() {
    let folder = folder();
    let path = folder.path().join("file");
    fs::write(&path, b"x").expect("the folder can be written");
    for (options, missing) in [
        (OpenOptions::new().direct(Direct::Required), "read(true)"),
        (OpenOptions::new().read(true).create(true), "write(true)"),
        (
            OpenOptions::new().read(true).create_new(true),
            "write(true)",
        ),
        (OpenOptions::new().read(true).truncate(true), "write(true)"),
    ] {
        let error = refused(options.open(&path));
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains(missing), "{error:#}");
    }
    assert_eq!(fs::read(&path).expect("it is there"), b"x");
}

#[test]
fn an_error_keeps_the_systems_own_one_as_its_source() {
    use std::error::Error as _;
    let folder = folder();
    let error = refused(OpenOptions::new().read(true).open(folder.path().join("no")));
    let source = error.source().expect("the OS error");
    let source = source
        .downcast_ref::<std::io::Error>()
        .expect("an io::Error");
    assert_eq!(source.raw_os_error(), error.raw_os_error());
    assert!(!error.to_string().contains("os error"), "{error}");
    assert!(format!("{error:#}").contains("os error"), "{error:#}");
}

#[test]
fn an_error_of_the_standard_library_keeps_the_number_or_the_explanation() {
    let folder = folder();
    let missing = || refused(OpenOptions::new().read(true).open(folder.path().join("no")));
    let number = missing().raw_os_error();
    assert!(number.is_some());
    let error = std::io::Error::from(missing());
    assert_eq!(error.raw_os_error(), number);
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let explained = missing().into_explained();
    assert_eq!(explained.kind(), ErrorKind::NotFound);
    assert_eq!(explained.to_string(), format!("{:#}", missing()));
    let inner = std::error::Error::source(&explained).expect("the whole error");
    assert!(inner.downcast_ref::<Error>().is_some());

    // What no system said has no number, and is explained in either form.
    let wrong = || refused(OpenOptions::new().open(folder.path()));
    let error = std::io::Error::from(wrong());
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("read(true)"), "{error}");
    let buffer = directio::AlignedBuffer::new(0, 8).expect_err("no bytes");
    let error = std::io::Error::from(buffer);
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(error.to_string(), "size must not be 0");
}

#[test]
fn a_file_that_is_opened_to_be_emptied_is_empty_however_it_is_opened() {
    let folder = folder();
    let path = folder.path().join("file");
    let plain = OpenOptions::new().write(true).truncate(true);
    for options in [
        plain.clone(),
        plain.clone().direct(Direct::IfPossible),
        plain.clone().exclusive(true),
        plain
            .clone()
            .create(true)
            .direct(Direct::IfPossible)
            .exclusive(true),
    ] {
        fs::write(&path, b"old").expect("a file");
        let opened = options.open(&path).expect("it is there");
        assert_eq!(
            opened.file.metadata().expect("its size").len(),
            0,
            "{options:?}"
        );
    }
}
