//! Typed access to parameters and replies: fields of the request, and the only field of the reply.

use crate::call::{end, frisbee_call};
use crate::handle;
use crate::payload::Format;
use crate::raw::{bytes, caught, frisbee_bytes, frisbee_code, frisbee_error, guarded, put, text};
use bytes::Bytes;
use frpc::Status;
use frpc_dynamic::DynamicMessage;
use prost_reflect::{Kind, Value};
use std::ffi::{c_char, c_void};

impl frisbee_call {
    /// Returns the value of a request field, identified by its name or by its index in digits.
    fn parameter<T>(&self, name: &str, read: impl FnOnce(&Value) -> Option<T>) -> Result<T, Status> {
        let descriptor = &self.callable.request.descriptor;
        let field = match name.parse::<usize>() {
            Ok(index) => {
                let declared = descriptor.descriptor_proto().field.get(index);
                declared.and_then(|field| descriptor.get_field(u32::try_from(field.number()).ok()?))
            }
            Err(_) => descriptor.get_field_by_name(name).or_else(|| descriptor.get_field_by_json_name(name)),
        };
        let field = field.ok_or_else(|| {
            Status::not_found(format!("{} has no field {name}: use its name or index", descriptor.full_name()))
        })?;
        self.request(|message| {
            let message = self.decoded(message)?;
            if field.supports_presence() && !message.has_field(&field) {
                return Err(Status::not_found(format!("parameter {name} is absent")));
            }
            let wrong = || Status::invalid_argument(format!("parameter {name} has another type, or is out of range"));
            read(&message.get_field(&field)).ok_or_else(wrong)
        })
    }

    /// Encodes a reply message whose only field has this value.
    fn only(&self, value: impl FnOnce(&Kind) -> Option<Value>) -> Result<Bytes, Status> {
        let of = &self.callable.reply;
        let mut fields = of.descriptor.fields();
        let (Some(field), None) = (fields.next(), fields.next()) else {
            let text = format!("{} has not one field: reply with the whole message", of.descriptor.full_name());
            return Err(Status::failed_precondition(text));
        };
        let wrong = || {
            let name = of.descriptor.full_name();
            Status::invalid_argument(format!("field {} of {name} has another type, or a smaller range", field.name()))
        };
        let value = value(&field.kind()).filter(|_| !field.is_list() && !field.is_map()).ok_or_else(wrong)?;
        let mut message = DynamicMessage::new(of.descriptor.clone());
        message.try_set_field(&field, value).map_err(|_| wrong())?;
        of.write(Format::Protobuf, &message)
    }
}

/// Stores the value of an integer parameter, or 0 on failure. `name` is the name of the parameter, or its index in
/// digits, and is only read. An absent parameter has its default value unless it is optional.
///
/// Returns `FRISBEE_NOT_FOUND` for an absent optional parameter. No argument may be NULL. May be called from any
/// thread.
///
/// # Safety
/// `name` ends with a NUL, `value` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_call_i64(
    call: *mut frisbee_call,
    name: *const c_char,
    value: *mut i64,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe { parameter(call, name, value, 0, |value| i64::try_from(whole(value)?).ok()) }
}

/// Like `frisbee_call_i64`, but reads a non-negative integer, such as a `uint64` above `INT64_MAX`. `name` is only
/// read. No argument may be NULL. May be called from any thread.
///
/// # Safety
/// Like `frisbee_call_i64`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_call_u64(
    call: *mut frisbee_call,
    name: *const c_char,
    value: *mut u64,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe { parameter(call, name, value, 0, |value| u64::try_from(whole(value)?).ok()) }
}

/// Like `frisbee_call_i64`, but reads a floating-point number or an integer. `name` is only read. No argument may be
/// NULL. May be called from any thread.
///
/// # Safety
/// Like `frisbee_call_i64`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_call_f64(
    call: *mut frisbee_call,
    name: *const c_char,
    value: *mut f64,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        parameter(call, name, value, 0.0, |value| match value {
            Value::F32(value) => Some(f64::from(*value)),
            Value::F64(value) => Some(*value),
            Value::EnumNumber(_) => None,
            _ => whole(value).map(|number| number as f64),
        })
    }
}

/// Like `frisbee_call_i64`, but reads a boolean. `name` is only read. No argument may be NULL. May be called from any
/// thread.
///
/// # Safety
/// Like `frisbee_call_i64`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_call_bool(
    call: *mut frisbee_call,
    name: *const c_char,
    value: *mut bool,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe { parameter(call, name, value, false, Value::as_bool) }
}

