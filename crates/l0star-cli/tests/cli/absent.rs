//! A lean build names the commands that it leaves out, and how to get them.

use crate::common::Sandbox;

#[test]
fn a_command_that_is_left_out_says_how_to_get_it() {
    let sandbox = Sandbox::new();
    let commands = [
        ("completions bash", cfg!(feature = "manual")),
        ("man fit", cfg!(feature = "manual")),
        (
            "reproduce all --instances 3 --quiet",
            cfg!(feature = "figures"),
        ),
    ];
    for (command, _) in commands.iter().filter(|(_, is_there)| !is_there) {
        sandbox.refuses(command, 2, &["without the feature", "--features full"]);
    }
}
