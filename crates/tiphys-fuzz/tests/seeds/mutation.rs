//! Changed seeds, without clock and chance: a failure comes again.

/// Bytes of a changed seed at most.
const BYTES_MAX: usize = 16 * 1024;
/// Changes of one seed at most.
const CHANGES_MAX: usize = 4;

/// Gives one changed seed after the other.
pub(crate) struct Mutation {
    seeds: Vec<Vec<u8>>,
    state: u64,
}

impl Mutation {
    /// `seeds` is not empty.
    pub(crate) fn new(seeds: Vec<Vec<u8>>) -> Self {
        Self { seeds, state: 0 }
    }

    /// The next changed seed.
    pub(crate) fn next(&mut self) -> Vec<u8> {
        let seed = self.below(self.seeds.len());
        let mut bytes = self.seeds[seed].clone();
        for _ in 0..=self.below(CHANGES_MAX) {
            self.change(&mut bytes);
        }
        bytes.truncate(BYTES_MAX);
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        let end = at + self.below(bytes.len() - at + 1);
        match self.below(8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end.min(at + 8))),
            2 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => {
                let byte = self.byte();
                bytes.insert(at, byte);
            }
            4 => {
                let other = self.below(self.seeds.len());
                let from = self.below(self.seeds[other].len() + 1);
                bytes.splice(at..end, self.seeds[other][from..].iter().copied());
            }
            5 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            6 if at < bytes.len() => bytes[at] = bytes[at].wrapping_add(1),
            _ if at < bytes.len() => bytes[at] = self.byte(),
            _ => {}
        }
    }

    /// A byte that means something to most formats, or any.
    fn byte(&mut self) -> u8 {
        const ODD: &[u8] = b"\0\t\n\r !\"#$%&'*,-./0189:<>?@AZ[\\]_`az{|}~\x7f\x80\xc2\xff";
        if self.below(4) == 0 { self.below(256).to_le_bytes()[0] } else { ODD[self.below(ODD.len())] }
    }

    /// A number below `count`, which is not 0: splitmix64.
    fn below(&mut self, count: usize) -> usize {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % u64::try_from(count).expect("a length")).expect("less than a length")
    }
}
