//! The attribute `#[sim_test]`, which frisbee-sim re-exports and documents. A test is an `async fn` with one argument,
//! so finding its name and its body requires no Rust parser.
#![forbid(unsafe_code)]

use proc_macro::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};

/// Names of the attribute's settings. Each is a method of `Sim`, except for `seeds`.
const SETTINGS: [&str; 4] = ["seeds", "runs_twice", "shrinks", "time_max"];

/// Default number of seeds of a test.
const SEEDS: &str = "100";

/// A compile error with its position in the source.
struct MacroError(Span, String);

/// Implements the attribute that is documented at `frisbee_sim::sim_test`.
#[proc_macro_attribute]
pub fn sim_test(settings: TokenStream, item: TokenStream) -> TokenStream {
    expand(settings, item).unwrap_or_else(|MacroError(span, text)| compile_error(span, &text))
}

fn expand(settings: TokenStream, item: TokenStream) -> Result<TokenStream, MacroError> {
    let settings = parse_settings(settings)?;
    let function = Function::parse(item)?;
    let seeds = settings.iter().find(|(name, _)| name.to_string() == "seeds");
    let seeds = seeds.map_or_else(|| code(SEEDS), |(_, value)| value.clone());
    let mut run = code(&format!("::frisbee_sim::Sim::new().of_test(::core::module_path!(), \"{}\")", function.name));
    for (name, value) in settings.into_iter().filter(|(name, _)| name.to_string() != "seeds") {
        run.extend([punct('.'), name.into(), parenthesized(value)]);
    }
    let name = TokenTree::from(function.name);
    let seeds: TokenStream = seeds.into_iter().chain([punct(','), name.clone()]).collect();
    run.extend(code(".seeds"));
    run.extend([parenthesized(seeds), punct(';')]);

    let mut body = function.world;
    body.extend(run);
    let mut test = function.attributes;
    test.extend(code("#[::core::prelude::v1::test] fn"));
    test.extend([name, parenthesized(TokenStream::new()), Group::new(Delimiter::Brace, body).into()]);
    Ok(test)
}

/// Parses settings of the form `name = value, name = value` into names and values.
fn parse_settings(settings: TokenStream) -> Result<Vec<(Ident, TokenStream)>, MacroError> {
    let mut parsed: Vec<(Ident, TokenStream)> = Vec::new();
    let mut tokens = settings.into_iter();
    while let Some(token) = tokens.next() {
        let known = || SETTINGS.map(|name| format!("`{name}`")).join(", ");
        let TokenTree::Ident(name) = token else {
            return Err(MacroError(token.span(), format!("a setting has a name, one of {}", known())));
        };
        if !SETTINGS.contains(&name.to_string().as_str()) {
            return Err(MacroError(name.span(), format!("unknown setting `{name}`; use one of {}", known())));
        }
        if parsed.iter().any(|(other, _)| other.to_string() == name.to_string()) {
            return Err(MacroError(name.span(), format!("`{name}` is set twice")));
        }
        if !tokens.next().is_some_and(|token| is_punct(&token, '=')) {
            return Err(MacroError(name.span(), format!("a value is missing, as in `{name} = 1000`")));
        }
        let value: TokenStream = tokens.by_ref().take_while(|token| !is_punct(token, ',')).collect();
        if value.is_empty() {
            return Err(MacroError(name.span(), format!("a value is missing, as in `{name} = 1000`")));
        }
        parsed.push((name, value));
    }
    Ok(parsed)
}

/// The annotated test function.
struct Function {
    attributes: TokenStream,
    name: Ident,
    /// Tokens of the function without its attributes.
    world: TokenStream,
}

impl Function {
    fn parse(item: TokenStream) -> Result<Self, MacroError> {
        let mut tokens = item.into_iter().peekable();
        let mut attributes = TokenStream::new();
        while tokens.peek().is_some_and(|token| is_punct(token, '#')) {
            attributes.extend(tokens.by_ref().take(2));
        }
        let world: Vec<_> = tokens.collect();
        let is_word = |token: &TokenTree, word: &str| matches!(token, TokenTree::Ident(it) if it.to_string() == word);
        let first = world.first().map_or_else(Span::call_site, TokenTree::span);
        let at = world.iter().position(|token| is_word(token, "fn"));
        let Some((at, TokenTree::Ident(name))) = at.and_then(|at| Some((at, world.get(at + 1)?))) else {
            return Err(MacroError(first, "`#[sim_test]` must be on an `async fn`".to_owned()));
        };
        if !world[..at].iter().any(|token| is_word(token, "async")) {
            let text = format!("the world is run as a future: `async fn {name}(world: World)`");
            return Err(MacroError(world[at].span(), text));
        }
        let span_at = |at: usize| world.get(at).map_or(name.span(), TokenTree::span);
        if !matches!(world.get(at + 2), Some(TokenTree::Group(arguments)) if is_one_argument(arguments)) {
            let text = format!("a test has one argument, its world: `async fn {name}(world: World)`");
            return Err(MacroError(span_at(at + 2), text));
        }
        if !matches!(world.get(at + 3), Some(TokenTree::Group(_))) {
            let text = "a test returns nothing: it panics if something is wrong".to_owned();
            return Err(MacroError(span_at(at + 3), text));
        }
        Ok(Self { attributes, name: name.clone(), world: world.into_iter().collect() })
    }
}

/// Returns whether a function has exactly one argument, with or without a trailing comma.
fn is_one_argument(arguments: &Group) -> bool {
    let arguments: Vec<_> = arguments.stream().into_iter().collect();
    // The type of the argument is a world, so it contains no commas in brackets.
    let commas = arguments.iter().filter(|token| is_punct(token, ',')).count();
    let ends_with_comma = arguments.last().is_some_and(|token| is_punct(token, ','));
    !arguments.is_empty() && commas == usize::from(ends_with_comma)
}

fn is_punct(token: &TokenTree, char: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == char)
}

fn punct(char: char) -> TokenTree {
    Punct::new(char, Spacing::Alone).into()
}

fn parenthesized(tokens: TokenStream) -> TokenTree {
    Group::new(Delimiter::Parenthesis, tokens).into()
}

fn code(text: &str) -> TokenStream {
    text.parse().expect("generated code should consist of tokens")
}

fn compile_error(span: Span, text: &str) -> TokenStream {
    let error = code(&format!("::core::compile_error! {{ {text:?} }}"));
    error
        .into_iter()
        .map(|mut token| {
            token.set_span(span);
            token
        })
        .collect()
}
