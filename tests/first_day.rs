//! What does a new user meet, on the first day and on a bad one?

use insta::assert_snapshot;
use serde_json::json;

use crate::cli::home;
use crate::sandbox::Sandbox;

#[test]
fn where_sessions_were_looked_for() {
    let home = home();
    home.write(".pi/agent/settings.json", r#"{"sessionDir":"~/flat"}"#);
    let roots = |arguments: &[&str]| {
        home.run(
            &[
                &["status", "--roots", "--root", "clido:../old=laptop"][..],
                arguments,
            ]
            .concat(),
        )
    };
    assert_snapshot!(roots(&[]), @r#"
    AGENT         ROOT                           SESSIONS  FILES  NEWEST  WHY
    pi            ~/.pi/agent/sessions                  3      3  5m      default
    pi            ~/flat                                0      0          sessionDir of $SANDBOX…
    indusagi      ~/.indusagi/agent/sessions            0      0          default, not there
    clido         ~/clido/sessions                      1      1  3d      $CLIDO_DATA_DIR
    agentuse      …local/share/agentuse/project         0      0          default, not there
    clido=laptop  ~/work/parser/../old                  0      0          --root, not there
    "#);
    let json = home.json(&["status", "--roots", "--json"]);
    assert_eq!(json["complete"], true);
    assert_eq!(
        json["roots"][0]["newest"], "2026-01-05T11:55:00.000Z",
        "{json}"
    );
    assert_eq!(json["roots"].as_array().map(Vec::len), Some(5));
}

#[test]
fn nothing_found_says_where_and_what_to_do() {
    let home = Sandbox::new();
    assert_snapshot!(home.run(&["list"]), @r#"
    --- stderr
    AGENT     ROOT                             SESSIONS  FILES  NEWEST  WHY
    pi        ~/.pi/agent/sessions                    0      0          default, not there
    indusagi  ~/.indusagi/agent/sessions              0      0          default, not there
    clido     ~/clido/sessions                        0      0          $CLIDO_DATA_DIR, not there
    agentuse  ~/.local/share/agentuse/project         0      0          default, not there
    No sessions were found in any of these places. If yours are elsewhere, name the folder:
    once with --root pi:DIR, or for good in the file that `sessionary config path` names: roots = ["pi:DIR"]
    --- exit Some(1)
    "#);
    let all = home.run(&["list", "--all"]);
    assert_eq!(all, home.run(&["list"]));
    let json = home.output(&["list", "--all", "--json"]);
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&json.stdout).expect("JSON")["sessions"],
        json!([])
    );
}
