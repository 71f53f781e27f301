//! Decimal numbers of any precision: the Go library `shopspring/decimal`, which `addf` and its relatives use.

use num_bigint::{BigInt, Sign};

use super::{Failure, fail};

/// Decimals of a quotient.
const QUOTIENT_DECIMALS: i64 = 16;

/// A decimal number: `coefficient` times 10 to the power of `exponent`.
#[derive(Clone, Debug)]
pub(super) struct Decimal {
    coefficient: BigInt,
    exponent: i64,
}

impl Decimal {
    /// Converts a float by its shortest decimal form.
    pub(super) fn new(value: f64) -> Result<Self, Failure> {
        if !value.is_finite() {
            return fail(format!(
                "Cannot create a Decimal from {}",
                crate::gotemplate::number::general(value)
            ));
        }
        let written = format!("{value:e}");
        let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
        let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let exponent: i64 = exponent.parse().unwrap_or(0);
        let coefficient = mantissa.replace('.', "").parse().unwrap_or_default();
        Ok(Self { coefficient, exponent: exponent - i64::try_from(decimals).unwrap_or(0) })
    }

    pub(super) fn to_float(&self) -> f64 {
        format!("{}e{}", self.coefficient, self.exponent).parse().expect("a number")
    }

    /// Returns the size of the coefficient.
    pub(super) fn bytes(&self) -> usize {
        usize::try_from(self.coefficient.bits() / 8).unwrap_or(usize::MAX)
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        Self { coefficient: self.scaled_to(exponent) + other.scaled_to(exponent), exponent }
    }

    pub(super) fn minus(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        Self { coefficient: self.scaled_to(exponent) - other.scaled_to(exponent), exponent }
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        Self { coefficient: &self.coefficient * &other.coefficient, exponent: self.exponent + other.exponent }
    }

    /// Divides, with 16 decimals; a half is rounded away from zero.
    pub(super) fn divided_by(&self, other: &Self) -> Result<Self, Failure> {
        if other.coefficient.sign() == Sign::NoSign {
            return fail("decimal division by 0");
        }
        // The quotient times 10¹⁶ is an integer and a rest.
        let shift = self.exponent - other.exponent + QUOTIENT_DECIMALS;
        let (dividend, divisor) = if shift >= 0 {
            (&self.coefficient * power_of_ten(shift), other.coefficient.clone())
        } else {
            (self.coefficient.clone(), &other.coefficient * power_of_ten(-shift))
        };
        let quotient = &dividend / &divisor;
        let rest = &dividend - &quotient * &divisor;
        let is_rounded_up = (rest * 2_u32).magnitude() >= divisor.magnitude();
        let is_negative =
            (self.coefficient.sign() == Sign::Minus) != (other.coefficient.sign() == Sign::Minus);
        let unit = if is_negative { BigInt::from(-1) } else { BigInt::from(1) };
        let coefficient = if is_rounded_up { quotient + unit } else { quotient };
        Ok(Self { coefficient, exponent: -QUOTIENT_DECIMALS })
    }

    /// Returns the coefficient for a smaller exponent.
    fn scaled_to(&self, exponent: i64) -> BigInt {
        &self.coefficient * power_of_ten(self.exponent - exponent)
    }
}

fn power_of_ten(exponent: i64) -> BigInt {
    BigInt::from(10).pow(u32::try_from(exponent).unwrap_or(0))
}
