//! The argument of options that take one path or several.

/// One [path](crate::Builder#paths) or several: `"."`, `[".a", ".b"]`, `vec![…]` or `&[…]`.
///
/// ```
/// use frpc_build::IntoPaths as _;
///
/// assert_eq!(".shop".into_paths(), [".shop"]);
/// assert_eq!([".shop.Item", "Order.note"].into_paths(), [".shop.Item", "Order.note"]);
/// ```
pub trait IntoPaths {
    /// Converts the argument into a list of paths.
    fn into_paths(self) -> Vec<String>;
}

impl IntoPaths for &str {
    fn into_paths(self) -> Vec<String> {
        vec![self.to_owned()]
    }
}

impl IntoPaths for String {
    fn into_paths(self) -> Vec<String> {
        vec![self]
    }
}

impl IntoPaths for &String {
    fn into_paths(self) -> Vec<String> {
        vec![self.clone()]
    }
}

impl<S: AsRef<str>, const N: usize> IntoPaths for [S; N] {
    fn into_paths(self) -> Vec<String> {
        self.as_slice().into_paths()
    }
}

impl<S: AsRef<str>, const N: usize> IntoPaths for &[S; N] {
    fn into_paths(self) -> Vec<String> {
        self.as_slice().into_paths()
    }
}

impl<S: AsRef<str>> IntoPaths for &[S] {
    fn into_paths(self) -> Vec<String> {
        self.iter().map(|path| path.as_ref().to_owned()).collect()
    }
}

impl<S: AsRef<str>> IntoPaths for Vec<S> {
    fn into_paths(self) -> Vec<String> {
        self.as_slice().into_paths()
    }
}
