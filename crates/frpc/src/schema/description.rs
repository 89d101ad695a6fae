//! Services that are known only at run time.

use crate::schema::layout::Layout;
use crate::schema::method::Method;
use parking_lot::Mutex;
use std::collections::HashMap;

/// Wire layout and operation numbers of a service, for programs that read schemas at run time.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ServiceDescription {
    /// The full name of the service.
    pub service: String,
    /// The encoded [`Description`](polyglot::layout::Description) of its layout.
    pub layout: Vec<u8>,
    /// Names of the layout's types and fields, which the layout itself omits.
    pub names: String,
    /// The operations of all methods of the layout. A server may offer only some of them.
    pub operations: Vec<u16>,
    /// The methods that can be called.
    pub methods: Vec<MethodDescription>,
}

/// Name, operation number and properties of a method. The operation must be at least 10.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MethodDescription {
    /// The name without the service.
    pub name: String,
    /// The operation number.
    pub operation: u16,
    /// Whether repeated calls have no additional effect.
    pub is_idempotent: bool,
    /// Whether calls change nothing.
    pub is_without_side_effects: bool,
}

type Constants = (&'static Layout, &'static [Method]);

impl ServiceDescription {
    /// Returns the same constants as generated code has: the layout, and the descriptors of
    /// [`methods`](Self::methods) in the same order. They are leaked once per description.
    ///
    /// # Errors
    /// Same as [`Layout::leak`].
    ///
    /// # Panics
    /// Same as [`Method::new`].
    pub fn leak(&self) -> Result<Constants, String> {
        static LEAKED: Mutex<Option<HashMap<ServiceDescription, Constants>>> = Mutex::new(None);
        let mut leaked = LEAKED.lock();
        let leaked = leaked.get_or_insert_default();
        if let Some(constants) = leaked.get(self) {
            return Ok(*constants);
        }
        let layout = Layout::leak(&self.service, self.operations.clone(), &self.layout, &self.names)?;
        let methods: Vec<_> = self.methods.iter().map(|method| method.leak(layout)).collect();
        let constants: Constants = (layout, methods.leak());
        leaked.insert(self.clone(), constants);
        Ok(constants)
    }
}

impl MethodDescription {
    fn leak(&self, layout: &'static Layout) -> Method {
        let method = Method::new(layout, self.name.clone().leak(), self.operation);
        match (self.is_without_side_effects, self.is_idempotent) {
            (true, _) => method.without_side_effects(),
            (false, true) => method.idempotent(),
            (false, false) => method,
        }
    }
}