/// Like `frisbee_call_i64`, but reads text or bytes. They belong to the call, and are valid until the call is replied
/// to, or in a stream until the next request. They do not end with a NUL. No argument may be NULL. May be called from
/// any thread.
///
/// # Safety
/// Like `frisbee_call_i64`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_call_text(
    call: *mut frisbee_call,
    name: *const c_char,
    value: *mut frisbee_bytes,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        // The value belongs to the request, unless it is a default, which is empty in proto3.
        parameter(call, name, value, frisbee_bytes::EMPTY, |value| match value {
            Value::String(text) => Some(frisbee_bytes::of(text.as_bytes())),
            Value::Bytes(bytes) => Some(frisbee_bytes::of(bytes)),
            _ => None,
        })
    }
}

/// # Safety
/// `name` ends with a NUL, `to` is null or writable.
unsafe fn parameter<T: Copy>(
    call: *mut frisbee_call,
    name: *const c_char,
    to: *mut T,
    otherwise: T,
    read: impl FnOnce(&Value) -> Option<T>,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded(std::ptr::null_mut(), || {
            // Store the default first, so that the caller never reads an uninitialized value if the parameter cannot be
            // read.
            put("value", to, || Ok(otherwise))?;
            put("value", to, || handle::get(call)?.parameter(text("name", name)?, read))
        })
    }
}

/// Returns the number of an integer or enum value.
fn whole(value: &Value) -> Option<i128> {
    match value {
        Value::I32(value) | Value::EnumNumber(value) => Some((*value).into()),
        Value::I64(value) => Some((*value).into()),
        Value::U32(value) => Some((*value).into()),
        Value::U64(value) => Some((*value).into()),
        _ => None,
    }
}

/// Returns the value for an integer field, or `None` if its type cannot represent the number.
fn integer(kind: &Kind, value: i128) -> Option<Value> {
    match kind {
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => i32::try_from(value).ok().map(Value::I32),
        Kind::Uint32 | Kind::Fixed32 => u32::try_from(value).ok().map(Value::U32),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => i64::try_from(value).ok().map(Value::I64),
        Kind::Uint64 | Kind::Fixed64 => u64::try_from(value).ok().map(Value::U64),
        Kind::Enum(_) => i32::try_from(value).ok().map(Value::EnumNumber),
        _ => None,
    }
}

/// Replies to a call with an integer, and frees the call. The reply message must have a single field, which receives
/// the integer. Otherwise like `frisbee_call_reply`. Only `error` may be NULL. May be called from any thread.
///
/// # Safety
/// `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_call_reply_i64(
    call: *mut frisbee_call,
    value: i64,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the argument is valid.
    unsafe { reply_only(call, error, |kind| integer(kind, value.into())) }
}

/// Like `frisbee_call_reply_i64`, but replies with a non-negative integer, such as a `uint64` above `INT64_MAX`. Frees
/// the call. Only `error` may be NULL. May be called from any thread.
///
/// # Safety
/// `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_call_reply_u64(
    call: *mut frisbee_call,
    value: u64,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the argument is valid.
    unsafe { reply_only(call, error, |kind| integer(kind, value.into())) }
}

/// Like `frisbee_call_reply_i64`, but replies with a floating-point number. Frees the call. Only `error` may be NULL.
/// May be called from any thread.
///
/// # Safety
/// `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_call_reply_f64(
    call: *mut frisbee_call,
    value: f64,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the argument is valid.
    unsafe {
        reply_only(call, error, |kind| match kind {
            Kind::Double => Some(Value::F64(value)),
            Kind::Float => Some(Value::F32(value as f32)),
            _ => None,
        })
    }
}

/// Like `frisbee_call_reply_i64`, but replies with a boolean. Frees the call. Only `error` may be NULL. May be called
/// from any thread.
///
/// # Safety
/// `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_call_reply_bool(
    call: *mut frisbee_call,
    value: bool,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the argument is valid.
    unsafe { reply_only(call, error, |kind| matches!(kind, Kind::Bool).then_some(Value::Bool(value))) }
}

/// Like `frisbee_call_reply_i64`, but replies with text or bytes, which are copied. Only `error`, and `data` if `len`
/// is 0, may be NULL. May be called from any thread.
///
/// # Safety
/// `data` has `len` bytes, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_call_reply_text(
    call: *mut frisbee_call,
    data: *const c_void,
    len: usize,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        let data = match caught(|| bytes("data", data, len)) {
            Ok(data) => data,
            Err(status) => return guarded(error, || Err(status)),
        };
        reply_only(call, error, |kind| match kind {
            Kind::String => String::from_utf8(data.to_vec()).ok().map(Value::String),
            Kind::Bytes => Some(Value::Bytes(data)),
            _ => None,
        })
    }
}

/// # Safety
/// `error` is null or writable.
unsafe fn reply_only(
    call: *mut frisbee_call,
    error: *mut frisbee_error,
    value: impl FnOnce(&Kind) -> Option<Value>,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the argument is valid.
    unsafe {
        guarded(error, || {
            end(call, |call| call.only(value).and_then(|message| call.payload(Format::Protobuf, message)))
        })
    }
}
