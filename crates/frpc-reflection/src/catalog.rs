//! The services of a server that reflection exposes, and the files that declare them. Computed once, at the first call.

use crate::files::{File, files, head_in_set};
use crate::v1::{Codec, Idempotency, ListPiece, Method, Service};
use bytes::Bytes;
use frpc::CallKind;
use frpc::codegen::{OfferedMethod, OfferedService};
use prost_types::{MethodOptions, ServiceOptions};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Maximum length in bytes of a message in a streamed reply. Small enough not to delay other calls on the connection,
/// and far below the message size limit of common clients.
pub(crate) const PIECE_MAX: usize = 32 * 1024;

/// The part of a server's schema that reflection exposes.
#[derive(Default)]
pub(crate) struct Catalog {
    /// Hash of the catalog's content. Clients detect changes by it.
    pub(crate) etag: String,
    /// Names of the exposed services in ascending order.
    pub(crate) names: Vec<String>,
    /// Descriptions of the services in ascending order of their names, split into reply messages.
    pub(crate) pieces: Vec<ListPiece>,
    pub(crate) files: Vec<PublishedFile>,
    by_name: HashMap<String, usize>,
    by_symbol: HashMap<String, usize>,
    /// Indexes of the files that declare extensions, by extended message and field number.
    pub(crate) extensions: HashMap<String, BTreeMap<i32, usize>>,
}

/// A file that declares an exposed service, or that such a file imports directly or indirectly.
pub(crate) struct PublishedFile {
    /// Bytes that precede the file in an encoded `FileDescriptorSet`.
    pub(crate) head: Bytes,
    pub(crate) bytes: Bytes,
    /// Indexes of the files that this file imports.
    pub(crate) imports: Vec<usize>,
}

impl Catalog {
    /// Builds the catalog of the offered services, excluding hidden ones.
    pub(crate) fn new(offered: &[OfferedService], is_hidden: impl Fn(&str) -> bool) -> Self {
        let mut catalog = Self::default();
        let mut shown: Vec<_> = offered.iter().filter(|service| !is_hidden(service.name())).collect();
        shown.sort_by_key(|service| service.name());
        catalog.names = shown.iter().map(|service| service.name().to_owned()).collect();
        let mut described = Vec::new();
        for service in &shown {
            let home = catalog.add_files(service, &is_hidden);
            if home.is_none() && service.schema().is_some() {
                tracing::error!(target: "frpc::server", service = service.name(), "invalid embedded schema of service");
            }
            described.push(describe(service, home.as_ref()));
        }
        catalog.etag = catalog.fingerprint(&described);
        catalog.pieces = pieces(described);
        catalog
    }

    /// Adds the file that declares a service, and its imports, unless they are already present. Returns this file, or
    /// `None` if the service has no schema or its schema is invalid.
    fn add_files(&mut self, service: &OfferedService, is_hidden: &impl Fn(&str) -> bool) -> Option<File> {
        let mut all = files(service.schema()?.files())?;
        let declares =
            |file: &File| file.proto.service.iter().any(|declared| file.full_name(declared.name()) == service.name());
        let home = all.iter().position(declares)?;
        for file in &mut all {
            file.without_services(is_hidden)?;
        }
        let names: HashMap<String, usize> = all.iter().enumerate().map(|(at, file)| (file.name.clone(), at)).collect();
        let mut wanted = HashSet::new();
        let mut open = vec![home];
        while let Some(at) = open.pop() {
            if wanted.insert(at) {
                let imports = all.get(at).into_iter().flat_map(|file| &file.proto.dependency);
                open.extend(imports.filter_map(|import| names.get(import)).copied());
            }
        }
        // Add the files in this order, so that imports come first.
        for (_, file) in all.iter().enumerate().filter(|(at, _)| wanted.contains(at)) {
            self.add(file);
        }
        Some(all.swap_remove(home))
    }

