//! A fuzz target for tensors, as `.npy` files and as JSON.

use bytes::Bytes;
use frpc::json::Options;
use frpc::tensor::{Image, Tensor};

/// Memory limit in bytes. It includes the memory of nested lists.
const MEMORY_MAX: usize = 1 << 20;

/// Checks that a decoded tensor is valid and survives a round trip. The first byte of the input selects the format.
pub fn tensor(data: &[u8]) {
    let Some((&choice, data)) = data.split_first() else { return };
    let options = Options::new().container_memory(MEMORY_MAX);
    let read = match choice % 4 {
        0 => Tensor::from_npy(Bytes::copy_from_slice(data)).ok(),
        1 => options.decode::<Tensor>(data).ok(),
        2 => options.decode_positional::<Tensor>(data).ok().map(|(tensor, _)| tensor),
        _ => {
            if let Ok(image) = options.decode::<Image>(data) {
                assert!(image.data.len() <= data.len());
            }
            None
        }
    };
    let Some(tensor) = read.filter(|tensor| *tensor != Tensor::default()) else { return };
    let dtype = tensor.check().expect("tensor should be valid");
    assert!(tensor.data.len() <= data.len().saturating_mul(16));
    check::<f32>(&tensor);
    check::<f64>(&tensor);
    check::<i16>(&tensor);
    check::<u64>(&tensor);
    check::<bool>(&tensor);
    let mut json = Vec::new();
    options.encode(&tensor, &mut json).expect("tensor should have a JSON form");
    assert_eq!(options.decode::<Tensor>(&json).expect("encoded tensor should be decodable"), tensor);
    // NumPy does not support every element type.
    if let Ok(file) = tensor.to_npy() {
        let again = Tensor::from_npy(file.into()).expect("encoded tensor should be decodable");
        assert_eq!((again.check(), again.shape, again.data), (Ok(dtype), tensor.shape, tensor.data));
    }
}

/// Checks that a view of a tensor, if there is one, has the same elements as a copy.
fn check<T: frpc::tensor::Element>(tensor: &Tensor) {
    let (view, copy) = (tensor.view::<T>(), tensor.to_vec::<T>());
    assert_eq!(view.is_ok(), copy.is_ok());
    let (Ok(view), Ok(copy)) = (view, copy) else { return };
    assert_eq!(view.len(), copy.len());
    assert_eq!(view.len() * size_of::<T>(), tensor.data.len());
}
