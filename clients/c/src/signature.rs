//! Converts function signatures such as `sum(int64 a, int64 b) -> int64` to a schema.

use frpc::Status;
use std::fmt::Write as _;

/// Parsed signature of a function: its name, its parameters as protobuf fields, and its result type.
pub(crate) struct Signature {
    pub(crate) name: String,
    parameters: Vec<String>,
    result: Option<String>,
}

impl Signature {
    /// Parses a signature such as `sum(int64 a, int64 b) -> int64`.
    ///
    /// # Errors
    /// If the text is not of this form. The types are checked later, with the schema.
    pub(crate) fn parse(text: &str) -> Result<Self, Status> {
        let wrong = || {
            let text = format!("signature {text:?} is invalid: use a form such as \"sum(int64 a, int64 b) -> int64\"");
            Status::invalid_argument(text)
        };
        let is_word = |text: &str| {
            let mut letters = text.chars();
            letters.next().is_some_and(|first| first.is_ascii_alphabetic())
                && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        };
        let (name, rest) = text.split_once('(').ok_or_else(wrong)?;
        let (parameters, result) = rest.split_once(')').ok_or_else(wrong)?;
        let name = name.trim();
        let result = match result.trim() {
            "" => None,
            result => Some(result.strip_prefix("->").ok_or_else(wrong)?.trim().to_owned()),
        };
        let parameters: Vec<String> = match parameters.trim() {
            "" => Vec::new(),
            parameters => parameters.split(',').map(|parameter| parameter.trim().to_owned()).collect(),
        };
        let is_field = |text: &String| text.split_whitespace().count() >= 2 && text.split_whitespace().all(is_word);
        let is_type = |text: &String| text.split_whitespace().count() >= 1 && text.split_whitespace().all(is_word);
        if !is_word(name) || !parameters.iter().all(is_field) || !result.iter().all(is_type) {
            return Err(wrong());
        }
        Ok(Self { name: name.to_owned(), parameters, result })
    }

    /// Returns the prefix of the function's message names, such as `GetName` for `get_name`.
    pub(crate) fn class(&self) -> String {
        let part = |part: &str| {
            let mut letters = part.chars();
            letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
        };
        self.name.split('_').map(part).collect()
    }
}

/// Returns the `.proto` file of a service that consists of these functions. `service` is its full name.
pub(crate) fn proto(service: &str, functions: &[Signature]) -> String {
    let (package, service) = service.rsplit_once('.').map_or((None, service), |(package, name)| (Some(package), name));
    let mut text = String::from("syntax = \"proto3\";\n");
    if let Some(package) = package {
        let _ = writeln!(text, "package {package};"); // Writing to a `String` cannot fail.
    }
    let _ = writeln!(text, "service {service} {{");
    for function in functions {
        let (name, class) = (&function.name, function.class());
        let _ = writeln!(text, "  rpc {name}({class}Request) returns ({class}Result);");
    }
    text.push_str("}\n");
    for function in functions {
        let (class, Signature { parameters, result, .. }) = (function.class(), function);
        let _ = writeln!(text, "message {class}Request {{");
        for (at, parameter) in parameters.iter().enumerate() {
            let _ = writeln!(text, "  {parameter} = {};", at + 1);
        }
        let result = result.as_ref().map(|result| format!(" {result} result = 1;")).unwrap_or_default();
        let _ = writeln!(text, "}}\nmessage {class}Result {{{result} }}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_become_schema() {
        let all = ["sum(int64 a, int64 b) -> int64", "set_name ( optional string name )", "now() -> repeated double"];
        let functions: Vec<_> = all.iter().map(|text| Signature::parse(text).unwrap()).collect();
        let expected = "syntax = \"proto3\";\npackage calc;\nservice Calculator {\n  rpc sum(SumRequest) returns (SumResult);\n  \
            rpc set_name(SetNameRequest) returns (SetNameResult);\n  rpc now(NowRequest) returns (NowResult);\n}\n\
            message SumRequest {\n  int64 a = 1;\n  int64 b = 2;\n}\nmessage SumResult { int64 result = 1; }\n\
            message SetNameRequest {\n  optional string name = 1;\n}\nmessage SetNameResult { }\n\
            message NowRequest {\n}\nmessage NowResult { repeated double result = 1; }\n";
        assert_eq!(proto("calc.Calculator", &functions), expected);
    }

    #[test]
    fn malformed_signatures_are_refused() {
        for text in ["", "sum", "sum(", "sum(int64)", "sum(int64 a) int64", "1()", "sum(int64 a;)", "sum() ->"] {
            assert!(Signature::parse(text).is_err(), "{text}");
        }
    }
}
