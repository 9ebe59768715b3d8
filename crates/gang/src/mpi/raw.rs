//! The calls of an MPI library that was loaded at run time: all `unsafe` code of this crate.
//!
//! What is outside of here can neither free a buffer that MPI works on nor call MPI from another
//! thread: a [`Request`] owns its buffer until MPI has said that it is done, and leaks it
//! otherwise, and [`Raw`] stays on its thread.

#![allow(unsafe_code)]

use super::abi::{Abi, Handles, STATUS_INTS};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr;

/// A library that was loaded. It stays so: MPI libraries start threads and cannot be unloaded.
#[derive(Clone, Copy)]
pub(super) struct Library(*mut c_void);

/// What a handle is in C.
pub(super) trait Handle: Copy + 'static {
    /// Of what a table has; `None` where it has another kind.
    fn handles(library: Library, abi: &Abi) -> Option<Predefined<Self>>;
    /// A place for one to be written to.
    fn empty() -> Self;
}

/// The handles that are used.
#[derive(Clone, Copy)]
pub(super) struct Predefined<H> {
    world: H,
    byte: H,
    errors_return: H,
}

#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Status([c_int; STATUS_INTS]);

/// What a call answers: an error where it is not 0 (`MPI_SUCCESS`).
type Code = c_int;

type InitThread =
    unsafe extern "C" fn(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int) -> Code;
type Finalize = unsafe extern "C" fn() -> Code;
type NumberOf<H> = unsafe extern "C" fn(H, *mut c_int) -> Code;
type SetErrhandler<H> = unsafe extern "C" fn(H, H) -> Code;
type Isend<H> = unsafe extern "C" fn(*const c_void, c_int, H, c_int, c_int, H, *mut H) -> Code;
type Irecv<H> = unsafe extern "C" fn(*mut c_void, c_int, H, c_int, c_int, H, *mut H) -> Code;
type Iprobe<H> = unsafe extern "C" fn(c_int, c_int, H, *mut c_int, *mut Status) -> Code;
type Test<H> = unsafe extern "C" fn(*mut H, *mut c_int, *mut Status) -> Code;
type GetCount<H> = unsafe extern "C" fn(*const Status, H, *mut c_int) -> Code;
type ErrorString = unsafe extern "C" fn(c_int, *mut c_char, *mut c_int) -> Code;

struct Functions<H> {
    init_thread: InitThread,
    finalize: Finalize,
    comm_rank: NumberOf<H>,
    comm_size: NumberOf<H>,
    comm_set_errhandler: SetErrhandler<H>,
    type_size: NumberOf<H>,
    isend: Isend<H>,
    irecv: Irecv<H>,
    iprobe: Iprobe<H>,
    test: Test<H>,
    get_count: GetCount<H>,
    error_string: ErrorString,
}

/// A library that was initialised, on the thread that did so.
pub(super) struct Raw<H> {
    functions: Functions<H>,
    handles: Predefined<H>,
    status_source: usize,
    /// `MPI_THREAD_FUNNELED`: no other thread may call.
    _here: PhantomData<*mut ()>,
}

/// A transfer that MPI works on, and its buffer.
pub(super) struct Request<H> {
    handle: H,
    buffer: ManuallyDrop<Box<[u8]>>,
}

/// A message that can be received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Probed {
    pub(super) from: usize,
    pub(super) bytes: usize,
}

/// Which call failed, and the library's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallError {
    pub(super) call: &'static str,
    pub(super) why: String,
}

/// The tag of all frames: "df".
const TAG: c_int = 0x6466;

/// Longest text of any of the libraries (`MPI_MAX_LIBRARY_VERSION_STRING` is 8192 in MPICH and in
/// the standard's ABI, `MPI_MAX_ERROR_STRING` 512), and then some.
const TEXT_BYTES: usize = 16_384;

