//! Services that are known only at run time.

use crate::schema::layout::Layout;
use crate::schema::method::Method;
use parking_lot::Mutex;
use prost_types::method_options::IdempotencyLevel;
use std::collections::HashMap;

/// Describes the wire layout and operation numbers of a service, for programs that read schemas at run time.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ServiceDescription {
    /// Full name of the service, including its package.
    pub service: String,
    /// Encoded [`Description`](polyglot::layout::Description) of the wire layout.
    pub layout: Vec<u8>,
    /// Names of the layout's types and fields, which the encoded layout omits.
    pub names: String,
    /// Operation numbers of all methods of the service. A server may offer only some of them.
    pub operations: Vec<u16>,
    /// Methods of the service that can be called.
    pub methods: Vec<MethodDescription>,
}

/// Describes a method by its name, operation number and properties. The operation number must be at least 10.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MethodDescription {
    /// Name of the method without its service.
    pub name: String,
    /// Operation number that identifies the method on the wire.
    pub operation: u16,
    /// Whether repeating a call has no additional effect, so that clients may retry it.
    pub is_idempotent: bool,
    /// Whether calls have no side effects.
    pub is_without_side_effects: bool,
}

type Constants = (&'static Layout, &'static [Method]);

impl ServiceDescription {
    /// Creates the description of a service that offers all methods of its layout. Each method is given by its name,
    /// its operation number, and the level of idempotency that the schema declares.
    pub fn new<N: Into<String>>(
        service: impl Into<String>,
        layout: impl Into<Vec<u8>>,
        names: impl Into<String>,
        methods: impl IntoIterator<Item = (N, u16, IdempotencyLevel)>,
    ) -> Self {
        let method = |(name, operation, level): (N, _, _)| MethodDescription {
            name: name.into(),
            operation,
            is_idempotent: level != IdempotencyLevel::IdempotencyUnknown,
            is_without_side_effects: level == IdempotencyLevel::NoSideEffects,
        };
        let methods: Vec<_> = methods.into_iter().map(method).collect();
        let operations = methods.iter().map(|method| method.operation).collect();
        Self { service: service.into(), layout: layout.into(), names: names.into(), operations, methods }
    }

    /// Returns the constants that generated code would contain: the layout, and the descriptors of
    /// [`methods`](Self::methods) in the same order. The first call for a description allocates them. Their memory is
    /// never freed.
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
