//! A separate test program, because its process cannot write any file afterwards.

use std::io::Write;
use std::sync::mpsc::channel;
use std::thread;

#[test]
fn a_write_that_is_under_way_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.json");
    std::fs::write(&file, "before").unwrap();
    let target = file.clone();
    let (begun, has_begun) = channel();
    let (go_on, may_go_on) = channel::<()>();
    thread::spawn(move || {
        l0star_data::write_atomically(&target, |out| {
            out.write_all(b"half of")?;
            out.flush()?;
            begun.send(()).unwrap();
            let _ = may_go_on.recv();
            Ok(())
        })
    });
    has_begun.recv().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    l0star_data::quit_writing();
    drop(go_on);
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "before");
}
