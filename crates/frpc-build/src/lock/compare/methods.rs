//! Compares services and methods by their operations.

use std::collections::HashSet;

use super::LockComparer;
use crate::lock::options::Numbering;
use crate::lock::record::{File, Method, Service, Side, Type};

/// A method and its service.
type Owned<'a> = (&'a Service, &'a Method);

impl<'a> LockComparer<'a> {
    pub(super) fn methods(&mut self) {
        for file in &self.new.files {
            for service in &file.services {
                match self.old.service(&service.name) {
                    Some(before) => {
                        for method in &service.methods {
                            self.method(file, service, before, method);
                        }
                        self.removed_methods(file, service, before);
                    }
                    None => self.new_service(file, service),
                }
            }
        }
        for service in self.old.services().filter(|service| self.new.service(&service.name).is_none()) {
            let text = format!("service `{}` was removed", service.name);
            let advice = "peers identify services by their names, so a renamed service is another service";
            self.breaking(&service.origin, text, Some(advice.to_owned()));
        }
    }

    /// Compares a method of a service that is in the lock.
    fn method(&mut self, file: &File, service: &Service, before: &Service, method: &Method) {
        let what = format!("method `{}.{}`", service.name, method.name);
        let operation = method.operation;
        if let Some(old) = before.methods.iter().find(|old| old.name == method.name) {
            if old.operation != operation {
                let text = format!("{what} moves from operation {} to {operation}", old.operation);
                self.breaking(&method.origin, text, None);
                self.found.broken_services.insert(service.name.clone());
            }
            self.sides(&what, service, old, method);
            return;
        }
        if let Some(old) = self.renamed_from(service, before, method) {
            self.safe(
                &method.origin,
                format!("{what} was renamed from `{}`; its operation is still {operation}", old.name),
            );
            self.sides(&what, service, old, method);
            return;
        }
        match self.holder(file, operation) {
            None => self.safe(&method.origin, format!("{what} is new, with operation {operation}")),
            Some((holder, true)) => {
                let text = format!("{what} was inserted: it has operation {operation}, which belonged to `{holder}`");
                self.breaking(&method.origin, text, self.where_to_add_methods(file));
            }
            Some((holder, false)) => {
                let text = format!("{what} has operation {operation}, which belonged to `{holder}`, which was removed");
                self.breaking(&method.origin, text, self.where_to_add_methods(file));
                self.found.broken_services.insert(service.name.clone());
            }
        }
    }

    fn removed_methods(&mut self, file: &File, service: &Service, before: &Service) {
        for old in &before.methods {
            let is_there = service.methods.iter().any(|method| method.name == old.name);
            let is_renamed = || {
                let same_operation = service.methods.iter().find(|method| method.operation == old.operation);
                same_operation.is_some_and(|method| {
                    self.renamed_from(service, before, method).is_some_and(|from| from.name == old.name)
                })
            };
            if is_there || is_renamed() {
                continue;
            }
            let text = format!("method `{}.{}` with operation {} was removed", service.name, old.name, old.operation);
            let advice = match self.numbering {
                Numbering::Sequential | Numbering::Go
                    if file.services.iter().flat_map(|it| &it.methods).any(|it| it.operation >= old.operation) =>
                {
                    "keep it and answer `Unimplemented`: without it, the methods after it move"
                }
                _ => "keep it and answer `Unimplemented` until it has no callers",
            };
            self.breaking(&old.origin, text, Some(advice.to_owned()));
            self.found.broken_services.insert(service.name.clone());
        }
    }

    fn new_service(&mut self, file: &File, service: &Service) {
        let displaced = service
            .methods
            .iter()
            .find_map(|method| self.holder(file, method.operation).map(|(name, _)| (method, name)));
        match displaced {
            None => self.safe(&service.origin, format!("service `{}` is new", service.name)),
            Some((method, holder)) => {
                let text = format!(
                    "service `{}` was inserted: its method `{}` has operation {}, which belonged to `{holder}`",
                    service.name, method.name, method.operation
                );
                self.breaking(&service.origin, text, self.where_to_add_methods(file));
            }
        }
    }

    /// Returns the old method that was renamed to `method`: one with the same operation and messages, because the wire
    /// contains no method names. With `Numbering::Lock`, methods are identified by name and cannot be renamed.
    fn renamed_from(&self, service: &Service, before: &'a Service, method: &Method) -> Option<&'a Method> {
        let old = before.methods.iter().find(|old| old.operation == method.operation)?;
        let is_gone = !service.methods.iter().any(|other| other.name == old.name);
        let is_alike = self.same_side(&old.request, &method.request) && self.same_side(&old.reply, &method.reply);
        (self.numbering != Numbering::Lock && is_gone && is_alike).then_some(old)
    }

    fn same_side(&self, old: &Side, new: &Side) -> bool {
        let types = (Type::Message(old.message.clone()), Type::Message(new.message.clone()));
        old.is_stream == new.is_stream && self.same_type(&types.0, &types.1, &mut HashSet::new())
    }

    /// Returns the method of a file that had an operation, and whether it still exists.
    fn holder(&self, file: &File, operation: u16) -> Option<(String, bool)> {
        let is_here = |(service, _): &Owned<'_>| {
            file.services.iter().any(|here| here.name == service.name)
                || self
                    .old
                    .files
                    .iter()
                    .any(|old| old.name == file.name && old.services.iter().any(|here| here.name == service.name))
        };
        let old = self.old.services().flat_map(|service| service.methods.iter().map(move |method| (service, method)));
        let owner = old.filter(is_here).find(|(_, method)| method.operation == operation);
        if let Some((service, method)) = owner {
            let now = self.new.service(&service.name);
            let exists = now.is_some_and(|now| now.methods.iter().any(|now| now.name == method.name));
            return Some((format!("{}.{}", service.name, method.name), exists));
        }
        let has = |service: &str| file.services.iter().any(|here| here.name == service);
        let mut past = self.old.origins(&file.name, has).flat_map(|old| &old.removed);
        past.find(|(removed, _)| *removed == operation).map(|(_, name)| (name.clone(), false))
    }

    fn where_to_add_methods(&self, file: &File) -> Option<String> {
        if self.numbering == Numbering::Lock {
            return None;
        }
        let services = file.services.iter().filter_map(|service| self.old.service(&service.name));
        let last = services.flat_map(|service| service.methods.iter().map(move |method| (service, method)));
        let (service, method) = last.max_by_key(|(_, method)| method.operation)?;
        Some(format!(
            "add new methods after `{}.{}`, the last one of the file, or let the lock number them: \
             `numbering(Numbering::Lock)`",
            service.name, method.name
        ))
    }

    fn sides(&mut self, what: &str, service: &Service, old: &Method, new: &Method) {
        for (side, old, now) in [("request", &old.request, &new.request), ("reply", &old.reply, &new.reply)] {
            if self.same_side(old, now) {
                if old.message != now.message {
                    self.renamed_type(&old.message, &now.message, &format!("the {side} of {what}"), &new.origin);
                }
                continue;
            }
            let text = format!("the {side} of {what} changed from `{old}` to `{now}`");
            let advice = "add another method with the new types";
            self.breaking(&new.origin, text, Some(advice.to_owned()));
            self.found.broken_services.insert(service.name.clone());
        }
    }
}
