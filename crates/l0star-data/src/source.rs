//! [`Source`]: the bytes behind a name, decompressed on the way, readable more than once.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::caps::{Allowance, LARGEST_PIPE, Metered, TooLarge};
use crate::encoding::{Encoding, Undecodable};
use crate::error::DataError;

/// Is told how many bytes of how many have been read; called on the thread that reads.
pub type Watch<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// How many bytes are looked at to tell a format.
const HEAD: usize = 64 * 1024;

/// A file, or bytes in memory, with a name for messages.
pub(crate) struct Source<'a> {
    name: PathBuf,
    place: Origin<'a>,
    compression: Option<Compression>,
    encoding: Option<Encoding>,
    watch: Option<Watch<'a>>,
}

enum Origin<'a> {
    /// A regular file; its length is what the reader sizes its columns by.
    File {
        path: PathBuf,
        length: u64,
    },
    Borrowed(&'a [u8]),
    Owned(Vec<u8>),
}

/// A compression, told by the first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    fn of(head: &[u8]) -> Option<Compression> {
        if head.starts_with(b"\x1f\x8b") {
            Some(Compression::Gzip)
        } else if head.starts_with(b"\x28\xb5\x2f\xfd") {
            Some(Compression::Zstd)
        } else {
            None
        }
    }

    fn word(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        }
    }
}

