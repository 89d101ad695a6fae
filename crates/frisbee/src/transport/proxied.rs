//! Parser of PROXY protocol headers, versions 1 and 2, in which a load balancer states the address of its client:
//! <https://www.haproxy.org/download/3.2/doc/proxy-protocol.txt>. The parser reads exactly the header, so that the
//! bytes after it stay unread.

use super::Transport;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Signature at the start of a PROXY protocol header of version 2.
const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";

/// Minimum length of a PROXY header in bytes: `PROXY UNKNOWN` with its line end. This many bytes determine the version
/// of the header.
const SHORTEST: usize = 15;

/// Maximum length in bytes of a PROXY header of version 1, as stated in section 2.1 of the specification.
const LINE_MAX: usize = 107;

/// Maximum length in bytes of a PROXY header of version 2 after its first 16 bytes. As in nginx, this is less than the
/// 64 KiB of the specification. Addresses take at most 216 bytes, and extensions the rest.
const REST_MAX: usize = 4096;

/// Type of the function [`read`]. The setter that enables the PROXY protocol stores a pointer to it, so that programs
/// without the protocol do not link it.
pub(crate) type ReadHeader =
    for<'a> fn(&'a mut Transport) -> Pin<Box<dyn Future<Output = io::Result<Option<SocketAddr>>> + Send + 'a>>;

