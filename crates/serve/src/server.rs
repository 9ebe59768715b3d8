//! Connections, from their beginning to their end.

use crate::Site;
use crate::answer::{Answer, Content, HEADERS};
use crate::body::Body;
use crate::events::tell;
use crate::gate::Gate;
use crate::limits::Limits;
use crate::listen::{ListenError, Sockets, listen};
use crate::secret::Secret;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

/// What the other side sent with the id of the last event that it saw (HTML Living Standard, 9.2.4).
const LAST_EVENT_ID: &str = "last-event-id";

/// After a connection could not be taken, as where no descriptor is left.
const BREATH: Duration = Duration::from_millis(100);

/// A server that listens; it answers from [`run`](Self::run) on.
#[derive(Debug)]
pub struct Server {
    sockets: Sockets,
    gate: Gate,
    limits: Limits,
    stop: Arc<watch::Sender<bool>>,
}

/// Ends a server, from any thread.
#[derive(Debug, Clone)]
pub struct Stopper(Arc<watch::Sender<bool>>);

impl Stopper {
    /// Ends it: no further connection is taken, and answers under way have the grace of its
    /// [`Limits`] yet.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Server {
    /// Listens on this port of the loopback addresses, or on a free one.
    ///
    /// # Errors
    /// When the port is taken, or none can be had.
    pub fn listen(port: Option<u16>, limits: Limits) -> Result<Self, ListenError> {
        let sockets = listen(port)?;
        let secret = Secret::draw().map_err(|source| ListenError::Other { source })?;
        Ok(Self {
            gate: Gate::new(sockets.port, secret),
            sockets,
            limits,
            stop: Arc::new(watch::Sender::new(false)),
        })
    }

    /// Where its first page is: `http://127.0.0.1:41234/…/`.
    pub fn address(&self) -> String {
        format!(
            "http://127.0.0.1:{}{}/",
            self.sockets.port,
            self.gate.prefix()
        )
    }

    /// The addresses that it listens on.
    pub fn listens_on(&self) -> Vec<SocketAddr> {
        let sockets = self.sockets.sockets.iter();
        sockets
            .filter_map(|socket| socket.local_addr().ok())
            .collect()
    }

    /// What ends it.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.stop))
    }

    /// Answers until it is [stopped](Stopper::stop). Pages that are being made then are not
    /// waited for.
    ///
    /// # Errors
    /// When the system refuses what a server needs: threads, an epoll instance.
    pub fn run(self, site: impl Site) -> io::Result<()> {
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(self.limits.pages)
            .thread_name("pages")
            .build()?;
        let ended = runtime.block_on(self.serve(Arc::new(site)));
        runtime.shutdown_background();
        ended
    }

    async fn serve(self, site: Arc<dyn Site>) -> io::Result<()> {
        let slots = Arc::new(Semaphore::new(self.limits.connections as usize));
        let mut stop = self.stop.subscribe();
        let serving = Arc::new(Serving {
            gate: self.gate,
            limits: self.limits,
            site,
            stop: stop.clone(),
        });
        let mut accepting = Vec::new();
        for socket in self.sockets.sockets {
            socket.set_nonblocking(true)?;
            let socket = TcpListener::from_std(socket)?;
            let accept = Arc::clone(&serving).accept(socket, Arc::clone(&slots));
            accepting.push(tokio::spawn(accept));
        }
        // The sender is in this value.
        let _ = stop.wait_for(|stop| *stop).await;
        for task in accepting {
            task.abort();
        }
        // Every connection has a slot until it ends, and at its grace ends itself; what is left
        // ends with the runtime.
        let all_ended = slots.acquire_many(serving.limits.connections);
        let _ = timeout(serving.limits.grace * 2, all_ended).await;
        Ok(())
    }
}

/// What all connections share.
struct Serving {
    gate: Gate,
    limits: Limits,
    site: Arc<dyn Site>,
    stop: watch::Receiver<bool>,
}

impl Serving {
    async fn accept(self: Arc<Self>, socket: TcpListener, slots: Arc<Semaphore>) {
        loop {
            let Ok((stream, _)) = socket.accept().await else {
                // One that was taken back, or too many open files: the next may do.
                sleep(BREATH).await;
                continue;
            };
            // A slot is taken after it, so that a socket nobody connects to holds none.
            // Nobody closes the semaphore.
            let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
                return;
            };
            tokio::spawn(Arc::clone(&self).connection(stream, slot));
        }
    }

    /// Answers one request after the other, until the other side ends, or its time is over.
    async fn connection(self: Arc<Self>, stream: TcpStream, slot: OwnedSemaphorePermit) {
        let limits = self.limits;
        let (end, over) = watch::channel(false);
        let answer = service_fn(|request| Arc::clone(&self).answer(request, over.clone()));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.header)
            .max_buf_size(limits.header_bytes)
            .max_headers(limits.header_lines)
            .serve_connection(TokioIo::new(stream), answer);
        let mut connection = pin!(connection);
        let mut stop = self.stop.clone();
        let mut aged = pin!(timeout(limits.connection, stop.wait_for(|stop| *stop)));
        let has_ended = poll_fn(|context| {
            // Whatever went wrong between the two ends is told to nobody: either the other
            // side has its answer, 400 for one, or it is not there.
            if connection.as_mut().poll(context).is_ready() {
                return Poll::Ready(true);
            }
            aged.as_mut().poll(context).map(|_| false)
        });
        if !has_ended.await {
            end.send_replace(true);
            connection.as_mut().graceful_shutdown();
            let _ = timeout(limits.grace, connection).await;
        }
        drop(slot);
    }

    async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        over: watch::Receiver<bool>,
    ) -> Result<Response<Body>, Infallible> {
        let (method, headers) = (request.method(), request.headers());
        let answer = match self.gate.pass(method, request.uri(), headers) {
            Err(refused) => refused.into(),
            Ok(asked) => {
                let site = Arc::clone(&self.site);
                // One that panicked said so where the server runs.
                let made = spawn_blocking(move || site.answer(&asked)).await;
                made.unwrap_or_else(|_| Answer::broken())
            }
        };
        let body = match answer.content {
            Content::Whole(bytes) => Body::whole(bytes),
            Content::Events(_) if method == Method::HEAD => Body::whole(Bytes::new()),
            Content::Events(draw) => {
                let seen = headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok());
                let (to, events) = mpsc::channel(1);
                tokio::spawn(tell(draw, seen.map(str::to_owned), to, over, self.limits));
                Body::Events(events)
            }
        };
        let mut response = Response::new(body);
        *response.status_mut() = answer.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(answer.media));
        for (name, value) in HEADERS {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if answer.status == StatusCode::METHOD_NOT_ALLOWED {
            headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        Ok(response)
    }
}
