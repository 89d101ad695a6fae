//! Tests the same service in all builds. Each build has its own types and its own trait.

/// Defines a service with calls of every kind, for the types of one build.
macro_rules! first {
    ($service:ident, $module:path) => {
        const _: () = {
            use frpc::{Request, Response, ResponseStream, Status, Streaming};
            use $module as module;

            impl module::First for $service {
                async fn talk(
                    &self,
                    request: Request<Streaming<module::Word>>,
                ) -> Result<Response<ResponseStream<module::Word>>, Status> {
                    let mut words = request.into_inner();
                    let (sender, replies) = ResponseStream::channel(1);
                    tokio::spawn(async move {
                        while let Some(word) = words.message().await? {
                            let failed = word.word.is_empty();
                            sender.send(if failed { Err(Status::not_found("no word")) } else { Ok(word) }).await?;
                        }
                        Ok::<(), Status>(())
                    });
                    Ok(Response::new(replies))
                }

                async fn feed(
                    &self,
                    request: Request<Streaming<module::Word>>,
                ) -> Result<Response<module::Count>, Status> {
                    let (mut words, mut count) = (request.into_inner(), 0);
                    while let Some(word) = words.message().await? {
                        count += word.word.len() as u64;
                    }
                    Ok(Response::new(module::Count { count }))
                }

                async fn watch(
                    &self,
                    request: Request<module::Count>,
                ) -> Result<Response<ResponseStream<module::Word>>, Status> {
                    let words =
                        (0..request.get_ref().count).map(|count| Ok(module::Word { word: count.to_string().into() }));
                    Ok(Response::new(ResponseStream::new(frpc::iter(words.collect::<Vec<_>>()))))
                }

                async fn echo(&self, request: Request<module::Word>) -> Result<Response<module::Word>, Status> {
                    match request.into_inner() {
                        word if word.word.is_empty() => Err(Status::not_found("no word")),
                        word => Ok(Response::new(word)),
                    }
                }
            }
        };
    };
}
