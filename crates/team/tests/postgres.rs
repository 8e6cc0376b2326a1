//! Does a database hold what a folder does, and does it show nothing to those who may not read?

use std::time::Duration;

use serde_json::json;

use crate::killed::{Writer, kill, kill_often, number, seeded};
use crate::machine::{BOAT, DIARY};
use crate::secrets::{SECRETS, holds};
use crate::server::Server;
use crate::union::union_of;

/// Everything of ours that shows rows.
const TABLES: [&str; 6] = ["hosts", "sources", "blocks", "files", "sessions", "stored"];

#[test]
fn three_machines_and_one_server() {
    let Some(server) = Server::with(&["ada", "bob", "eve"]) else {
        return;
    };
    union_of(&|name| server.sharing(name));
}

#[test]
fn a_second_push_sends_nothing_and_what_is_taken_back_goes() {
    let Some(server) = Server::with(&["ada", "bob"]) else {
        return;
    };
    let (ada, bob) = (server.sharing("ada"), server.sharing("bob"));
    let path = ada.write_session(
        BOAT,
        "0a",
        &["one", &format!("it is {} indeed", SECRETS[1])],
    );
    ada.write_session(DIARY, "0b", &["private"]);
    assert_eq!(ada.json(&["push"])["sent_blocks"], 1);
    assert_eq!(ada.json(&["push"])["sent_blocks"], 0);
    ada.say(&path, "two");
    assert_eq!(ada.json(&["push"])["sent_blocks"], 1);
    assert_eq!(
        server
            .sql_as("ada", "SELECT count(*) FROM sessionary.sources")
            .unwrap(),
        "1"
    );
    let blocks = "SELECT encode(packed, 'hex') FROM sessionary.blocks";
    for line in server.sql_as("bob", blocks).unwrap().lines() {
        let digits = (0..line.len()).step_by(2);
        let packed: Vec<u8> = digits
            .map(|at| u8::from_str_radix(&line[at..at + 2], 16).unwrap())
            .collect();
        let said = zstd::bulk::decompress(&packed, 1 << 20).unwrap();
        assert!(!holds(&said, SECRETS[1]) && !holds(&said, "private"));
    }
    bob.json(&["pull"]);
    assert_eq!(bob.copies().len(), 1);
    ada.json(&["revoke", BOAT]);
    assert_eq!(
        server
            .sql_as("ada", "SELECT count(*) FROM sessionary.blocks")
            .unwrap(),
        "0"
    );
    bob.json(&["pull"]);
    assert_eq!(bob.copies().len(), 0);
}

/// As one that was made anew, or comes from a backup of long ago.
#[test]
fn a_database_that_knows_nothing_of_a_machine_has_not_taken_it_back() {
    let Some(server) = Server::with(&["ada"]) else {
        return;
    };
    let ada = server.sharing("ada");
    ada.write_session(BOAT, "0a", &["of ada"]);
    ada.json(&["push"]);
    server.sql("TRUNCATE sessionary.hosts CASCADE");
    for verb in ["push", "leave"] {
        let output = ada.output(&[verb]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.code() == Some(2) && said.contains("not known any more"),
            "{verb}: {said}"
        );
    }
    ada.team(&["init", &server.address("ada"), "--keep"]);
    ada.json(&["push"]);
    assert_eq!(ada.json(&["leave"])["files"], 1);
}

/// Under a stricter isolation a server refuses some of what goes on beside others.
#[test]
fn every_statement_goes_on_beside_others_whatever_the_defaults_are() {
    let Some(server) = Server::with(&["ada"]) else {
        return;
    };
    let ada = server.sharing("ada");
    ada.write_session(BOAT, "0a", &["of ada"]);
    server.sql(
        "ALTER DATABASE team SET default_transaction_isolation = 'serializable';
         CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS
             'BEGIN
                  IF current_setting(''transaction_isolation'') <> ''read committed'' THEN
                      RAISE ''it is stricter'';
                  END IF;
                  IF current_setting(''idle_in_transaction_session_timeout'') = ''0'' THEN
                      RAISE ''it may wait for ever'';
                  END IF;
                  RETURN NULL;
              END'",
    );
    for table in ["hosts", "sources", "blocks"] {
        server.sql(&format!(
            "CREATE TRIGGER refuse BEFORE INSERT OR DELETE ON sessionary.{table}
             FOR EACH STATEMENT EXECUTE FUNCTION public.refuse()"
        ));
    }
    assert_eq!(ada.json(&["push"])["sent_blocks"], 1);
    assert_eq!(ada.json(&["purge", "--all"])["files"], 1);
}

