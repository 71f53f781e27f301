#!/usr/bin/env bash
# gix-filter 0.36.1, the part of gitoxide that converts files at checkout, expands `ident` to other bytes than git.
#
# Behaviour: git writes `$Id: HASH $` with a blank before the last dollar sign, and replaces what an expanded `$Id: … $` of the stored file has.
# gix-filter writes `$Id: HASH$`, and leaves an expanded one as it is.
#
# Output seen, for a stored file with the lines `$Id$` and `$Id: old $` (git 2.39.5):
#   git:        $Id: 5958e60f4c2d5b294c3b11a947a4c79e11a45341 $
#               $Id: 5958e60f4c2d5b294c3b11a947a4c79e11a45341 $
#   gix-filter: $Id: 5958e60f4c2d5b294c3b11a947a4c79e11a45341$
#               $Id: old $
#
# A program that converts commits with gix-filter and compares them with a checkout of git finds differences in each such file.
#
# Needs: cargo (Rust 1.85 or later), git. Fails if the behaviour is another one.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir -p program/src
cat > program/Cargo.toml <<'END'
[package]
name = "ident"
version = "0.0.0"
edition = "2024"

[dependencies]
gix-filter = "=0.36.1"
gix-hash = { version = "=0.28.1", features = ["sha1"] }

[workspace]
END
cat > program/src/main.rs <<'END'
use std::io::{self, Read as _, Write as _};

fn main() {
    let (mut stored, mut expanded) = (Vec::new(), Vec::new());
    io::stdin().read_to_end(&mut stored).expect("a stored file");
    let is_changed = gix_filter::ident::apply(&stored, gix_hash::Kind::Sha1, &mut expanded).expect("expanded");
    io::stdout().write_all(if is_changed { &expanded } else { &stored }).expect("written");
}
END
cargo build --quiet --manifest-path program/Cargo.toml

printf '$Id$\n$Id: old $\n' > stored.txt
git init --quiet repository
printf '*.txt ident\n' > repository/.git/info/attributes
blob=$(git -C repository hash-object -w --no-filters "$folder/stored.txt")
git -C repository update-index --add --cacheinfo "100644,$blob,file.txt"
git -C repository checkout-index file.txt

echo "git:"; cat repository/file.txt
echo "gix-filter:"; program/target/debug/ident < stored.txt | tee gix.txt
printf '$Id: %s $\n$Id: %s $\n' "$blob" "$blob" | cmp - repository/file.txt
printf '$Id: %s$\n$Id: old $\n' "$blob" | cmp - gix.txt
