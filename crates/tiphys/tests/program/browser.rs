//! A headless Chromium for the tests of the page. It is driven over the pipe of its developer tools, so that no port is open.

use std::io::Write as _;
use std::process::{ChildStdin, Stdio};

use serde_json::{Value, json};
use tiphys_testkit::wait::until;

use crate::page::Page;
use crate::running::{Pipe, Running};
use crate::world::World;

/// Starts the browser with the ends of its pipe as standard input and output. The browser ends with its standard input.
const START: &str = "exec chromium --headless=new --no-sandbox --remote-debugging-pipe --no-first-run \
     --disable-background-networking --disable-component-update --disable-gpu --disable-dev-shm-usage \
     --hide-scrollbars --user-data-dir=\"$HOME/chromium\" about:blank 3<&0 4>&1 </dev/null >/dev/null 2>&1";

/// The first tab of a browser, admitted to a served page.
pub(crate) struct Tab {
    /// The beginning of each address: `http://127.0.0.1:PORT`, `file://DIR`.
    origin: String,
    /// Ends the browser.
    _browser: Running,
    commands: ChildStdin,
    messages: Pipe,
    /// The id of the last command.
    last: u64,
    session: Option<String>,
    /// Kinds of the dialogs that are open.
    dialogs: Vec<String>,
}

impl Tab {
    /// Starts a browser with the cookie of a served page. Panics if Chromium is not installed.
    pub(crate) fn open(page: &Page) -> Self {
        Self::admitted(&page.world, &page.address, &page.cookie)
    }

    /// Starts a browser with the cookie of a server. Panics if Chromium is not installed.
    pub(crate) fn admitted(world: &World, address: &str, cookie: &str) -> Self {
        let mut tab = Self::start(world, format!("http://{address}"));
        let (name, value) = cookie.split_once('=').expect("a cookie");
        let cookie = json!({"name": name, "value": value, "url": tab.origin});
        tab.call("Network.setCookie", &cookie);
        tab
    }

    /// Starts a browser that opens files of a world. Panics if Chromium is not installed.
    pub(crate) fn of_files(world: &World) -> Self {
        Self::start(world, format!("file://{}/", world.path("").display()))
    }

    fn start(world: &World, origin: String) -> Self {
        let mut which = world.command("sh");
        which.args(["-c", "command -v chromium"]);
        assert_eq!(
            world.finish(which).code,
            0,
            "chromium is missing: run `apt-get install -y --no-install-recommends chromium` first"
        );
        let mut command = world.command("sh");
        command.args(["-c", START]).stdin(Stdio::piped());
        let mut browser = Running::of(command);
        let (commands, messages) = (browser.stdin(), browser.messages());
        let mut tab = Self {
            origin,
            _browser: browser,
            commands,
            messages,
            last: 0,
            session: None,
            dialogs: Vec::new(),
        };
        let targets = until(|| {
            let targets = tab.call("Target.getTargets", &json!({}));
            targets["targetInfos"].as_array().is_some_and(|all| !all.is_empty()).then_some(targets)
        });
        let targets = targets["targetInfos"].as_array().cloned().unwrap_or_default();
        let first = targets.iter().find(|target| target["type"] == "page").expect("a tab");
        let target = json!({"targetId": first["targetId"], "flatten": true});
        let session = tab.call("Target.attachToTarget", &target);
        tab.session = session["sessionId"].as_str().map(str::to_owned);
        tab.call("Page.enable", &json!({}));
        tab.size(1280, 800);
        tab
    }

    /// Calls a command of the developer tools, and returns its result.
    fn call(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.answer(method, params);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn answer(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        loop {
            let message = self.message();
            if message["id"] == id {
                return message;
            }
            assert!(self.dialogs.is_empty(), "a dialog stops the page: {:?}", self.dialogs);
        }
    }

    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.last += 1;
        let mut command = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        write!(self.commands, "{command}\0").expect("the browser reads commands");
        self.last
    }

    fn message(&mut self) -> Value {
        let message: Value = serde_json::from_str(&self.messages.line()).expect("JSON");
        match message["method"].as_str() {
            Some("Page.javascriptDialogOpening") => {
                self.dialogs.push(message["params"]["type"].as_str().unwrap_or_default().to_owned());
            }
            Some("Page.javascriptDialogClosed") => self.dialogs.clear(),
            _ => {}
        }
        message
    }

    /// Waits until a dialog opens, answers it, and returns its kind.
    pub(crate) fn answer_dialog(&mut self, accept: bool) -> String {
        while self.dialogs.is_empty() {
            self.message();
        }
        let kind = self.dialogs.remove(0);
        self.call("Page.handleJavaScriptDialog", &json!({"accept": accept}));
        kind
    }

    /// Opens a path of the page, and waits until its modules have started.
    pub(crate) fn go(&mut self, path: &str) {
        let url = format!("{}{path}", self.origin);
        self.call("Page.navigate", &json!({"url": url}));
        self.loaded();
    }

    /// Waits until the page is complete.
    pub(crate) fn loaded(&mut self) {
        self.wait("document.readyState === 'complete'");
    }

    /// Starts to load the page again.
    pub(crate) fn reload(&mut self) {
        self.send("Page.reload", &json!({}));
    }