impl Library {
    /// Loads a library by its path, or by a name that the system looks for.
    pub(super) fn open(name: &CStr) -> Result<Self, String> {
        // Global: plug-ins of Open MPI look for the library's symbols.
        // SAFETY: the name ends with a zero. Loading runs the library's constructors, which is
        // what loading it is for.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        if handle.is_null() {
            return Err(dl_error());
        }
        Ok(Self(handle))
    }

    fn symbol(self, name: &str) -> Result<*mut c_void, CallError> {
        let c_name = CString::new(name).expect("names have no zero");
        // SAFETY: the handle is of a library that is never closed, and the name ends with a zero.
        let found = unsafe { libc::dlsym(self.0, c_name.as_ptr()) };
        if found.is_null() {
            let why = format!("the library has no {name}");
            return Err(CallError { call: "dlsym", why });
        }
        Ok(found)
    }

    /// What the library says that it is. It may be asked before everything else (MPI 3.1, 8.1.1).
    pub(super) fn says(self) -> Result<String, CallError> {
        type GetLibraryVersion = unsafe extern "C" fn(*mut c_char, *mut c_int) -> Code;
        let symbol = self.symbol("MPI_Get_library_version")?;
        // SAFETY: this is the function's type in every version of the standard that has it.
        let call = unsafe { std::mem::transmute::<*mut c_void, GetLibraryVersion>(symbol) };
        text_of("MPI_Get_library_version", |text, length| {
            // SAFETY: the text has room for the longest version of any library that is known.
            unsafe { call(text, length) }
        })
    }

    /// Whether this is a library with the ABI of the standard: one with another ABI has the
    /// function, too, and answers -1 (MPI 5.0, 20.2).
    pub(super) fn has_standard_abi(self) -> bool {
        type AbiGetVersion = unsafe extern "C" fn(*mut c_int, *mut c_int) -> Code;
        let Ok(symbol) = self.symbol("MPI_Abi_get_version") else {
            return false;
        };
        // SAFETY: this is the function's type in the standard that has it.
        let call = unsafe { std::mem::transmute::<*mut c_void, AbiGetVersion>(symbol) };
        let (mut major, mut minor) = (-1, -1);
        // SAFETY: both numbers are there to be written to; it may be asked before everything else.
        let code = unsafe { call(&raw mut major, &raw mut minor) };
        code == 0 && major >= 1
    }
}

fn dl_error() -> String {
    // SAFETY: dlerror gives null or a text that lives until this thread's next call of its family.
    let text = unsafe {
        let text = libc::dlerror();
        (!text.is_null()).then(|| CStr::from_ptr(text))
    };
    text.map_or_else(
        || "the system does not say why".to_owned(),
        |text| text.to_string_lossy().into_owned(),
    )
}

fn text_of(
    call: &'static str,
    get: impl FnOnce(*mut c_char, *mut c_int) -> Code,
) -> Result<String, CallError> {
    let mut text = vec![0_u8; TEXT_BYTES];
    let mut length = 0;
    let code = get(text.as_mut_ptr().cast(), &raw mut length);
    if code != 0 {
        let why = format!("error {code}");
        return Err(CallError { call, why });
    }
    text.truncate(usize::try_from(length).unwrap_or(0));
    Ok(String::from_utf8_lossy(&text).into_owned())
}

impl Handle for *mut c_void {
    fn handles(library: Library, abi: &Abi) -> Option<Predefined<Self>> {
        match abi.handles {
            Handles::Symbols {
                world,
                byte,
                errors_return,
            } => Some(Predefined {
                world: library.symbol(world).ok()?,
                byte: library.symbol(byte).ok()?,
                errors_return: library.symbol(errors_return).ok()?,
            }),
            Handles::Pointers {
                world,
                byte,
                errors_return,
            } => Some(Predefined {
                world: ptr::without_provenance_mut(world),
                byte: ptr::without_provenance_mut(byte),
                errors_return: ptr::without_provenance_mut(errors_return),
            }),
            Handles::Ints { .. } => None,
        }
    }

    fn empty() -> Self {
        ptr::null_mut()
    }
}

impl Handle for c_int {
    fn handles(_: Library, abi: &Abi) -> Option<Predefined<Self>> {
        match abi.handles {
            Handles::Ints {
                world,
                byte,
                errors_return,
            } => Some(Predefined {
                world,
                byte,
                errors_return,
            }),
            Handles::Symbols { .. } | Handles::Pointers { .. } => None,
        }
    }