/// They would be held in memory by everybody who pulls.
#[test]
fn of_more_manifests_than_anybody_has_the_first_are_read() {
    let Some(server) = Server::with(&["ada", "bob"]) else {
        return;
    };
    server.sharing("ada").json(&["push"]);
    let rows = "INSERT INTO sessionary.sources
            (host, agent, path, session, repository, modified_ms, bytes, manifest)
        SELECT 'ada', 'pi', path, '0a', 'x', 0, 0, json_build_object('version', 1, 'host', 'ada',
            'agent', 'pi', 'path', path, 'session', '0a', 'repository', 'x', 'modified_ms', 0,
            'cwd', repeat('x', 7 << 20), 'parts', '[]'::json,
            'source', json_build_object('bytes', 0, 'form', 'raw', 'settled', true))
        FROM generate_series(100, 139) number, concat(number, '.jsonl') path";
    server.sql_as("ada", rows).unwrap();
    let output = server.sharing("bob").output(&["pull", "--json"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("more than 256 MiB") && said.lines().count() == 1,
        "{said}"
    );
    let pulled: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(pulled["hosts"][0]["files"], 36);
}

#[test]
fn who_may_not_read_sees_nothing_through_every_view() {
    let Some(server) = Server::with(&["ada", "bob"]) else {
        return;
    };
    let (ada, bob) = (server.sharing("ada"), server.sharing("bob"));
    ada.write_session(BOAT, "0a", &["of ada"]);
    bob.write_session(BOAT, "0b", &["of bob"]);
    ada.json(&["push"]);
    bob.json(&["push"]);
    let of_ada = |role: &str, table: &str| {
        let count = format!("SELECT count(*) FROM sessionary.{table} WHERE host = 'ada'");
        server.sql_as(role, &count)
    };
    for table in TABLES {
        assert_eq!(of_ada("bob", table).unwrap(), "1", "{table}");
    }
    // Bob reads no more: his own rows are all that there is.
    server.sql("REVOKE sessionary_reader_team FROM bob");
    for table in TABLES {
        assert_eq!(of_ada("bob", table).unwrap(), "0", "{table}");
        let own = format!("SELECT count(*) FROM sessionary.{table} WHERE host = 'bob'");
        assert_eq!(server.sql_as("bob", &own).unwrap(), "1", "{table}");
    }
    assert_eq!(bob.json(&["pull"])["hosts"], json!([]));
    server.sql("REVOKE sessionary_writer_team FROM bob");
    for table in TABLES {
        assert!(
            of_ada("bob", table)
                .unwrap_err()
                .contains("permission denied"),
            "{table}"
        );
    }
    assert_eq!(bob.output(&["pull"]).status.code(), Some(2));
    // Nor does who may look at tables, and has the role of readers only to give it to others.
    server.sql(
        "CREATE ROLE eve LOGIN PASSWORD 'eve-word' NOINHERIT;
         GRANT sessionary_reader_team TO eve WITH ADMIN OPTION;
         GRANT USAGE ON SCHEMA sessionary TO eve;
         GRANT SELECT ON ALL TABLES IN SCHEMA sessionary TO eve",
    );
    for table in TABLES {
        assert_eq!(of_ada("eve", table).unwrap(), "0", "{table}");
    }
}

/// Roles are those of the whole server.
#[test]
fn who_reads_in_one_database_reads_nothing_in_another() {
    let Some(server) = Server::with(&["ada"]) else {
        return;
    };
    let ada = server.sharing("ada");
    ada.write_session(BOAT, "0a", &["of ada"]);
    ada.json(&["push"]);
    server.sql("CREATE DATABASE \"Other \"\"team\"\"\"");
    let admin = crate::machine::Machine::new("admin");
    server.admit(&admin, "admin");
    let address = server
        .address("admin")
        .replace("/team", "/Other%20%22team%22");
    admin.team(&["init", &address, "--host", "admin"]);
    server.sql(
        "CREATE ROLE bob LOGIN PASSWORD 'bob-word';
         GRANT \"sessionary_reader_Other \"\"team\"\"\", \"sessionary_writer_Other \"\"team\"\"\" TO bob",
    );
    let said = server.sql_as("bob", "SELECT count(*) FROM sessionary.sources");
    assert!(said.unwrap_err().contains("permission denied"));
    let bob = crate::machine::Machine::new("bob");
    server.admit(&bob, "bob");
    let output = bob.output(&["init", &server.address("bob"), "--host", "bob"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("GRANT \"sessionary_reader_team\""), "{said}");
    bob.team(&["init", &address.replace("admin@", "bob@"), "--host", "bob"]);
}

/// Roles are those of the server, and a schema is its owner's: neither is taken over unseen.
#[test]
fn what_others_made_before_is_not_taken_over() {
    let Some(server) = Server::with(&["ada"]) else {
        return;
    };
    let admin = crate::machine::Machine::new("admin");
    server.admit(&admin, "admin");
    let init = |database: &str| {
        server.sql(&format!("CREATE DATABASE {database}"));
        let address = server
            .address("admin")
            .replace("/team", &format!("/{database}"));
        admin.output(&["init", &address, "--host", "admin"])
    };
    server.sql("CREATE ROLE sessionary_reader_again; GRANT sessionary_reader_again TO ada");
    let output = init("again");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{said}");
    assert!(
        said.contains("sessionary_reader_again") && said.contains("drop it first"),
        "{said}"
    );
    // Whoever made a schema is its owner still.
    server.sql("CREATE ROLE eve; DROP SCHEMA sessionary CASCADE; CREATE SCHEMA sessionary AUTHORIZATION eve");
    let output = admin.output(&["init", &server.address("admin"), "--host", "admin"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{said}");
    assert!(
        said.contains("belongs to another role") && said.contains("eve"),
        "{said}"
    );
    assert_eq!(
        server.sql(
            "SELECT count(*) FROM pg_class c JOIN pg_namespace n
        ON n.oid = c.relnamespace WHERE nspname = 'sessionary'"
        ),
        "0"
    );
}

#[test]
fn what_a_row_is_called_does_nothing_to_a_terminal() {
    let Some(server) = Server::with(&["ada", "bob"]) else {
        return;
    };
    server.sharing("ada").json(&["push"]);
    let row = "INSERT INTO sessionary.sources
            (host, agent, path, session, repository, modified_ms, bytes, manifest)
        VALUES ('ada', E'pi\\u001b[2J', E'a\\u202e\\nerror: b', '', '', 0, 0, '{}')";
    server.sql_as("ada", row).unwrap();
    let output = server.sharing("bob").output(&["pull"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        !said.contains("[2J") && !said.contains('\u{202e}'),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
}

/// A name is taken by the first push, so who may not write can pull.
#[test]
fn who_only_reads_needs_no_right_to_write() {
    let Some(server) = Server::with(&["ada", "bob"]) else {
        return;
    };
    server.sql("REVOKE sessionary_writer_team FROM bob");
    let ada = server.sharing("ada");
    ada.write_session(BOAT, "0a", &["of ada"]);
    ada.json(&["push"]);
    let bob = server.sharing("bob");
    assert_eq!(bob.json(&["pull"])["hosts"][0]["written"], 1);
    assert_eq!(bob.output(&["push"]).status.code(), Some(2));
    bob.json(&["leave"]);
}

#[test]
fn nobody_changes_a_row_and_only_its_owner_takes_it_back() {
    let Some(server) = Server::with(&["ada", "bob"]) else {
        return;
    };
    let ada = server.sharing("ada");
    server.sharing("bob");
    ada.write_session(BOAT, "0a", &["of ada"]);
    ada.json(&["push"]);
    for table in ["hosts", "sources", "blocks"] {
        for role in ["ada", "bob"] {
            let update = format!("UPDATE sessionary.{table} SET host = 'eve'");
            let said = server.sql_as(role, &update).unwrap_err();
            assert!(said.contains("permission denied"), "{said}");
            let said = server
                .sql_as(role, &format!("TRUNCATE sessionary.{table}"))
                .unwrap_err();
            assert!(
                said.contains("permission denied") || said.contains("cannot truncate"),
                "{said}"
            );
        }
        let steal = format!("DELETE FROM sessionary.{table} WHERE host = 'ada' RETURNING host");
        assert_eq!(server.sql_as("bob", &steal).unwrap(), "", "{table}");
    }
    // Neither in the place of another host nor in the name of another role.
    for add in [
        "INSERT INTO sessionary.blocks (host, id, packed) VALUES ('ada', repeat('0', 64), '')",
        "INSERT INTO sessionary.blocks (host, id, packed, owner)
            VALUES ('bob', repeat('0', 64), '', 'ada')",
        "INSERT INTO sessionary.hosts (host, id, version, owner) VALUES ('x', 'y', 1, 'ada')",
    ] {
        let said = server.sql_as("bob", add).unwrap_err();
        assert!(said.contains("row-level security"), "{said}");
    }
    // The name of a host is its owner's.
    let other = crate::machine::Machine::new("other");
    server.admit(&other, "bob");
    let output = other.output(&["init", &server.address("bob"), "--host", "ada"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        server
            .sql_as("bob", "SELECT count(*) FROM sessionary.blocks")
            .unwrap(),
        "1"
    );
}

#[test]
fn a_password_in_the_address_is_refused_and_kept_nowhere() {
    let Some(server) = Server::with(&["ada"]) else {
        return;
    };
    let ada = crate::machine::Machine::new("ada");
    let address = server.address("ada").replace("ada@", "ada:ada-word@");
    let output = ada.output(&["init", &address, "--host", "ada"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("ada-word"));
    assert!(!ada.data().join("team.json").exists());
    // From the environment it is taken.
    let mut command = ada.command(&["init", &server.address("ada"), "--host", "ada"]);
    assert!(
        command
            .env("PGPASSWORD", "ada-word")
            .output()
            .unwrap()
            .status
            .success()
    );
}

/// As psql passes it over, and says so.
#[test]
fn passwords_that_others_can_read_are_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let Some(server) = Server::with(&["ada"]) else {
        return;
    };
    let ada = crate::machine::Machine::new("ada");
    server.admit(&ada, "ada");
    // As programs lay it down that keep the files of a home elsewhere.
    let (file, real) = (ada.home().join(".pgpass"), ada.home().join("dotfiles"));
    std::fs::rename(&file, &real).unwrap();
    std::os::unix::fs::symlink(&real, &file).unwrap();
    let address = server.address("ada");
    for (mode, is_used) in [(0o640, false), (0o602, false), (0o600, true)] {
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(mode)).unwrap();
        let output = ada.output(&["init", &address, "--host", "ada"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.success(), is_used, "{mode:o}: {said}");
        assert_eq!(said.contains("chmod 600"), !is_used, "{mode:o}: {said}");
    }
}

#[test]
fn a_certificate_that_the_system_does_not_trust_is_refused() {
    let Some(server) = Server::with(&["ada"]) else {
        return;
    };
    let Some(certificate) = server.encrypt() else {
        return;
    };
    let ada = crate::machine::Machine::new("ada");
    server.admit(&ada, "ada");
    let address = server.address("ada") + "?sslmode=require";
    let init = ["init", &address, "--host", "ada"];
    let refused = ada.output(&init);
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("certificate"), "{said}");
    let trusting = ada
        .command(&init)
        .env("SSL_CERT_FILE", &certificate)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&trusting.stderr).into_owned();
    assert!(trusting.status.success(), "{said}");
    let is_encrypted = "SELECT count(*) FROM pg_stat_ssl WHERE ssl AND pid = pg_backend_pid()";
    assert_eq!(server.sql(is_encrypted), "1");
    std::fs::remove_file(certificate).unwrap();
}

#[test]
fn kills_of_push_and_pull_leave_no_difference() {
    let Some(server) = Server::with(&["writer", "reader", "zoe"]) else {
        return;
    };
    kill_often(&|name| server.sharing(name), &Vec::new);
    // Whatever was killed, rows and blocks agree.
    let zoe = server.sharing("zoe");
    zoe.json(&["pull"]);
    assert!(crate::sql::equal(&zoe, "UTC")["entries"] > 0);
    // Nothing is left that no manifest names.
    let blocks = server
        .sql_as("writer", "SELECT count(*) FROM sessionary.blocks")
        .unwrap();
    let named = "SELECT count(DISTINCT part ->> 'id')
        FROM sessionary.sources, json_array_elements(manifest::json -> 'parts') part";
    assert_eq!(blocks, server.sql_as("writer", named).unwrap());
}

#[test]
fn crashes_of_the_server_leave_no_difference() {
    let Some(server) = Server::with(&["writer", "reader"]) else {
        return;
    };
    let mut random = seeded();
    let (mut writer, reader) = (
        Writer::of(server.sharing("writer")),
        server.sharing("reader"),
    );
    let mut failed = 0;
    for round in 0..number("SESSIONARY_TEAM_CRASHES", 10) {
        for _ in 0..20 {
            writer.step(&mut random);
        }
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(rand::random_range(0..200)));
                server.crash();
            });
            // They fail, or were done before it crashed.
            for output in [
                writer.machine.output(&["push", "--prune"]),
                reader.output(&["pull"]),
            ] {
                failed += u64::from(!output.status.success());
            }
        });
        server.start();
        if round % 2 == 0 {
            kill(&reader, &["pull"], Duration::from_millis(100), &mut random);
        }
        writer.machine.json(&["push", "--prune"]);
        reader.json(&["pull"]);
        let copies: Vec<Vec<u8>> = reader.copies().into_values().collect();
        assert!(copies == writer.files(), "round {round}");
    }
    assert!(failed > 0, "no crash met a push or a pull");
}
