"""Bytes of a text file, checked."""

import codecs

from ..errors import TableError

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_OTHER_KINDS = {
    b"PK\x03\x04": "a spreadsheet or zip archive; export the sheet as CSV",
    b"PAR1": "a Parquet file; name it .parquet",
    b"\x1f\x8b": "gzip-compressed; add .gz to its name",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; export the sheet as CSV",
    b"%PDF": "a PDF document",
}


def utf8(data: bytes, source: str) -> tuple[bytes, list[str]]:
    """The bytes as UTF-8 without a byte order mark, and notes on what was converted.

    Raises
    ------
    TableError
        The bytes are no text, or text in another encoding; names row and byte offset.
    """
    for magic, what in _OTHER_KINDS.items():
        if data.startswith(magic):
            raise TableError(f"{source}: this is {what}.")
    notes = []
    if data.startswith(_UTF16) and not data.startswith(_UTF32):
        try:
            data = data.decode("utf-16").encode()
        except UnicodeError as error:
            raise TableError(f"{source}: begins as UTF-16 text but is damaged ({error}).") from None
        notes.append(f"{source}: read as UTF-16 text.")
    data = data.removeprefix(codecs.BOM_UTF8)
    if (at := data.find(b"\0")) >= 0:
        row = data.count(b"\n", 0, at) + 1
        raise TableError(
            f"{source}, row {row}: a NUL byte at offset {at}: not a text file. Save it as UTF-8 text."
        )
    try:
        data.decode()
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise TableError(
            f"{source}, row {row}: byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8. "
            "Save the file as UTF-8 (in Excel: 'CSV UTF-8')."
        ) from None
    return data, notes
