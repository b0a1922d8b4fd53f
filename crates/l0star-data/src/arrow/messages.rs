//! Arrow IPC: compares the lengths in the metadata with the file before anything is decoded.
//!
//! A file is a sequence of messages, each with its metadata and a body of buffers. With compression,
//! every buffer starts with its unpacked length in eight bytes. The decoder would allocate that
//! length without checking it.

use std::io::{self, Read, Seek, SeekFrom};

use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{Message, MessageHeader, RecordBatch, root_as_footer, root_as_message};

use super::fault::Fault;
use crate::caps::{Allowance, DENSEST};

const CONTINUATION: [u8; 4] = [0xff; 4];
/// Bytes of the length prefix of a compressed buffer.
const PREFIX: u64 = 8;
/// Bytes of the footer's length and the magic word, which end a file.
const TAIL: u64 = 10;

/// Checks every message that the footer names.
pub(super) fn check_file(
    file: &mut (impl Read + Seek),
    mut allowance: Allowance,
) -> Result<(), Fault> {
    let length = file.seek(SeekFrom::End(0))?;
    let inside = |start: u64, more: u64| start.checked_add(more).filter(|end| *end <= length);
    let beyond = || Fault::damaged("one of its parts would be beyond its end");
    let tail_at = length.checked_sub(TAIL).ok_or_else(beyond)?;
    let mut tail = [0; TAIL as usize];
    read_at(file, tail_at, &mut tail)?;
    let footer_length = read_footer_length(tail).map_err(Fault::damaged)? as u64;
    let footer_at = tail_at.checked_sub(footer_length).ok_or_else(beyond)?;
    let mut footer = vec![0; footer_length as usize];
    read_at(file, footer_at, &mut footer)?;
    let footer = root_as_footer(&footer).map_err(Fault::damaged)?;
    let blocks = [footer.dictionaries(), footer.recordBatches()];
    for block in blocks.into_iter().flatten().flatten() {
        let natural = |number: i64| u64::try_from(number).map_err(|_| beyond());
        let start = natural(block.offset())?;
        let body_at = inside(start, natural(block.metaDataLength().into())?).ok_or_else(beyond)?;
        let body_length = natural(block.bodyLength())?;
        inside(body_at, body_length).ok_or_else(beyond)?;
        let mut metadata = vec![0; (body_at - start) as usize];
        read_at(file, start, &mut metadata)?;
        let skipped = if metadata.starts_with(&CONTINUATION) {
            8
        } else {
            4
        };
        let metadata = metadata.get(skipped..).ok_or_else(beyond)?;
        let message = root_as_message(metadata).map_err(Fault::damaged)?;
        check(&message, body_length, &mut allowance, |offset| {
            let mut prefix = [0; PREFIX as usize];
            read_at(file, body_at + offset, &mut prefix)?;
            Ok(prefix)
        })?;
    }
    Ok(())
}

/// Checks the messages one after the other, up to the end of the stream.
pub(super) fn check_stream(mut stream: impl Read, mut allowance: Allowance) -> Result<(), Fault> {
    let (mut metadata, mut body) = (Vec::new(), Vec::new());
    loop {
        let mut length = [0; 4];
        match stream.read_exact(&mut length) {
            Err(reason) if reason.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        if length == CONTINUATION {
            stream.read_exact(&mut length)?;
        }
        let length = i32::from_le_bytes(length);
        if length == 0 {
            return Ok(());
        }
        read_exactly(&mut stream, length.into(), &mut metadata)?;
        let message = root_as_message(&metadata).map_err(Fault::damaged)?;
        read_exactly(&mut stream, message.bodyLength(), &mut body)?;
        check(&message, body.len() as u64, &mut allowance, |offset| {
            let prefix = &body[offset as usize..][..PREFIX as usize];
            Ok(prefix.try_into().expect("eight bytes"))
        })?;
    }
}

/// Checks that the compressed buffers of a message lie in its body and claim possible lengths.
fn check(
    message: &Message<'_>,
    body_length: u64,
    allowance: &mut Allowance,
    mut prefix: impl FnMut(u64) -> io::Result<[u8; PREFIX as usize]>,
) -> Result<(), Fault> {
    let batch: Option<RecordBatch<'_>> = match message.header_type() {
        MessageHeader::RecordBatch => message.header_as_record_batch(),
        MessageHeader::DictionaryBatch => message
            .header_as_dictionary_batch()
            .and_then(|dictionary| dictionary.data()),
        _ => None,
    };
    // Without compression, buffers are parts of the body, and nothing is allocated.
    let compressed = batch.filter(|batch| batch.compression().is_some());
    for buffer in compressed
        .iter()
        .filter_map(|batch| batch.buffers())
        .flatten()
    {
        let found = (
            u64::try_from(buffer.offset()),
            u64::try_from(buffer.length()),
        );
        let (Ok(offset), Ok(length)) = found else {
            return Err(Fault::damaged("a buffer has a negative length"));
        };
        if offset
            .checked_add(length)
            .is_none_or(|end| end > body_length)
        {
            return Err(Fault::damaged(
                "a buffer would be beyond the end of its message",
            ));
        }
        // An empty buffer may have no prefix.
        let Some(packed) = length.checked_sub(PREFIX) else {
            continue;
        };
        // A negative length means that the buffer is not compressed.
        if let Ok(claimed) = u64::try_from(i64::from_le_bytes(prefix(offset)?)) {
            if claimed > packed.saturating_mul(DENSEST) {
                return Err(Fault::damaged(format!(
                    "a compressed buffer of {packed} bytes claims to hold {claimed}"
                )));
            }
            allowance.take(claimed)?;
        }
    }
    Ok(())
}

fn read_at(file: &mut (impl Read + Seek), at: u64, buffer: &mut [u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(buffer)
}

/// Reads exactly `length` bytes, or fails; memory is taken only for bytes that exist.
fn read_exactly(stream: &mut impl Read, length: i64, buffer: &mut Vec<u8>) -> Result<(), Fault> {
    buffer.clear();
    let length = u64::try_from(length).map_err(|_| Fault::damaged("a length is negative"))?;
    let read = stream.take(length).read_to_end(buffer)? as u64;
    if read == length {
        Ok(())
    } else {
        Err(Fault::damaged("it ends within a message"))
    }
}