    fn add(&mut self, file: &File) {
        if let Some(existing) = self.by_name.get(&file.name).and_then(|at| self.files.get(*at)) {
            if existing.bytes == file.bytes {
                return;
            }
            // Skip a file with known symbols. Two builds may embed different files with the same name, which clients
            // could not distinguish.
            if file.symbols().iter().all(|symbol| self.by_symbol.contains_key(symbol)) {
                return;
            }
            tracing::warn!(target: "frpc::server",
                file = file.name,
                "two files of the schema have the same name; clients can fetch only one of them by name"
            );
        }
        let at = self.files.len();
        let imports = file.proto.dependency.iter().filter_map(|import| self.by_name.get(import)).copied();
        let shown =
            PublishedFile { head: head_in_set(&file.bytes), bytes: file.bytes.clone(), imports: imports.collect() };
        self.files.push(shown);
        self.by_name.entry(file.name.clone()).or_insert(at);
        for symbol in file.symbols() {
            self.by_symbol.entry(symbol).or_insert(at);
        }
        for (extended, number) in file.extensions() {
            self.extensions.entry(extended).or_default().entry(number).or_insert(at);
        }
    }

    /// Returns the index of the exposed file with this name, if there is one.
    pub(crate) fn named(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Returns the index of the exposed file that declares a symbol, if there is one.
    pub(crate) fn declaring(&self, symbol: &str) -> Option<usize> {
        self.by_symbol.get(symbol.trim_start_matches('.')).copied()
    }

    /// Returns the index of the exposed file that declares an extension, if there is one.
    pub(crate) fn extending(&self, message: &str, number: i32) -> Option<usize> {
        self.extensions.get(message.trim_start_matches('.'))?.get(&number).copied()
    }

    /// Returns these files and their imports in topological order, imports first.
    pub(crate) fn with_imports(&self, files: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let (mut open, mut found): (Vec<usize>, HashSet<usize>) = (files.into_iter().collect(), HashSet::new());
        while let Some(at) = open.pop() {
            if found.insert(at) {
                open.extend(self.files.get(at).into_iter().flat_map(|file| &file.imports));
            }
        }
        let mut found: Vec<usize> = found.into_iter().collect();
        found.sort_unstable();
        found
    }

    /// Returns a 64-bit FNV-1a hash of all exposed content. A non-cryptographic hash suffices, because only the server
    /// computes it.
    fn fingerprint(&self, services: &[Service]) -> String {
        use prost::Message as _;
        let services = services.iter().map(|service| Bytes::from(service.encode_to_vec()));
        let parts = services.chain(self.files.iter().flat_map(|file| [file.head.clone(), file.bytes.clone()]));
        let hash = parts.flatten().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        format!("{hash:016x}")
    }
}

/// Returns the description of a service. Its comments are taken from the file `home` that declares it.
fn describe(service: &OfferedService, home: Option<&File>) -> Service {
    let at = home.and_then(|file| {
        let is_it = |name: &str| file.full_name(name) == service.name();
        file.proto.service.iter().position(|declared| is_it(declared.name()))
    });
    let mut comments = home.map(File::comments).unwrap_or_default();
    let proto = home.zip(at).and_then(|(file, at)| file.proto.service.get(at));
    let method = |method: &OfferedMethod| {
        let declared = proto.and_then(|service| {
            let index = service.method.iter().position(|declared| declared.name() == method.name())?;
            Some((index, service.method.get(index)?))
        });
        let [request, response] = method.messages();
        let docs = at.zip(declared).and_then(|(at, (index, _))| comments.remove(&(at, Some(index))));
        let name = |declared: Option<&str>, expected: &str| {
            declared.map_or(expected, |declared| declared.trim_start_matches('.')).to_owned()
        };
        let idempotency = match (method.is_idempotent(), method.has_side_effects()) {
            (_, false) => Idempotency::NoSideEffects,
            (true, true) => Idempotency::Idempotent,
            (false, true) => Idempotency::Unknown,
        };
        Method {
            name: method.name().to_owned(),
            operation: method.operation().into(),
            request: name(declared.map(|(_, declared)| declared.input_type()), request),
            request_streams: matches!(method.kind(), CallKind::ClientStreaming | CallKind::Streaming),
            response: name(declared.map(|(_, declared)| declared.output_type()), response),
            response_streams: matches!(method.kind(), CallKind::ServerStreaming | CallKind::Streaming),
            idempotency: idempotency.into(),
            formats: method.formats().iter().map(|format| (*format).to_owned()).collect(),
            docs: docs.unwrap_or_default(),
            is_deprecated: declared.is_some_and(|(_, it)| it.options.as_ref().is_some_and(MethodOptions::deprecated)),
        }
    };
    let methods = service.methods().iter().map(method).collect();
    let is_protobuf = service.schema().is_some_and(frpc::codegen::Schema::is_protobuf);
    let codec = if is_protobuf { Codec::Protobuf } else { Codec::Polyglot };
    Service {
        name: service.name().to_owned(),
        fingerprint: service.layout().fingerprint().to_string(),
        layout: Bytes::from_static(service.layout().description()),
        codec: codec.into(),
        file: home.map(|file| file.name.clone()).unwrap_or_default(),
        docs: at.and_then(|at| comments.remove(&(at, None))).unwrap_or_default(),
        is_deprecated: proto.is_some_and(|it| it.options.as_ref().is_some_and(ServiceOptions::deprecated)),
        methods,
        operations: service.layout().operations().iter().map(|operation| u32::from(*operation)).collect(),
    }
}

/// Splits the descriptions of services into reply messages. A long service is split between methods.
fn pieces(services: Vec<Service>) -> Vec<ListPiece> {
    use prost::Message as _;
    let (mut pieces, mut piece, mut length) = (Vec::new(), ListPiece::default(), 0);
    for mut service in services {
        let methods = std::mem::take(&mut service.methods);
        let continued = Service { name: service.name.clone(), ..Service::default() };
        length += service.encoded_len();
        piece.services.push(service);
        for method in methods {
            let more = method.encoded_len();
            if length + more > PIECE_MAX {
                pieces.push(std::mem::take(&mut piece));
                piece.services.push(continued.clone());
                length = continued.encoded_len();
            }
            length += more;
            if let Some(service) = piece.services.last_mut() {
                service.methods.push(method);
            }
        }
        if length > PIECE_MAX {
            pieces.push(std::mem::take(&mut piece));
            length = 0;
        }
    }
    if !piece.services.is_empty() {
        pieces.push(piece);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message as _;

    #[test]
    fn long_service_is_split_in_order() {
        let method = |docs: usize| Method { name: "M".to_owned(), docs: "x".repeat(docs), ..Method::default() };
        let service = |name: &str, docs: usize, methods: Vec<Method>| Service {
            name: name.to_owned(),
            docs: "y".repeat(docs),
            methods,
            ..Service::default()
        };
        let all = vec![
            service("a", 10, vec![method(10)]),
            service("b", 10, vec![method(1000); 100]),
            service("c", PIECE_MAX, vec![method(10)]),
            service("d", 0, Vec::new()),
        ];
        let pieces = pieces(all.clone());
        assert!(pieces.len() >= 5, "{}", pieces.len());
        let mut joined = Vec::<Service>::new();
        for piece in pieces {
            assert!(piece.encoded_len() <= 2 * PIECE_MAX, "{}", piece.encoded_len());
            for service in piece.services {
                match joined.last_mut().filter(|last| last.name == service.name) {
                    Some(last) => last.methods.extend(service.methods),
                    None => joined.push(service),
                }
            }
        }
        assert_eq!(joined, all);
        assert!(super::pieces(Vec::new()).is_empty());
    }
}