impl<'a> Source<'a> {
    /// The file at `path`; `-` is standard input. What is no regular file (standard input, a
    /// pipe) can be read only once, so it is kept in memory.
    pub(crate) fn open(path: &Path) -> Result<Source<'a>, DataError> {
        if path == Path::new("-") {
            let name = Path::new("standard input");
            return Source::over(name, Origin::Owned(piped(name, io::stdin().lock())?));
        }
        if path.is_dir() {
            return Err(DataError::IsFolder {
                path: path.to_path_buf(),
            });
        }
        let reading = |reason| DataError::reading(path, reason);
        let found = fs::metadata(path).map_err(reading)?;
        if found.is_file() {
            let path = path.to_path_buf();
            let length = found.len();
            Source::over(&path.clone(), Origin::File { path, length })
        } else {
            let pipe = File::open(path).map_err(reading)?;
            Source::over(path, Origin::Owned(piped(path, pipe)?))
        }
    }

    /// Bytes that are in memory already.
    pub(crate) fn memory(name: &Path, bytes: &'a [u8]) -> Result<Source<'a>, DataError> {
        Source::over(name, Origin::Borrowed(bytes))
    }

    fn over<'b>(name: &Path, place: Origin<'b>) -> Result<Source<'b>, DataError> {
        let mut source = Source {
            name: name.to_path_buf(),
            place,
            compression: None,
            encoding: None,
            watch: None,
        };
        source.compression = Compression::of(&source.head()?);
        Ok(source)
    }

    /// Tells how much of the source has been read from here on.
    pub(crate) fn watched(mut self, watch: Option<Watch<'a>>) -> Source<'a> {
        self.watch = watch;
        self
    }

    /// Decodes the text from here on.
    pub(crate) fn decode(&mut self, encoding: Encoding) {
        self.encoding = Some(encoding);
    }

    /// The encoding that the text is decoded from, if it was found or given.
    pub(crate) fn encoding(&self) -> Option<Encoding> {
        self.encoding
    }

    /// Says that a share of a file that is not read as a stream is done.
    #[cfg(feature = "parquet")]
    pub(crate) fn tell(&self, done: usize, of: usize) {
        if let Some(watch) = self.watch {
            let stored = self.stored();
            let share = done as f64 / of.max(1) as f64;
            watch(((share * stored as f64) as u64).min(stored), stored);
        }
    }

    /// Says how many bytes of how many are done.
    pub(crate) fn tell_bytes(&self, done: u64, of: u64) {
        if let Some(watch) = self.watch {
            watch(done, of);
        }
    }

    /// The file, as messages call it.
    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    /// Whether its bytes are compressed.
    pub(crate) fn is_packed(&self) -> bool {
        self.compression.is_some()
    }

    /// The number of bytes that [`Source::stream`] will give, when it is known.
    pub(crate) fn length(&self) -> Option<u64> {
        let is_plain = matches!(self.encoding, None | Some(Encoding::Utf8));
        (self.compression.is_none() && is_plain).then(|| self.stored())
    }

    /// The number of bytes before they are decompressed.
    pub(crate) fn stored(&self) -> u64 {
        match &self.place {
            Origin::File { length, .. } => *length,
            Origin::Borrowed(bytes) => bytes.len() as u64,
            Origin::Owned(bytes) => bytes.len() as u64,
        }
    }

    /// What the file may unpack to.
    pub(crate) fn allowance(&self) -> Allowance {
        Allowance::of(self.stored())
    }

    /// The path, when the file can be read as it lies on the disk.
    pub(crate) fn plain_file(&self) -> Option<&Path> {
        match (&self.compression, &self.place) {
            (None, Origin::File { path, .. }) => Some(path),
            _ => None,
        }
    }

    /// The bytes from the start, decompressed as far as the [`Allowance`] goes.
    pub(crate) fn stream(&self) -> Result<Box<dyn Read + Send + '_>, DataError> {
        let raw: Box<dyn Read + Send + '_> = match &self.place {
            Origin::File { path, .. } => {
                Box::new(File::open(path).map_err(|reason| DataError::reading(&self.name, reason))?)
            }
            Origin::Borrowed(bytes) => Box::new(*bytes),
            Origin::Owned(bytes) => Box::new(bytes.as_slice()),
        };
        let raw = match self.watch {
            None => raw,
            Some(watch) => Box::new(Watched {
                stream: raw,
                watch,
                read: 0,
                of: self.stored(),
            }),
        };
        let bytes: Box<dyn Read + Send + '_> = match self.compression {
            None => raw,
            Some(Compression::Gzip) => {
                Box::new(Metered::new(MultiGzDecoder::new(raw), self.allowance()))
            }
            Some(Compression::Zstd) => {
                let unpacked = zstd::Decoder::new(raw)
                    .map_err(|reason| DataError::reading(&self.name, reason))?;
                Box::new(Metered::new(unpacked, self.allowance()))
            }
        };
        Ok(match self.encoding {
            None => bytes,
            Some(encoding) => encoding.decoded(bytes),
        })
    }

    /// The first bytes, decompressed: enough to tell a format.
    pub(crate) fn head(&self) -> Result<Vec<u8>, DataError> {
        let mut head = Vec::new();
        self.stream()?
            .take(HEAD as u64)
            .read_to_end(&mut head)
            .map_err(|reason| self.failed(reason))?;
        Ok(head)
    }

    /// All bytes, decompressed.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>, DataError> {
        let mut bytes = Vec::with_capacity(self.length().unwrap_or(0) as usize);
        self.stream()?
            .read_to_end(&mut bytes)
            .map_err(|reason| self.failed(reason))?;
        Ok(bytes)
    }

    /// What a failed read means here: a compressed file is more likely damaged than the disk.
    pub(crate) fn failed(&self, reason: io::Error) -> DataError {
        if let Some(damage) = Undecodable::behind(&reason) {
            return DataError::NotText {
                path: self.name.clone(),
                reason: damage.to_string(),
            };
        }
        match self.compression {
            None => DataError::reading(&self.name, reason),
            Some(compression) => DataError::Unreadable {
                path: self.name.clone(),
                format: format!("a {} file", compression.word()),
                reason: match TooLarge::behind(&reason) {
                    Some(cap) => cap.to_string(),
                    None => {
                        format!("{reason}; it is damaged or cut short, so fetch or write it again")
                    }
                },
            },
        }
    }
}

/// Counts what is read of a stream.
struct Watched<'a> {
    stream: Box<dyn Read + Send + 'a>,
    watch: Watch<'a>,
    read: u64,
    of: u64,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.read += count as u64;
        (self.watch)(self.read, self.of);
        Ok(count)
    }
}

/// All bytes of what can be read only once.
fn piped(name: &Path, pipe: impl Read) -> Result<Vec<u8>, DataError> {
    let mut bytes = Vec::new();
    pipe.take(LARGEST_PIPE + 1)
        .read_to_end(&mut bytes)
        .map_err(|reason| DataError::reading(name, reason))?;
    if bytes.len() as u64 > LARGEST_PIPE {
        return Err(DataError::WrongFormat {
            path: name.to_path_buf(),
            what: "has more than 4 GB, and what comes through a pipe is kept in memory; save it to a file, and give that"
                .into(),
        });
    }
    Ok(bytes)
}
