//! Dice for random tests that give the same in every run: a failure comes again.

/// Numbers that a seed decides (xorshift).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Another seed gives other numbers; it is not 0, from which nothing comes but zeros.
    pub fn new(seed: u64) -> Self {
        assert_ne!(seed, 0, "a seed that gives something");
        Self(seed)
    }

    /// A number below a bound, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap_or_default()
    }

    /// True in so many of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several, of which there is one at least.
    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}
