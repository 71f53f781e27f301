//! The tested blocks of a document.

/// How to test a block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum How {
    File(String),
    Part(String),
    Console,
    /// A console block in the directory where the block before ended.
    Continued,
    Server,
    /// A part of the demo's output with these options.
    Demo(Vec<String>),
}

/// A tested fenced block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) how: How,
    /// The closing fence.
    pub(crate) fence: String,
    /// Line index of its first line in the document.
    pub(crate) first: usize,
    /// Its lines, without the fences.
    pub(crate) lines: Vec<String>,
}

const FENCE: &str = "```";

/// Returns the tested blocks of a document. Errors start with a line number.
pub(crate) fn blocks(document: &str) -> Result<Vec<Block>, String> {
    let mut blocks = Vec::new();
    let mut lines = document.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        let mark = line.trim().strip_prefix("<!-- tested: ").and_then(|rest| rest.strip_suffix(" -->"));
        let (fence, number, how) = match mark {
            None => (line, number, None),
            Some(mark) => {
                let how = how(mark).ok_or_else(|| format!("{number}: tested {mark}"))?;
                let next = lines.next().filter(|(line, _)| line.starts_with(FENCE));
                let (fence, begin) = next.ok_or_else(|| format!("{number}: no block follows"))?;
                (fence, begin, Some(how))
            }
        };
        let indent = fence.len() - fence.trim_start().len();
        let Some(kind) = fence[indent..].strip_prefix(FENCE) else { continue };
        // A longer fence may contain fences.
        let end = format!("{FENCE}{}", "`".repeat(kind.len() - kind.trim_start_matches('`').len()));
        let mut body = Vec::new();
        loop {
            match lines.next() {
                Some((line, _)) if line.get(indent..) == Some(&end) => break,
                Some((line, _)) => body.push(line.to_owned()),
                None => return Err(format!("{number}: the block has no end")),
            }
        }
        match how {
            Some(how) => blocks.push(Block { how, fence: end, first: number, lines: body }),
            None if kind.trim_start_matches('`') == "console" => {
                return Err(format!(
                    "{number}: a console block needs a comment that states how it is tested"
                ));
            }
            None => {}
        }
    }
    Ok(blocks)
}

fn how(mark: &str) -> Option<How> {
    match mark.split_once(' ') {
        Some(("file", path)) => Some(How::File(path.to_owned())),
        Some(("part", path)) => Some(How::Part(path.to_owned())),
        None if mark == "console" => Some(How::Console),
        None if mark == "continued" => Some(How::Continued),
        None if mark == "server" => Some(How::Server),
        None if mark == "demo" => Some(How::Demo(Vec::new())),
        Some(("demo", options)) => Some(How::Demo(options.split(' ').map(str::to_owned).collect())),
        _ => None,
    }
}

#[test]
fn console_block_without_comment_and_comment_without_block() {
    let cases = [
        ("```console\n$ ls\n```\n", "1: a console block needs a comment that states how it is tested"),
        (
            "* a\n\n  ```console\n  $ ls\n  ```\n",
            "3: a console block needs a comment that states how it is tested",
        ),
        ("````console\n$ ls\n````\n", "1: a console block needs a comment that states how it is tested"),
        ("<!-- tested: console -->\n\ntext\n", "1: no block follows"),
        ("<!-- tested: console -->\n  ```console\n  ```\n", "1: no block follows"),
        ("<!-- tested: somehow -->\n```sh\n```\n", "1: tested somehow"),
        ("<!-- tested: console -->\n```console\n$ ls\n", "2: the block has no end"),
    ];
    for (document, problem) in cases {
        assert_eq!(blocks(document).err().as_deref(), Some(problem), "{document}");
    }
}

#[test]
fn block_has_its_position_and_may_contain_shorter_fences() {
    let document = "text\n```sh\nls\n```\n<!-- tested: file a.md -->\n````md\n```console\n$ ls\n```\n````\n";
    let lines = ["```console", "$ ls", "```"].map(str::to_owned).to_vec();
    let fence = "````".to_owned();
    let expected = Block { how: How::File("a.md".to_owned()), fence, first: 6, lines };
    assert_eq!(blocks(document), Ok(vec![expected]));
}
