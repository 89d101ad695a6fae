//! Arguments of options that take one path or several.

/// One [path](crate::Builder#paths) or several: `"."`, `[".a", ".b"]`, `vec![…]` or `&[…]`.
///
/// ```
/// use frpc_build::IntoPaths as _;
///
/// assert_eq!(".shop".into_paths(), [".shop"]);
/// assert_eq!([".shop.Item", "Order.note"].into_paths(), [".shop.Item", "Order.note"]);
/// ```
pub trait IntoPaths {
    /// Converts the argument into a list of schema paths.
    fn into_paths(self) -> Vec<String>;
}

macro_rules! paths {
    ($([$($generics:tt)*] $type:ty, |$paths:ident| $into:expr;)*) => {$(
        impl<$($generics)*> IntoPaths for $type {
            fn into_paths(self) -> Vec<String> {
                let $paths = self;
                $into
            }
        }
    )*};
}

paths! {
    [] &str, |path| vec![path.to_owned()];
    [] String, |path| vec![path];
    [] &String, |path| vec![path.clone()];
    [S: AsRef<str>] &[S], |paths| paths.iter().map(|path| path.as_ref().to_owned()).collect();
    [S: AsRef<str>] Vec<S>, |paths| paths.as_slice().into_paths();
    [S: AsRef<str>, const N: usize] [S; N], |paths| paths.as_slice().into_paths();
    [S: AsRef<str>, const N: usize] &[S; N], |paths| paths.as_slice().into_paths();
}
