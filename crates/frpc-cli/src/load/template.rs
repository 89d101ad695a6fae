//! Templates in the parameters of load tests, such as `{{n}}`, which are expanded for each call.

use fastrand::Rng;
use std::fmt::Write as _;

/// Text of a request that contains templates such as `{{random 1 6}}`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Template(Vec<Part>);

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    /// The number of the call, which is counted from 0.
    Number,
    /// A random integer in this range, including both ends.
    Random(i64, i64),
    /// A random text of this length in characters, consisting of letters and digits.
    Letters(usize),
    /// A random element of this list.
    Choice(Vec<String>),
}

/// Maximum length of a random text in characters. A request with such a text fits into a frame of the default maximum
/// size.
const LETTERS_MAX: usize = 5 << 20;

impl Template {
    /// Parses a text that may contain templates.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            let (name, after) = behind.split_once("}}").ok_or_else(|| format!("{text:?} has no }}}} after {{{{"))?;
            parts.push(Part::Text(before.to_owned()));
            parts.push(part(name.trim())?);
            rest = after;
        }
        parts.push(Part::Text(rest.to_owned()));
        parts.retain(|part| *part != Part::Text(String::new()));
        Ok(Self(parts))
    }

    /// Returns whether the text contains no templates and is thus the same for every call.
    pub(crate) fn is_constant(&self) -> bool {
        self.0.iter().all(|part| matches!(part, Part::Text(_)))
    }

    /// Returns the text with its templates expanded for the call with this number.
    pub(crate) fn render(&self, number: u64, random: &mut Rng) -> String {
        let mut out = String::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => out.push_str(text),
                // Writing to a string cannot fail, so ignore the result.
                Part::Number => drop(write!(out, "{number}")),
                Part::Random(from, to) => drop(write!(out, "{}", random.i64(*from..=*to))),
                Part::Letters(count) => out.extend((0..*count).map(|_| random.alphanumeric())),
                Part::Choice(texts) => out.push_str(random.choice(texts).map_or("", String::as_str)),
            }
        }
        out
    }
}

fn part(name: &str) -> Result<Part, String> {
    let words: Vec<&str> = name.split_whitespace().collect();
    let integer = |text: &str| text.parse::<i64>().map_err(|_| format!("{text:?} in {{{{{name}}}}} is not an integer"));
    match words[..] {
        ["n"] => Ok(Part::Number),
        ["random"] => Ok(Part::Random(0, i64::from(i32::MAX))),
        ["random", from, to] => match (integer(from)?, integer(to)?) {
            (from, to) if from <= to => Ok(Part::Random(from, to)),
            _ => Err(format!("the range of {{{{{name}}}}} is empty")),
        },
        ["letters", count] => match usize::try_from(integer(count)?) {
            Ok(count) if count <= LETTERS_MAX => Ok(Part::Letters(count)),
            _ => Err(format!("{{{{{name}}}}}: 0 to {LETTERS_MAX} letters are possible")),
        },
        ["choice", _, ..] => Ok(Part::Choice(words.iter().skip(1).map(|word| (*word).to_owned()).collect())),
        _ => Err(format!(
            "{{{{{name}}}}} is no template; there are {{{{n}}}}, {{{{random}}}}, {{{{random 1 6}}}}, {{{{letters 20}}}} \
             and {{{{choice red green}}}}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_replaced_for_each_call() {
        let mut random = Rng::with_seed(1);
        let text = "a{{n}}-{{ random 3 3 }}-{{letters 4}}-{{choice x x}}}";
        let rendered = Template::new(text).unwrap().render(7, &mut random);
        let parts: Vec<_> = rendered.split('-').collect();
        assert_eq!((parts[0], parts[1], parts[2].len(), parts[3]), ("a7", "3", 4, "x}"));
        assert!(Template::new("name=you").unwrap().is_constant());
        assert!(!Template::new("name={{n}}").unwrap().is_constant());
    }

    #[test]
    fn invalid_template_error_lists_valid_ones() {
        for text in ["{{m}}", "{{n", "{{random 2 1}}", "{{random x 1}}", "{{letters -1}}", "{{choice}}", "{{}}"] {
            assert!(Template::new(text).is_err(), "{text}");
        }
        assert!(Template::new("{{m}}").unwrap_err().contains("{{n}}, {{random}}"));
    }
}
