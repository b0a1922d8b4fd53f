//! [`Source`]: the bytes behind a name, decompressed while they are read, and readable more than once.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::caps::{Allowance, LARGEST_PIPE, Metered, TooLarge};
use crate::encoding::{Encoding, Undecodable};
use crate::error::DataError;

/// Receives the number of bytes read and their total; called on the reading thread.
pub type Watch<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// Number of bytes that are examined to detect a format.
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
    /// A regular file; the reader sizes its columns by the file's length.
    File {
        path: PathBuf,
        length: u64,
    },
    Borrowed(&'a [u8]),
    Owned(Vec<u8>),
}

/// A compression, detected from the first bytes.
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
    /// Opens the file at `path`; `-` is standard input. A source that is not a regular file (standard input, a
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

    /// Creates a source from bytes in memory.
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

    /// Reports from here on how much of the source has been read.
    pub(crate) fn watched(mut self, watch: Option<Watch<'a>>) -> Source<'a> {
        self.watch = watch;
        self
    }

    /// Decodes the text from here on.
    pub(crate) fn decode(&mut self, encoding: Encoding) {
        self.encoding = Some(encoding);
    }

    /// Returns the encoding that the text is decoded from, if it was detected or given.
    pub(crate) fn encoding(&self) -> Option<Encoding> {
        self.encoding
    }

    /// Reports the finished share of a file that is not read as a stream.
    #[cfg(feature = "parquet")]
    pub(crate) fn tell(&self, done: usize, of: usize) {
        if let Some(watch) = self.watch {
            let stored = self.stored();
            let share = done as f64 / of.max(1) as f64;
            watch(((share * stored as f64) as u64).min(stored), stored);
        }
    }

    /// Reports the number of bytes read and their total.
    pub(crate) fn tell_bytes(&self, done: u64, of: u64) {
        if let Some(watch) = self.watch {
            watch(done, of);
        }
    }

    /// Returns the name of the file in messages.
    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    /// Whether the bytes are compressed.
    pub(crate) fn is_packed(&self) -> bool {
        self.compression.is_some()
    }

    /// Returns the number of bytes that [`Source::stream`] will yield, if it is known.
    pub(crate) fn length(&self) -> Option<u64> {
        let is_plain = matches!(self.encoding, None | Some(Encoding::Utf8));
        (self.compression.is_none() && is_plain).then(|| self.stored())
    }

    /// Returns the number of bytes before decompression.
    pub(crate) fn stored(&self) -> u64 {
        match &self.place {
            Origin::File { length, .. } => *length,
            Origin::Borrowed(bytes) => bytes.len() as u64,
            Origin::Owned(bytes) => bytes.len() as u64,
        }
    }

    /// Returns the limit on the unpacked size of the file.
    pub(crate) fn allowance(&self) -> Allowance {
        Allowance::of(self.stored())
    }

    /// Returns the path, if the file can be read directly from disk.
    pub(crate) fn plain_file(&self) -> Option<&Path> {
        match (&self.compression, &self.place) {
            (None, Origin::File { path, .. }) => Some(path),
            _ => None,
        }
    }

    /// Returns a stream from the start, decompressed up to the [`Allowance`].
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

    /// Returns the first bytes, decompressed: enough to detect a format.
    pub(crate) fn head(&self) -> Result<Vec<u8>, DataError> {
        let mut head = Vec::new();
        self.stream()?
            .take(HEAD as u64)
            .read_to_end(&mut head)
            .map_err(|reason| self.failed(reason))?;
        Ok(head)
    }

    /// Returns all bytes, decompressed.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>, DataError> {
        let mut bytes = Vec::with_capacity(self.length().unwrap_or(0) as usize);
        self.stream()?
            .read_to_end(&mut bytes)
            .map_err(|reason| self.failed(reason))?;
        Ok(bytes)
    }

    /// Returns the error for a failed read; in a compressed file, damage is more likely than a disk error.
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

/// A stream that counts the bytes read from it.
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

/// Reads all bytes of a source that can be read only once.
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