/// Reads a PROXY header and returns the address of the client. Returns `None` for a health check of the proxy, and for
/// a client without an IP address.
///
/// # Errors
/// Returns the errors of the transport, or `InvalidData` if the header is missing or malformed.
///
/// # Cancel safety
/// The bytes read so far are lost.
pub(crate) async fn read(io: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<SocketAddr>> {
    let mut line = [0; LINE_MAX];
    let (beginning, _) = line.split_at_mut(SHORTEST);
    io.read_exact(beginning).await?;
    if beginning.starts_with(&SIGNATURE) {
        let (&mut [command, family, length], _) = beginning[SIGNATURE.len()..]
            .split_first_chunk_mut()
            .ok_or_else(|| malformed("its beginning is too short"))?;
        let length = usize::from(u16::from_be_bytes([length, io.read_u8().await?]));
        return read_binary(io, command, family, length).await;
    }
    if !beginning.starts_with(b"PROXY ") {
        return Err(malformed("the connection begins with other bytes"));
    }
    let mut end = SHORTEST;
    while !line[..end].ends_with(b"\r\n") {
        // At least two bytes of the line are missing, or one after a carriage return. Read no more than that, because
        // the header may end there.
        let least = if line[..end].ends_with(b"\r") { 1 } else { 2 };
        let next = line.get_mut(end..end + least).ok_or_else(|| malformed("its line is longer than 107 bytes"))?;
        io.read_exact(next).await?;
        end += least;
    }
    read_line(&line[..end - 2])
}

/// Parses the line of a PROXY header of version 1.
fn read_line(line: &[u8]) -> io::Result<Option<SocketAddr>> {
    let line = std::str::from_utf8(line).map_err(|_| malformed("its line is not text"))?;
    let mut words = line.split(' ').skip(1);
    let family = words.next();
    if family == Some("UNKNOWN") {
        return Ok(None);
    }
    let mut next = || words.next().ok_or_else(|| malformed("its line is incomplete"));
    let (source, target) = (next()?, next()?);
    let (port, target_port) = (next()?, next()?);
    if words.next().is_some() {
        return Err(malformed("its line has more than two addresses"));
    }
    let address = match family {
        Some("TCP4") => [source, target].map(|text| text.parse().map(IpAddr::V4).ok()),
        Some("TCP6") => [source, target].map(|text| text.parse().map(IpAddr::V6).ok()),
        _ => return Err(malformed("its protocol is none of TCP4, TCP6 and UNKNOWN")),
    };
    match (address, number(port), number(target_port)) {
        ([Some(address), Some(_)], Some(port), Some(_)) => Ok(Some(SocketAddr::new(address, port))),
        _ => Err(malformed("an address or a port in its line is malformed")),
    }
}

/// Parses a port number. The specification permits neither a sign nor leading zeros.
fn number(text: &str) -> Option<u16> {
    let is_plain = text == "0" || !text.starts_with(['0', '+']);
    text.parse().ok().filter(|_| is_plain)
}

/// Reads the rest of a PROXY header of version 2, after its first 16 bytes.
async fn read_binary(
    io: &mut (impl AsyncRead + Unpin),
    command: u8,
    family: u8,
    length: usize,
) -> io::Result<Option<SocketAddr>> {
    if length > REST_MAX {
        return Err(malformed("longer than 4096 bytes"));
    }
    // Length of an address, and position of the source port. The fields are source address, target address, source port
    // and target port.
    let (address, at) = match (command, family) {
        (0x20, _) | (0x21, 0x00 | 0x31) => (0, 0),
        (0x21, 0x11) => (4, 8),
        (0x21, 0x21) => (16, 32),
        (0x20..0x30, _) => return Err(malformed("its command or its family is unknown")),
        _ => return Err(malformed("its version is neither 1 nor 2")),
    };
    let needed = if at == 0 { 0 } else { at + 4 };
    let mut addresses = [0; 36];
    let addresses = addresses.get_mut(..needed).filter(|_| needed <= length);
    let addresses = addresses.ok_or_else(|| malformed("too short for its addresses"))?;
    io.read_exact(addresses).await?;
    // Skip the extensions that follow the addresses.
    let mut left = length - needed;
    let mut skipped = [0; 256];
    while left > 0 {
        let part = &mut skipped[..left.min(256)];
        io.read_exact(part).await?;
        left -= part.len();
    }
    let port = || Some(u16::from_be_bytes([*addresses.get(at)?, *addresses.get(at + 1)?]));
    let ip = match address {
        4 => addresses.first_chunk::<4>().map(|bytes| IpAddr::V4(Ipv4Addr::from(*bytes))),
        16 => addresses.first_chunk::<16>().map(|bytes| IpAddr::V6(Ipv6Addr::from(*bytes))),
        _ => None,
    };
    Ok(ip.zip(port()).map(|(ip, port)| SocketAddr::new(ip, port)))
}

fn malformed(text: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the header of the PROXY protocol is missing or malformed: {text}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CloseKind, Handlers, Server};
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use tokio::io::{AsyncWriteExt, ReadBuf};
    use tokio::net::TcpStream;

    /// A reader that returns one byte per read.
    struct OneByteReader<'a>(&'a [u8]);

    impl AsyncRead for OneByteReader<'_> {
        fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            if let Some((first, rest)) = self.0.split_first() {
                buffer.put_slice(&[*first]);
                self.0 = rest;
            }
            Poll::Ready(Ok(()))
        }
    }

    /// Returns the address in a PROXY header, and the bytes after the header. Asserts that the result is the same if
    /// each read returns a single byte.
    async fn stated(bytes: &[u8]) -> Result<(Option<SocketAddr>, Vec<u8>), String> {
        let mut whole = bytes;
        let mut trickle = OneByteReader(bytes);
        let read_whole = read(&mut whole).await.map_err(|error| error.to_string());
        let read_slowly = read(&mut trickle).await.map_err(|error| error.to_string());
        assert_eq!(read_whole, read_slowly, "{bytes:?}");
        read_whole.map(|address| {
            assert_eq!(whole, trickle.0);
            (address, whole.to_vec())
        })
    }

    fn binary(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
        let length = u16::try_from(rest.len()).unwrap().to_be_bytes();
        [&SIGNATURE[..], &[command, family], &length, rest].concat()
    }

    fn address(text: &str) -> Option<SocketAddr> {
        Some(text.parse().unwrap())
    }

    #[tokio::test]
    async fn proxy_header_is_read_without_following_bytes() {
        let v4 = [192, 0, 2, 1, 10, 0, 0, 1, 0x1F, 0x90, 0, 80];
        let v6 = [[0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]; 2].concat();
        let v6 = [&v6[..], &[0, 1, 0, 2]].concat();
        let long = format!("PROXY TCP6 {0} {0} 65535 65535\r\n", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
        let unknown = format!("PROXY UNKNOWN {}\r\n", "x".repeat(LINE_MAX - 16));
        assert_eq!(unknown.len(), LINE_MAX);
        for (header, expected) in [
            (b"PROXY TCP4 192.0.2.1 10.0.0.1 8080 80\r\n".to_vec(), address("192.0.2.1:8080")),
            (b"PROXY TCP4 1.1.1.1 1.1.1.1 0 0\r\n".to_vec(), address("1.1.1.1:0")),
            (b"PROXY TCP6 2001:db8::7 ::1 1 2\r\n".to_vec(), address("[2001:db8::7]:1")),
            (long.into_bytes(), address("[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535")),
            (b"PROXY UNKNOWN\r\n".to_vec(), None),
            (unknown.into_bytes(), None),
            (binary(0x21, 0x11, &v4), address("192.0.2.1:8080")),
            (binary(0x21, 0x11, &[&v4[..], &[3; REST_MAX - 12]].concat()), address("192.0.2.1:8080")),
            (binary(0x21, 0x21, &v6), address("[2001:db8::7]:1")),
            (binary(0x21, 0x31, &[0; 216]), None),
            (binary(0x21, 0, b""), None),
            (binary(0x20, 0, b""), None),
            (binary(0x20, 0x11, &v4), None),
        ] {
            let behind = [&header[..], b"\x00\x0f behind"].concat();
            assert_eq!(stated(&behind).await, Ok((expected, b"\x00\x0f behind".to_vec())), "{header:?}");
        }
    }

    #[tokio::test]
    async fn invalid_proxy_header_is_rejected() {
        let long = [b"PROXY UNKNOWN ".to_vec(), vec![b'x'; LINE_MAX]].concat();
        for header in [
            &b"\x00\x0f\0\x01\0\x0a\0\0\0\x05hello world"[..],
            b"GET / HTTP/1.1\r\nhost: a\r\n\r\n",
            b"PROXY  TCP4 1.1.1.1 1.1.1.1 1 1\r\n",
            b"PROXY TCP4 1.1.1.1 1.1.1.1 1\r\n",
            b"PROXY TCP4 1.1.1.1 1.1.1.1 1 1 1\r\n",
            b"PROXY TCP4 1.1.1.1 1.1.1.1 01 1\r\n",
            b"PROXY TCP4 1.1.1.1 1.1.1.1 +1 1\r\n",
            b"PROXY TCP4 1.1.1.1 1.1.1.1 1 65536\r\n",
            b"PROXY TCP4 ::1 ::1 1 1\r\n",
            b"PROXY TCP6 1.1.1.1 1.1.1.1 1 1\r\n",
            b"PROXY TCP4 01.1.1.1 1.1.1.1 1 1\r\n",
            b"PROXY UDP4 1.1.1.1 1.1.1.1 1 1\r\n",
            b"PROXY TCP4 1.1.1.1 1.1.1.1 1 1\n\n\r\n",
            b"PROXY UNKNOWN\r",
            b"proxy UNKNOWN\r\n",
            &long,
            &binary(0x11, 0x11, &[0; 12]),
            &binary(0x22, 0x11, &[0; 12]),
            &binary(0x21, 0x12, &[0; 12]),
            &binary(0x21, 0x11, &[0; 11]),
            &binary(0x21, 0x21, &[0; 35]),
            &binary(0x21, 0x11, &[0; REST_MAX + 1]),
            &binary(0x21, 0x11, &[0; 12])[..20],
            &SIGNATURE,
            b"",
        ] {
            assert!(stated(header).await.is_err(), "{header:?}");
        }
    }

    /// Regression test: probes that sent no header counted as errors of the peer and were logged as warnings.
    #[tokio::test]
    async fn probe_without_header_is_closed_by_peer() {
        let server = Server::builder().proxy_protocol().bind("127.0.0.1:0", Handlers::new()).await.unwrap();
        let (address, stats) = (server.local_addr(), server.stats());
        tokio::spawn(server.serve());
        for sent in [&b""[..], b"PROXY TCP4 192.0"] {
            let mut probe = TcpStream::connect(address).await.unwrap();
            probe.write_all(sent).await.unwrap();
            probe.shutdown().await.unwrap();
            assert_eq!(probe.read_to_end(&mut Vec::new()).await.unwrap(), 0);
        }
        while stats.opened() < 2 || stats.open() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!([stats.opened(), stats.closed_by(CloseKind::ClosedByPeer)], [2, 2]);
    }
}
