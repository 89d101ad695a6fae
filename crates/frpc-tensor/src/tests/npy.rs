//! Tests of `.npy` files: valid ones that the test writes, and hostile ones. Files written by NumPy are tested in
//! `tests/interop`.

use bytes::Bytes;
use frpc_tensor::{Tensor, TensorError};
use proptest::prelude::*;

/// Returns a `.npy` file in this version of the format.
fn file(version: u8, header: &str, data: &[u8]) -> Bytes {
    let mut file = b"\x93NUMPY".to_vec();
    file.extend([version, 0]);
    match version {
        1 => file.extend(u16::try_from(header.len()).expect("value should fit u16").to_le_bytes()),
        _ => file.extend(u32::try_from(header.len()).expect("value should fit u32").to_le_bytes()),
    }
    file.extend_from_slice(header.as_bytes());
    file.extend_from_slice(data);
    file.into()
}

fn refused(header: &str, data: &[u8]) -> TensorError {
    Tensor::from_npy(file(1, header, data)).expect_err(header)
}

#[test]
fn npy_header_variants_are_decoded() {
    let data = [1, 0, 2, 0, 3, 0];
    for header in [
        "{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }          \n",
        "{\"descr\":\"<i2\",\"fortran_order\":False,\"shape\":(3,)}",
        " { 'shape' : ( 3L , ) , 'fortran_order' : True , 'descr' : '<i2' } \n",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (3), }",
    ] {
        for version in 1..=3 {
            let file = file(version, header, &data);
            let tensor = Tensor::from_npy(file.clone()).expect(header);
            assert_eq!((&*tensor.dtype, &tensor.shape[..]), ("<i2", &[3][..]));
            assert_eq!(*tensor.view::<i16>().expect("value should be valid"), [1, 2, 3]);
            assert!(file.as_ptr_range().contains(&tensor.data.as_ptr()), "data should be a slice of the file");
        }
    }
}

#[test]
fn fortran_array_is_reordered_to_c_order() {
    let header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2), }";
    // The element at [i, j, k] has the digits ijk, and i varies fastest.
    let data = [0, 100, 10, 110, 20, 120, 1, 101, 11, 111, 21, 121];
    let tensor = Tensor::from_npy(file(1, header, &data)).expect("value should be valid");
    assert_eq!(*tensor.data, [0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121]);
    assert_eq!(tensor.shape, [2, 3, 2]);
    let header = "{'descr': '>u2', 'fortran_order': True, 'shape': (2, 2), }";
    let tensor = Tensor::from_npy(file(1, header, &[0, 1, 0, 2, 0, 3, 0, 4])).expect("value should be valid");
    assert_eq!(*tensor.view::<u16>().expect("value should be valid"), [1, 3, 2, 4]);
}

#[test]
fn unsupported_npy_types_are_rejected_by_name() {
    let of = |descriptor: &str| {
        refused(&format!("{{'descr': {descriptor}, 'fortran_order': False, 'shape': (1,)}}"), &[0; 8])
    };
    assert!(of("'|O'").to_string().contains("objects of Python"));
    assert!(of("'O'").to_string().contains("objects of Python"));
    assert!(of("[('a', '<i4'), ('b', '<i4')]").to_string().contains("structures"));
    assert!(of("('<i4', (2,))").to_string().contains("arrays"));
    assert_eq!(of("'<U2'"), TensorError::Dtype("<U2".to_owned()));
    assert_eq!(of("'<M8[ns]'"), TensorError::Dtype("<M8[ns]".to_owned()));
}

#[test]
fn npy_shape_must_match_data_without_overflow() {
    let of = |shape: &str, data| refused(&format!("{{'descr': '<f8', 'fortran_order': True, 'shape': {shape}}}"), data);
    let length = |expected, found| TensorError::Length { expected, found };
    assert_eq!(of("(2,)", &[0; 15][..]), length(Some(16), 15));
    assert_eq!(of("(2,)", &[0; 17]), length(Some(16), 17));
    assert_eq!(of("(4294967295, 4294967295)", &[0; 8]), length(None, 8));
    assert_eq!(of("(2305843009213693952,)", &[0; 8]), TensorError::Shape);
    assert_eq!(of(&format!("({})", "1,".repeat(65)), &[0; 8]), TensorError::Shape);
}

#[test]
fn malformed_npy_header_is_rejected() {
    let expected = TensorError::Npy("its header is not understood");
    for header in [
        "",
        "{}",
        "{'descr': '<f8', 'fortran_order': False}",
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (), 'more': 1}",
        "{'descr': '<f8', 'fortran_order': 0, 'shape': ()}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1 + 1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': [1]}",
        "{'descr': '\\x3cf8', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': ()} and more",
        "{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': ()}",
    ] {
        assert_eq!(refused(header, &[0; 8]), expected, "{header}");
    }
    let is_refused = |file: &[u8]| matches!(Tensor::from_npy(Bytes::copy_from_slice(file)), Err(TensorError::Npy(_)));
    assert!(is_refused(b""));
    assert!(is_refused(b"\x80\x04\x95"));
    assert!(is_refused(b"\x93NUMPY\x04\x00\x00\x00"));
    assert!(is_refused(b"\x93NUMPY\x01\x00\xff\xff{"));
    assert!(is_refused(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{"));
    let whole = file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': ()}", &[0; 8]);
    for length in 0..whole.len() {
        Tensor::from_npy(whole.slice(..length)).expect_err("truncated file should be rejected");
    }
}

#[test]
fn written_npy_data_is_aligned_to_64() {
    for shape in [&[][..], &[1], &[1, 1], &[1; 64]] {
        let tensor = Tensor::from_slice(shape, &[7.5_f32]).expect("elements should match the shape");
        let file = tensor.to_npy().expect("value should be valid");
        assert_eq!(file.len() % 64, 4);
        let read = Tensor::from_npy(file.into()).expect("written file should be readable");
        assert_eq!((&*read.dtype, &read.shape[..], &read.data), ("<f4", shape, &tensor.data));
    }
    let big = Tensor { dtype: ">c8".to_owned(), shape: vec![], data: Bytes::from_static(b"12345678") };
    assert_eq!(Tensor::from_npy(big.to_npy().expect("value should be valid").into()), Ok(big));
    let brain = Tensor { dtype: "bfloat16".to_owned(), shape: vec![], data: Bytes::from_static(b"12") };
    assert_eq!(brain.to_npy(), Err(TensorError::Npy("NumPy has no elements of this type")));
}

proptest! {
    #[test]
    fn no_file_makes_reader_panic(version in 1_u8..4, header in "[{}\\[\\]()',:a-zA-Z0-9<>|?= ]{0,80}", data: Vec<u8>) {
        let _ = Tensor::from_npy(file(version, &header, &data));
    }

    #[test]
    fn tensor_survives_as_file(shape in prop::collection::vec(0_u32..4, 0..5), seed: u8) {
        let count = shape.iter().product::<u32>() as usize;
        let elements: Vec<u16> = (0..count).map(|at| u16::try_from(at).unwrap_or_default() ^ u16::from(seed)).collect();
        let tensor = Tensor::from_vec(shape.clone(), elements.clone()).expect("shape should match the elements");
        let read = Tensor::from_npy(tensor.to_npy().expect("value should be valid").into()).expect("encoded npy file should be decodable");
        prop_assert_eq!(&read.shape, &shape);
        prop_assert_eq!(read.to_vec::<u16>().expect("value should be valid"), elements);
    }
}