    fn empty() -> Self {
        0
    }
}

impl<H: Handle> Functions<H> {
    fn load(library: Library) -> Result<Self, CallError> {
        macro_rules! function {
            ($name:literal, $function:ty) => {{
                let symbol = library.symbol($name)?;
                // SAFETY: the function has the field's type in the standard, once `H` is what
                // this library's family has for handles.
                unsafe { std::mem::transmute::<*mut c_void, $function>(symbol) }
            }};
        }
        Ok(Self {
            init_thread: function!("MPI_Init_thread", InitThread),
            finalize: function!("MPI_Finalize", Finalize),
            comm_rank: function!("MPI_Comm_rank", NumberOf<H>),
            comm_size: function!("MPI_Comm_size", NumberOf<H>),
            comm_set_errhandler: function!("MPI_Comm_set_errhandler", SetErrhandler<H>),
            type_size: function!("MPI_Type_size", NumberOf<H>),
            isend: function!("MPI_Isend", Isend<H>),
            irecv: function!("MPI_Irecv", Irecv<H>),
            iprobe: function!("MPI_Iprobe", Iprobe<H>),
            test: function!("MPI_Test", Test<H>),
            get_count: function!("MPI_Get_count", GetCount<H>),
            error_string: function!("MPI_Error_string", ErrorString),
        })
    }
}

impl<H: Handle> Raw<H> {
    /// Initialises the library on this thread. Errors are returned from here on; before, MPI ends
    /// the job itself.
    pub(super) fn init(library: Library, abi: &Abi) -> Result<Self, CallError> {
        let handles = H::handles(library, abi).ok_or_else(|| CallError {
            call: "dlsym",
            why: format!("the library lacks what {} has", abi.name),
        })?;
        let raw = Self {
            functions: Functions::load(library)?,
            handles,
            status_source: abi.status_source,
            _here: PhantomData,
        };
        let mut provided = 0;
        // SAFETY: MPI takes null for both arguments of main; `provided` is there to be written to.
        let code = unsafe {
            (raw.functions.init_thread)(
                ptr::null_mut(),
                ptr::null_mut(),
                abi.thread_funneled,
                &raw mut provided,
            )
        };
        raw.check("MPI_Init_thread", code)?;
        if provided < abi.thread_funneled {
            return Err(CallError {
                call: "MPI_Init_thread",
                why: "the library was built for programs of one thread".to_owned(),
            });
        }
        // SAFETY: both handles are those of this library's family.
        let code = unsafe {
            (raw.functions.comm_set_errhandler)(raw.handles.world, raw.handles.errors_return)
        };
        raw.check("MPI_Comm_set_errhandler", code)?;
        Ok(raw)
    }

    /// Ends MPI; every rank has to do so, and may have to wait for the others.
    pub(super) fn finalize(self) -> Result<(), CallError> {
        // SAFETY: it was initialised on this thread, and `self` is gone after it.
        let code = unsafe { (self.functions.finalize)() };
        self.check("MPI_Finalize", code)
    }

    pub(super) fn rank(&self) -> Result<usize, CallError> {
        self.number("MPI_Comm_rank", |number| {
            // SAFETY: the handle is this family's, and the number is there to be written to.
            unsafe { (self.functions.comm_rank)(self.handles.world, number) }
        })
    }

    pub(super) fn size(&self) -> Result<usize, CallError> {
        self.number("MPI_Comm_size", |number| {
            // SAFETY: as above.
            unsafe { (self.functions.comm_size)(self.handles.world, number) }
        })
    }

    /// How many bytes `MPI_BYTE` has: 1, if the handle is the right one.
    pub(super) fn byte_size(&self) -> Result<usize, CallError> {
        self.number("MPI_Type_size", |number| {
            // SAFETY: as above.
            unsafe { (self.functions.type_size)(self.handles.byte, number) }
        })
    }

