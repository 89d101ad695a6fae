//! The argument of options that take one path or several.

/// One path or several: `"."`, `[".a", ".b"]`, `vec![…]` or `&[…]`.
pub trait Paths {
    /// All of them.
    fn paths(self) -> Vec<String>;
}

impl Paths for &str {
    fn paths(self) -> Vec<String> {
        vec![self.to_owned()]
    }
}

impl Paths for String {
    fn paths(self) -> Vec<String> {
        vec![self]
    }
}

impl Paths for &String {
    fn paths(self) -> Vec<String> {
        vec![self.clone()]
    }
}

impl<S: AsRef<str>, const N: usize> Paths for [S; N] {
    fn paths(self) -> Vec<String> {
        self.as_slice().paths()
    }
}

impl<S: AsRef<str>, const N: usize> Paths for &[S; N] {
    fn paths(self) -> Vec<String> {
        self.as_slice().paths()
    }
}

impl<S: AsRef<str>> Paths for &[S] {
    fn paths(self) -> Vec<String> {
        self.iter().map(|path| path.as_ref().to_owned()).collect()
    }
}

impl<S: AsRef<str>> Paths for Vec<S> {
    fn paths(self) -> Vec<String> {
        self.as_slice().paths()
    }
}
