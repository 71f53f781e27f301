//! Metered terms: every part of an expression that can multiply or enlarge values passes its outputs to a function that counts them.

use std::collections::BTreeSet;

use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Def, Pattern, Term};
use jaq_core::path::{Opt, Part, Path};

use crate::budget::{BUILT, INDEX, ITEMS, STEP};

/// Functions of jaq whose outputs are those of their argument.
const PASSING: [&str; 4] = ["first", "last", "limit", "skip"];

/// Functions of jaq that hold copies of their input while they run their argument.
const HOLDING: [&str; 4] = ["sort_by", "group_by", "min_by_or_empty", "max_by_or_empty"];

/// Returns metered definitions. What they define needs no count of its own.
pub(crate) fn metered(definitions: Vec<Def<&str>>) -> Vec<Def<&str>> {
    let names = definitions.iter().flat_map(|one| one.args.iter().chain([&one.name])).copied();
    let meter = Meter { passing: names.chain(PASSING).collect() };
    definitions.into_iter().map(|definition| meter.definition(definition)).collect()
}

struct Meter<'s> {
    /// Functions and arguments whose outputs have been counted.
    passing: BTreeSet<&'s str>,
}

impl<'s> Meter<'s> {
    fn definition(&self, definition: Def<&'s str>) -> Def<&'s str> {
        Def { body: self.term(definition.body), ..definition }
    }

    fn term(&self, term: Term<&'s str>) -> Term<&'s str> {
        let (before, after) = self.counters(&term);
        let term = self.children(term);
        let term = match before {
            Some(counter) => pipe(Term::Call(counter, Vec::new()), term),
            None => term,
        };
        match after {
            Some(counter) => pipe(term, Term::Call(counter, Vec::new())),
            None => term,
        }
    }

    /// Returns what counts the input of a term, and what counts its outputs.
    fn counters(&self, term: &Term<&'s str>) -> (Option<&'static str>, Option<&'static str>) {
        match term {
            Term::Arr(Some(_)) | Term::Obj(_) | Term::Str(..) => (None, Some(BUILT)),
            Term::BinOp(_, operator, _) => match operator {
                BinaryOp::Math(_)
                | BinaryOp::Assign
                | BinaryOp::Update
                | BinaryOp::UpdateMath(_)
                | BinaryOp::UpdateAlt => (None, Some(BUILT)),
                BinaryOp::Comma => (None, Some(STEP)),
                _ => (None, None),
            },
            Term::Call(name, _) if self.passing.contains(name) => (None, Some(STEP)),
            Term::Call(name, _) => (HOLDING.contains(name).then_some(BUILT), Some(BUILT)),
            // Both copy what they visit.
            Term::Recurse => (Some(BUILT), Some(STEP)),
            Term::Path(_, path) => {
                let is_slice = |(part, _): &(_, _)| matches!(part, Part::Range(from, to) if from.is_some() || to.is_some());
                (None, Some(if path.0.iter().any(is_slice) { BUILT } else { STEP }))
            }
            _ => (None, None),
        }
    }

    fn boxed(&self, mut term: Box<Term<&'s str>>) -> Box<Term<&'s str>> {
        *term = self.term(std::mem::take(&mut *term));
        term
    }

    fn children(&self, term: Term<&'s str>) -> Term<&'s str> {
        let all = |terms: Vec<_>| terms.into_iter().map(|term| self.term(term)).collect();
        match term {
            Term::Id | Term::Recurse | Term::Num(_) | Term::Break(_) | Term::Var(_) => term,
            Term::Str(format, parts) => {
                let part = |part| match part {
                    // Of several parts, the sum is counted too late.
                    StrPart::Term(term) => {
                        StrPart::Term(pipe(self.term(term), Term::Call(BUILT, Vec::new())))
                    }
                    other => other,
                };
                Term::Str(format, parts.into_iter().map(part).collect())
            }
            Term::Arr(items) => Term::Arr(items.map(|items| self.boxed(items))),
            Term::Obj(entries) => {
                let entry = |(key, value): (_, Option<_>)| match value {
                    Some(value) => (self.term(key), Some(self.term(value))),
                    // `{a}`, `{$a}`, `{"a\(.b)"}`: the key is read as a name or as a string.
                    None => (self.children(key), None),
                };
                Term::Obj(entries.into_iter().map(entry).collect())
            }
            Term::Neg(operand) => Term::Neg(self.boxed(operand)),
            Term::BinOp(left, operator, right) => {
                let operator = match operator {
                    BinaryOp::Pipe(Some(pattern)) => BinaryOp::Pipe(Some(self.pattern(pattern))),
                    other => other,
                };
                Term::BinOp(self.boxed(left), operator, self.boxed(right))
            }
            Term::Label(name, body) => Term::Label(name, self.boxed(body)),
            Term::Fold(name, items, pattern, bodies) => {
                Term::Fold(name, self.boxed(items), self.pattern(pattern), all(bodies))
            }
            Term::TryCatch(body, handler) => {
                Term::TryCatch(self.boxed(body), handler.map(|handler| self.boxed(handler)))
            }
            Term::IfThenElse(branches, otherwise) => {
                let branch = |(condition, then)| (self.term(condition), self.term(then));
                let branches = branches.into_iter().map(branch).collect();
                Term::IfThenElse(branches, otherwise.map(|otherwise| self.boxed(otherwise)))
            }
            Term::Def(definitions, body) => {
                let definitions = definitions.into_iter().map(|definition| self.definition(definition));
                Term::Def(definitions.collect(), self.boxed(body))
            }
            Term::Call(name, arguments) => Term::Call(name, all(arguments)),
            Term::Path(head, path) => {
                path.0.into_iter().fold(self.term(*head), |head, part| self.part(head, part))
            }
        }
    }

    /// Appends a part to a path. Each part has a term of its own, so that the items that it visits can be counted.
    fn part(&self, head: Term<&'s str>, (part, optional): (Part<Term<&'s str>>, Opt)) -> Term<&'s str> {
        let (head, part) = match part {
            Part::Index(index @ (Term::Str(None, _) | Term::Num(_))) => {
                (head, Part::Index(self.children(index)))
            }
            Part::Index(index) => (head, Part::Index(pipe(self.term(index), Term::Call(INDEX, Vec::new())))),
            Part::Range(from, to) => {
                let bound = |bound: Option<_>| bound.map(|bound| self.term(bound));
                (pipe(head, Term::Call(ITEMS, Vec::new())), Part::Range(bound(from), bound(to)))
            }
        };
        Term::Path(Box::new(head), Path(vec![(part, optional)]))
    }

    fn pattern(&self, pattern: Pattern<&'s str>) -> Pattern<&'s str> {
        match pattern {
            Pattern::Var(_) => pattern,
            Pattern::Arr(items) => Pattern::Arr(items.into_iter().map(|item| self.pattern(item)).collect()),
            Pattern::Obj(entries) => {
                let entry = |(key, value)| (self.term(key), self.pattern(value));
                Pattern::Obj(entries.into_iter().map(entry).collect())
            }
        }
    }
}

fn pipe<'s>(left: Term<&'s str>, right: Term<&'s str>) -> Term<&'s str> {
    Term::BinOp(Box::new(left), BinaryOp::Pipe(None), Box::new(right))
}
