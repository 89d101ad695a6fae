//! The server that the soak test kills.

use crate::proto::{Done, Job, Work, WorkServer};
use crate::{Transport, data_of};
use frpc::{Request, Response, ResponseStream, Server, Status, Streaming};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Bit of a log record that marks a request with wrong content.
pub(crate) const WRONG: u64 = 1 << 63;

/// Serves until the process is killed.
pub(crate) async fn serve(transport: Transport, address: &str, log: &Path) {
    let log = File::options().append(true).create(true).open(log).expect("log file should be created");
    let builder = Server::builder().io_backend(transport.io_backend());
    let service = WorkServer::new(Logging(Arc::new(log)));
    let served = if transport == Transport::Shm {
        let server =
            builder.shared_memory(frpc::shm::Listener::builder()).add_service(service).bind_unix(address).await;
        server.expect("address of the previous server should be free").serve().await
    } else {
        builder.add_service(service).bind(address).await.expect("server should bind to a free address").serve().await
    };
    served.expect("system should have free descriptors");
}

/// A service that logs each execution to a file, which survives the process.
#[derive(Clone)]
struct Logging(Arc<File>);

impl Logging {
    fn log(&self, record: u64) {
        (&*self.0).write_all(&record.to_le_bytes()).expect("write should succeed");
    }

    fn begin(&self, job: &Job) {
        self.log(job.id);
        self.check(job);
    }

    fn check(&self, job: &Job) {
        if job.data != data_of(job.id, job.part, job.data.len()) {
            self.log(job.id | WRONG);
        }
    }
}

fn done(id: u64, part: u32, length: usize) -> Done {
    Done { id, part, data: data_of(!id, part, length) }
}

impl Work for Logging {
    async fn once(&self, request: Request<Job>) -> Result<Response<Done>, Status> {
        let job = request.into_inner();
        self.begin(&job);
        if job.id.is_multiple_of(3) {
            tokio::task::yield_now().await;
        }
        Ok(Response::new(done(job.id, 0, job.reply_length as usize)))
    }

    async fn repeat(&self, request: Request<Job>) -> Result<Response<Done>, Status> {
        self.once(request).await
    }

    async fn download(&self, request: Request<Job>) -> Result<Response<ResponseStream<Done>>, Status> {
        let Job { id, replies, reply_length, .. } = *request.get_ref();
        self.begin(request.get_ref());
        let replies = (0..replies).map(move |part| Ok(done(id, part, reply_length as usize)));
        Ok(Response::new(ResponseStream::new(frpc::iter(replies))))
    }

    async fn upload(&self, request: Request<Streaming<Job>>) -> Result<Response<Done>, Status> {
        let mut jobs = request.into_inner();
        let (mut parts, mut first) = (0, None);
        while let Some(job) = jobs.message().await? {
            if first.is_none() {
                self.begin(&job);
            } else {
                self.check(&job);
            }
            let first = *first.get_or_insert(job.id);
            if (job.id, job.part) != (first, parts) {
                self.log(first | WRONG);
            }
            parts += 1;
        }
        Ok(Response::new(done(first.unwrap_or_default(), parts, 100)))
    }

    async fn talk(&self, request: Request<Streaming<Job>>) -> Result<Response<ResponseStream<Done>>, Status> {
        let mut jobs = request.into_inner();
        let (answers, stream) = ResponseStream::channel(4);
        let logging = self.clone();
        tokio::spawn(async move {
            let mut part = 0;
            loop {
                let answer = match jobs.message().await {
                    Ok(Some(job)) => {
                        if part == 0 {
                            logging.log(job.id);
                        }
                        logging.check(&job);
                        if job.part != part {
                            logging.log(job.id | WRONG);
                        }
                        part += 1;
                        Ok(done(job.id, job.part, job.reply_length as usize))
                    }
                    Ok(None) => return,
                    Err(status) => Err(status),
                };
                if answers.send(answer).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(stream))
    }
}
