//! What does somebody see who opens a page of ours in a browser? Chromium opens it, if it is
//! installed.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::sandbox::Sandbox;

/// What a project is called by somebody who wants his page to act.
const HOSTILE: &str = "<script>document.body.remove()</script>";

/// Sessions of three projects with different costs, one of which has such a name.
fn home() -> Sandbox {
    let home = Sandbox::new();
    let costs = [("/x/large", 8.0), ("/x/half", 4.0), (HOSTILE, 1.0)];
    for (number, (project, cost)) in costs.into_iter().enumerate() {
        let header = serde_json::json!({"type": "session", "version": 3, "id": format!("0{number}"),
            "timestamp": "2026-01-05T09:00:00.000Z", "cwd": project});
        let said = serde_json::json!({"type": "message", "id": "a1", "parentId": null,
            "timestamp": "2026-01-05T09:00:01.000Z", "message": {"role": "user", "content": "why"}});
        let usage = serde_json::json!({"input": 1_000, "output": 10, "cost": {"total": cost}});
        let answer = serde_json::json!({"type": "message", "id": "a2", "parentId": "a1",
            "timestamp": "2026-01-05T09:00:02.000Z", "message": {"role": "assistant",
            "model": "claude-haiku-4-5", "content": [{"type": "text", "text": HOSTILE}],
            "usage": usage}});
        let name = format!(".pi/agent/sessions/--x-{number}--/0{number}.jsonl");
        home.write(&name, &format!("{header}\n{said}\n{answer}\n"));
    }
    home.settle();
    home
}

/// What this script finds in `page`, shown in a window of this width; `None`: no browser is there.
fn seen(home: &Sandbox, page: &str, width: u32, script: &str) -> Option<Value> {
    // The page is as it is, in a frame: who looks at it is outside of it.
    let page = page.replace('&', "&amp;").replace('"', "&quot;");
    let around = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><style>body{{margin:0}}iframe{{border:0}}</style>\
         <iframe width=\"{width}\" height=\"900\" srcdoc=\"{page}\"></iframe><pre id=\"seen\"></pre>\
         <script>onload = () => {{ const frame = document.querySelector('iframe'), \
         page = frame.contentDocument, view = frame.contentWindow; \
         document.getElementById('seen').textContent = JSON.stringify({script}); }}</script>"
    );
    let (file, profile) = (home.home.join("seen.html"), home.home.join("browser"));
    fs::write(&file, around).unwrap();
    let opened = |browser: &&str| {
        let mut browser = Command::new(browser);
        browser.args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]);
        browser.arg(format!("--user-data-dir={}", profile.display()));
        browser.arg(&file).env("HOME", &home.home).output().ok()
    };
    let Some(ran) = ["chromium", "google-chrome"].iter().find_map(opened) else {
        eprintln!("SKIPPED: chromium is not installed");
        return None;
    };
    let shown = String::from_utf8_lossy(&ran.stdout);
    let seen = shown.split_once("<pre id=\"seen\">").expect(&shown).1;
    let seen = seen.split_once("</pre>").expect("its end").0;
    let seen = seen.replace("&lt;", "<").replace("&gt;", ">");
    Some(serde_json::from_str(&seen.replace("&amp;", "&")).expect(&seen))
}

/// How wide the page is, the bars that are seen, the names of the rows, what was loaded, and how
/// many scripts are in it.
const REPORT: &str = "({
    width: page.documentElement.scrollWidth,
    bars: [...page.querySelectorAll('rect')].map(bar => {
        const box = bar.getBoundingClientRect();
        return { width: box.width, height: box.height, fill: view.getComputedStyle(bar).fill };
    }),
    around: [...page.querySelectorAll('svg')].map(svg => svg.getBoundingClientRect().width),
    ground: view.getComputedStyle(page.body).backgroundColor,
    names: [...page.querySelectorAll('tbody th')].map(name => name.innerText),
    loaded: view.performance.getEntriesByType('resource').length,
    scripts: page.scripts.length,
})";

#[test]
fn the_bars_of_a_report_are_as_long_as_what_was_spent() {
    let home = home();
    let page = home.output(&["report", "--by", "project", "--html"]);
    let page = String::from_utf8(page.stdout).unwrap();
    for width in [1_200, 360] {
        let Some(seen) = seen(&home, &page, width, REPORT) else {
            return;
        };
        assert_eq!(seen["names"].as_array().unwrap().len(), 3, "{seen}");
        assert!(
            seen["names"][2].as_str().unwrap().contains("<script>"),
            "{seen}"
        );
        assert!(
            seen["width"].as_u64() <= Some(width.into()),
            "{width}: {seen}"
        );
        let bars = seen["bars"].as_array().unwrap();
        let longest = seen["around"][0].as_f64().unwrap();
        for (bar, share) in bars.iter().zip([1.0, 0.5, 0.125]) {
            let long = bar["width"].as_f64().unwrap() / longest;
            assert!((long - share).abs() < 0.01, "{width}: {seen}");
            assert!(bar["height"].as_f64() > Some(4.0), "{seen}");
            assert_ne!(bar["fill"], seen["ground"], "{seen}");
        }
        assert!(longest > 40.0, "{width}: {seen}");
        assert_eq!((&seen["loaded"], &seen["scripts"]), (&0.into(), &0.into()));
    }
}

/// How wide the page is, what is read on it, what was loaded, and how many scripts are in it.
const SESSION: &str = "({
    width: page.documentElement.scrollWidth,
    text: page.body.innerText,
    loaded: view.performance.getEntriesByType('resource').length,
    scripts: page.scripts.length,
})";

#[test]
fn an_exported_session_is_read_and_does_nothing() {
    let home = home();
    let page = home.output(&["export", "00", "--format", "html"]);
    let page = String::from_utf8(page.stdout).unwrap();
    for width in [1_200, 360] {
        let Some(seen) = seen(&home, &page, width, SESSION) else {
            return;
        };
        assert!(seen["text"].as_str().unwrap().contains(HOSTILE), "{seen}");
        assert!(
            seen["width"].as_u64() <= Some(width.into()),
            "{width}: {seen}"
        );
        assert_eq!((&seen["loaded"], &seen["scripts"]), (&0.into(), &0.into()));
    }
}
