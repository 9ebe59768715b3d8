//! Buffers that are checked out of a pool and come back. These run under miri too.

use std::collections::BTreeSet;

use directio::{BufferPool, PooledBuffer, SharedPool};

fn pool(count: usize) -> SharedPool {
    BufferPool::new(count, 1000, 512)
        .expect("a small pool")
        .into_shared()
}

#[test]
fn each_buffer_is_out_once_at_a_time_and_comes_back_when_dropped() {
    let pool = pool(3);
    assert_eq!((pool.len(), pool.available()), (3, 3));
    let out: Vec<PooledBuffer> = std::iter::from_fn(|| pool.check_out()).collect();
    let indices: BTreeSet<usize> = out.iter().map(PooledBuffer::index).collect();
    assert_eq!(indices, BTreeSet::from([0, 1, 2]));
    assert_eq!(pool.available(), 0);
    assert!(pool.check_out().is_none());
    for buffer in &out {
        assert_eq!(buffer.len(), pool.buffer_size());
        assert_eq!(buffer.as_ptr().addr() % 512, 0);
    }
    drop(out);
    assert_eq!(pool.available(), 3);
}

#[test]
fn a_buffer_keeps_what_its_last_user_left() {
    let pool = pool(1);
    let mut buffer = pool.check_out().expect("it is in");
    assert!(buffer.iter().all(|&byte| byte == 0));
    buffer.fill(7);
    drop(buffer);
    let buffer = pool.check_out().expect("it came back");
    assert!(buffer.iter().all(|&byte| byte == 7));
}

#[test]
fn buffers_are_filled_side_by_side_on_many_threads() {
    let (threads, rounds) = if cfg!(miri) { (3, 4) } else { (8, 500) };
    let pool = pool(2);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let pool = pool.clone();
            scope.spawn(move || {
                for _ in 0..rounds {
                    let mut buffer = pool.wait_for_one();
                    buffer.fill(thread);
                    std::thread::yield_now();
                    assert!(buffer.iter().all(|&byte| byte == thread));
                }
            });
        }
    });
    assert_eq!(pool.available(), 2);
}

#[test]
fn waiting_gets_the_buffer_that_another_thread_gives_back() {
    let pool = pool(1);
    let mut buffer = pool.check_out().expect("it is in");
    buffer[0] = 9;
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| pool.wait_for_one()[0]);
        // Whether the waiter already waits or comes later, it must get it.
        drop(buffer);
        assert_eq!(waiter.join().expect("it does not panic"), 9);
    });
}

#[test]
fn a_buffer_outlives_its_pool() {
    let pool = pool(2);
    let (start, length) = pool.region();
    let mut buffer = pool.check_out().expect("it is in");
    drop(pool);
    buffer.fill(3);
    let offset = buffer.as_ptr().addr() - start.addr();
    assert!(offset + buffer.len() <= length);
    assert!(buffer.iter().all(|&byte| byte == 3));
}