    /// Returns the value of an expression.
    pub(crate) fn eval(&mut self, script: &str) -> Value {
        let answer = self.evaluate(script);
        let result = &answer["result"];
        assert!(result["exceptionDetails"].is_null() && answer["error"].is_null(), "{script}: {answer}");
        result["result"]["value"].clone()
    }

    fn evaluate(&mut self, script: &str) -> Value {
        let params =
            json!({"expression": script, "returnByValue": true, "awaitPromise": true, "userGesture": false});
        self.answer("Runtime.evaluate", &params)
    }

    /// Waits until an expression is true, also across a change of the page.
    #[track_caller]
    pub(crate) fn wait(&mut self, condition: &str) {
        let begin = std::time::Instant::now();
        while self.evaluate(condition)["result"]["result"]["value"] != json!(true) {
            assert!(begin.elapsed() < tiphys_testkit::wait::PATIENCE / 10, "{condition}: {}", self.state());
            std::thread::park_timeout(std::time::Duration::from_millis(10));
        }
    }

    /// The address, the focused element and the text of the page, for messages.
    fn state(&mut self) -> Value {
        let script = "location.href + '\\n' + document.activeElement?.outerHTML.slice(0, 300) + '\\n' + document.body.innerText";
        self.evaluate(script)["result"]["result"]["value"].clone()
    }

    /// Presses keys: names such as `Tab`, characters, each with `Alt+` or `Shift+` in front if it is needed.
    pub(crate) fn press(&mut self, keys: &[&str]) {
        for key in keys {
            self.press_one(key);
        }
    }

    fn press_one(&mut self, key: &str) {
        let (modifier, key) = match key.split_once('+') {
            Some(("Alt", key)) => (1, key),
            Some(("Shift", key)) => (8, key),
            _ => (0, key),
        };
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            "Escape" => (27, ""),
            "ArrowUp" => (38, ""),
            "ArrowRight" => (39, ""),
            "ArrowDown" => (40, ""),
            other => (0, other),
        };
        let mut event = json!({"type": "rawKeyDown", "key": key, "code": if key == " " { "Space" } else { key },
            "windowsVirtualKeyCode": if key == " " { 32 } else { code }, "modifiers": modifier});
        if !text.is_empty() {
            event["type"] = json!("keyDown");
            event["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", &event);
        event["type"] = json!("keyUp");
        self.call("Input.dispatchKeyEvent", &event);
    }

    /// Types characters into the focused element.
    pub(crate) fn enter(&mut self, text: &str) {
        for char in text.chars() {
            self.press_one(char.encode_utf8(&mut [0; 4]));
        }
    }

    /// Enters a value into the control with a name, without keys.
    pub(crate) fn fill(&mut self, name: &str, value: &str) {
        self.eval(&format!(
            "(control => {{ control.value = {}; control.dispatchEvent(new Event('input', {{bubbles: true}})) }})(document.getElementsByName({})[0])",
            json!(value),
            json!(name)
        ));
    }

    /// Presses Tab until an expression is true for the focused element `e`. Panics after 300 elements, or if the focus is not visible.
    #[track_caller]
    pub(crate) fn tab_to(&mut self, condition: &str) {
        let is_there = format!("(e => !!({condition}))(document.activeElement)");
        for _ in 0..300 {
            self.press(&["Tab"]);
            assert_eq!(self.eval(FOCUS_IS_VISIBLE), json!(""), "the focus is visible");
            if self.eval(&is_there) == json!(true) {
                return;
            }
        }
        panic!("Tab does not reach {condition}: {}", self.state());
    }

    /// Sets the size of the window in CSS pixels.
    pub(crate) fn size(&mut self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Sets media features such as `prefers-color-scheme`.
    pub(crate) fn media(&mut self, features: &[(&str, &str)]) {
        let features: Vec<Value> =
            features.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        self.call("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// Returns a picture of the visible part as PNG.
    pub(crate) fn picture(&mut self) -> Vec<u8> {
        use base64::Engine as _;
        let picture =
            self.call("Page.captureScreenshot", &json!({"format": "png", "optimizeForSpeed": false}));
        base64::prelude::BASE64_STANDARD.decode(picture["data"].as_str().expect("data")).expect("base64")
    }
}

/// Returns the elements that hide the focused one, or the mark of its focus. The end of a page has the focus between two rounds.
const FOCUS_IS_VISIBLE: &str = "(() => {
    const e = document.activeElement;
    if (!e || e === document.body) return '';
    // A label or a pseudo-element may stand for a control that it covers.
    const marks = [getComputedStyle(e), getComputedStyle(e, '::after')];
    const label = e.matches('[type=radio], [type=checkbox]') ? e.closest('label') : null;
    if (label) marks.push(getComputedStyle(label));
    const box = (label ?? e).getBoundingClientRect();
    if (box.width === 0 || box.height === 0) return 'no size: ' + e.outerHTML;
    if (marks.every((style) => style.outlineStyle === 'none')) return 'no mark: ' + e.outerHTML;
    const bar = document.querySelector('.bar:not([hidden])');
    const edge = bar && !bar.contains(e) ? bar.getBoundingClientRect().top : innerHeight;
    if (box.top >= edge || box.bottom <= 0) return 'out of sight: ' + e.outerHTML;
    return '';
})()";