    /// Begins to send.
    pub(super) fn send(&self, to: usize, frame: &[u8]) -> Result<Request<H>, CallError> {
        let call = "MPI_Isend";
        let (to, count) = (int(call, to)?, int(call, frame.len())?);
        let mut request = Request::new(frame.into());
        // SAFETY: the buffer has `count` bytes, on the heap, where they stay until the request is
        // done or for ever; handles are this family's.
        let code = unsafe {
            (self.functions.isend)(
                request.buffer.as_ptr().cast(),
                count,
                self.handles.byte,
                to,
                TAG,
                self.handles.world,
                &raw mut request.handle,
            )
        };
        self.check(call, code).map(|()| request)
    }

    /// Whether a frame of a rank is there.
    pub(super) fn probe(&self, from: usize) -> Result<Option<Probed>, CallError> {
        let call = "MPI_Iprobe";
        let from = int(call, from)?;
        let (mut flag, mut status) = (0, Status([0; STATUS_INTS]));
        // SAFETY: the status has room for that of every family; the rest as above.
        let code = unsafe {
            (self.functions.iprobe)(
                from,
                TAG,
                self.handles.world,
                &raw mut flag,
                &raw mut status,
            )
        };
        self.check(call, code)?;
        if flag == 0 {
            return Ok(None);
        }
        let bytes = self.number("MPI_Get_count", |number| {
            // SAFETY: the status was written by this library; the rest as above.
            unsafe { (self.functions.get_count)(&raw const status, self.handles.byte, number) }
        })?;
        let from = usize::try_from(status.0[self.status_source]).map_err(|_| CallError {
            call,
            why: "the sender in the status is no rank".to_owned(),
        })?;
        Ok(Some(Probed { from, bytes }))
    }

    /// Begins to receive what was probed.
    pub(super) fn receive(&self, from: usize, bytes: usize) -> Result<Request<H>, CallError> {
        let call = "MPI_Irecv";
        let (from, count) = (int(call, from)?, int(call, bytes)?);
        let mut request = Request::new(vec![0; bytes].into());
        // SAFETY: as for sending, and nobody reads the buffer until the request is done.
        let code = unsafe {
            (self.functions.irecv)(
                request.buffer.as_mut_ptr().cast(),
                count,
                self.handles.byte,
                from,
                TAG,
                self.handles.world,
                &raw mut request.handle,
            )
        };
        self.check(call, code).map(|()| request)
    }

    /// The buffer of a transfer that is done; else the transfer again.
    pub(super) fn test(&self, mut request: Request<H>) -> Result<Tested<H>, CallError> {
        let (mut flag, mut status) = (0, Status([0; STATUS_INTS]));
        // SAFETY: the request is one of this library that is not done; the status has room.
        let code = unsafe {
            (self.functions.test)(&raw mut request.handle, &raw mut flag, &raw mut status)
        };
        // A transfer that failed leaks its buffer: whether MPI is done with it is not known.
        self.check("MPI_Test", code)?;
        Ok(if flag == 0 {
            Tested::Pending(request)
        } else {
            Tested::Done(ManuallyDrop::into_inner(request.buffer))
        })
    }

    fn number(
        &self,
        call: &'static str,
        get: impl FnOnce(*mut c_int) -> Code,
    ) -> Result<usize, CallError> {
        let mut number = -1;
        self.check(call, get(&raw mut number))?;
        usize::try_from(number).map_err(|_| CallError {
            call,
            why: format!("it answered {number}"),
        })
    }

    fn check(&self, call: &'static str, code: Code) -> Result<(), CallError> {
        if code == 0 {
            return Ok(());
        }
        let why = text_of("MPI_Error_string", |text, length| {
            // SAFETY: the text has room for the longest of any library.
            unsafe { (self.functions.error_string)(code, text, length) }
        });
        let why = why.unwrap_or_else(|_| format!("error {code}"));
        Err(CallError { call, why })
    }
}

impl<H: Handle> Request<H> {
    fn new(buffer: Box<[u8]>) -> Self {
        Self {
            handle: H::empty(),
            buffer: ManuallyDrop::new(buffer),
        }
    }
}

/// Whether a transfer is done.
pub(super) enum Tested<H> {
    Done(Box<[u8]>),
    Pending(Request<H>),
}

fn int(call: &'static str, number: usize) -> Result<c_int, CallError> {
    c_int::try_from(number).map_err(|_| CallError {
        call,
        why: format!("{number} is more than MPI counts"),
    })
}
