//! The program that protobuf's conformance suite tests. `.ci/conformance` fetches the suite and runs it.
//!
//! Standard input contains requests, each preceded by its length in four bytes, little endian. The answers are written
//! to standard output in the same encoding. A request contains a message as protobuf or JSON and selects the format of
//! the answer. Both formats are handled as in a server: protobuf in a body, and JSON by `frpc::json`.

#[cfg(suite)]
#[allow(missing_docs)]
mod all {
    include!(concat!(env!("OUT_DIR"), "/all.rs"));
}

#[cfg(suite)]
mod testee {
    use std::io::{self, Read as _, Write as _};

    use frpc::json::{Json, Options, Types};
    use frpc::polyglot::{self, Decoder, Encoder, Root};
    use frpc::prost::Message as _;

    use crate::all::conformance::conformance_request::Payload;
    use crate::all::conformance::conformance_response::Result as Answer;
    use crate::all::conformance::{ConformanceRequest, ConformanceResponse, TestCategory, WireFormat};
    use crate::all::protobuf_test_messages::proto3::TestAllTypesProto3;

    /// Number of test cases handled per format.
    #[derive(Default)]
    struct Counts {
        json: u32,
        binary: u32,
        skipped: u32,
    }

    impl Counts {
        fn add(&mut self, request: &ConformanceRequest, answer: &Answer) {
            let is_json = matches!(request.payload, Some(Payload::JsonPayload(_)))
                || request.requested_output_format() == WireFormat::Json;
            let count = match answer {
                Answer::Skipped(_) => &mut self.skipped,
                _ if is_json => &mut self.json,
                _ => &mut self.binary,
            };
            *count += 1;
        }
    }

    /// Reads requests of protobuf's conformance runner from standard input and writes the responses, until standard
    /// input ends.
    pub(crate) fn run() -> io::Result<()> {
        let (mut stdin, mut stdout) = (io::stdin().lock(), io::stdout().lock());
        let types = Types::well_known().with::<TestAllTypesProto3>();
        let mut counts = Counts::default();
        loop {
            let mut length = [0; 4];
            match stdin.read_exact(&mut length) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    let Counts { json, binary, skipped } = counts;
                    eprintln!("{json} cases with JSON, {binary} with protobuf alone, {skipped} skipped");
                    return Ok(());
                }
                read => read?,
            }
            let mut request = vec![0; u32::from_le_bytes(length) as usize];
            stdin.read_exact(&mut request)?;
            let result = match ConformanceRequest::decode(&request[..]) {
                Ok(request) => {
                    let answer = answer(&request, &types);
                    counts.add(&request, &answer);
                    answer
                }
                Err(error) => Answer::RuntimeError(error.to_string()),
            };
            let answer = ConformanceResponse { result: Some(result) }.encode_to_vec();
            let length = u32::try_from(answer.len()).map_err(io::Error::other)?;
            stdout.write_all(&length.to_le_bytes())?;
            stdout.write_all(&answer)?;
            stdout.flush()?;
        }
    }

    fn answer(request: &ConformanceRequest, types: &Types) -> Answer {
        // First, the runner requests the list of expected failures. This program returns an empty list.
        match &request.message_type[..] {
            "conformance.FailureSet" => return Answer::ProtobufPayload(Vec::new()),
            "protobuf_test_messages.proto3.TestAllTypesProto3" => {}
            other => return Answer::Skipped(format!("{other} is not proto3")),
        }
        let ignore = request.test_category() == TestCategory::JsonIgnoreUnknownParsingTest;
        let options = Options::new().types(types).ignore_unknown(ignore);
        let message: Result<TestAllTypesProto3, String> = match &request.payload {
            Some(Payload::ProtobufPayload(bytes)) => from_protobuf(bytes),
            Some(Payload::JsonPayload(json)) => options.decode(json.as_bytes()).map_err(|error| error.to_string()),
            _ => return Answer::Skipped("the form of the input is unknown".to_owned()),
        };
        let message = match message {
            Ok(message) => message,
            Err(error) => return Answer::ParseError(error),
        };
        match request.requested_output_format() {
            WireFormat::Protobuf => to_protobuf(&message).map_or_else(Answer::SerializeError, Answer::ProtobufPayload),
            WireFormat::Json => to_json(&message, &options).map_or_else(Answer::SerializeError, Answer::JsonPayload),
            _ => Answer::Skipped("the form of the output is unknown".to_owned()),
        }
    }

    /// Decodes a message from a body with the protobuf codec.
    fn from_protobuf<M: polyglot::Message>(bytes: &[u8]) -> Result<M, String> {
        let mut body = Vec::new();
        Encoder::new(&mut body).bytes(bytes).map_err(|error| error.to_string())?;
        match polyglot::decode_root(&mut Decoder::new(&body)) {
            Ok(Root::Message(message)) => Ok(message),
            Ok(Root::Error(text)) => Err(text),
            Err(error) => Err(error.to_string()),
        }
    }

    fn to_protobuf<M: polyglot::Message>(message: &M) -> Result<Vec<u8>, String> {
        let mut body = Vec::new();
        polyglot::encode_root(message, &mut Encoder::new(&mut body)).map_err(|error| error.to_string())?;
        Decoder::new(&body).bytes().map(Into::into).map_err(|error| error.to_string())
    }

    fn to_json<M: Json>(message: &M, options: &Options<'_>) -> Result<String, String> {
        let mut json = Vec::new();
        options.encode(message, &mut json).map_err(|error| error.to_string())?;
        String::from_utf8(json).map_err(|error| error.to_string())
    }
}

#[cfg(suite)]
fn main() -> std::io::Result<()> {
    testee::run()
}

#[cfg(not(suite))]
fn main() {
    eprintln!("protobuf's conformance suite was not there when this was built; .ci/conformance fetches it");
    std::process::exit(2);
}
