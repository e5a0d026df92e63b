"""CSV as spreadsheets save it, read without guessing wrong; CSV that no spreadsheet can run.

Excel and its relatives write marks in front, semicolons, tabs, UTF-16 and old Windows letters, and
take a cell that begins with `=` for a program.
"""

import codecs
import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from labkit.errors import InputError, refuse

_DELIMITERS = ",;\t"
_DANGEROUS = frozenset("=+-@\t\r'")
_SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row, with its number as a spreadsheet shows it."""

    number: int
    cells: Mapping[str, str]
    """Trimmed texts by column; a column that the file lacks is empty."""


def read_table(
    data: bytes, place: str, *, columns: Sequence[str], needed: Sequence[str]
) -> tuple[Row, ...]:
    """Return the rows of a CSV file that have anything in them.

    Raises InputError, with all problems at once, for a file that is not text, a header without a
    `needed` column or with one that is not in `columns`, and cells beside the header's columns.
    """
    header, *records = _records(_decode(data, place), place)
    names = [cell.strip().lower() for cell in header]
    while names and not names[-1]:
        names.pop()  # spreadsheets like to add an empty last column
    _check_header(names, place, columns, needed)
    problems: list[str] = []
    rows = []
    for number, record in enumerate(records, 2):
        cells = [_disarmed(cell.strip()) for cell in record]
        if any(cells[len(names) :]):
            problems.append(f"{place}, row {number}: there are cells beside the last column")
        if any(cells):
            found = dict(zip(names, cells, strict=False))
            rows.append(Row(number=number, cells={n: found.get(n, "") for n in columns}))
    refuse(problems, hint="a text that holds the delimiter must stand in double quotes")
    return tuple(rows)


def write_table(columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> str:
    """Return CSV with commas and LF. A text that a spreadsheet would run gets an apostrophe."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([[_cell(row.get(name, "")) for name in columns] for row in rows])
    return out.getvalue()


def _cell(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    return f"'{text}" if text and text[0] in _DANGEROUS else text


def _disarmed(text: str) -> str:
    return text[1:] if len(text) > 1 and text[0] == "'" and text[1] in _DANGEROUS else text


def _decode(data: bytes, place: str) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encodings = ["utf-16"]
    elif data[1:2] == b"\0":
        encodings = ["utf-16-le"]
    else:
        encodings = ["utf-8-sig", "cp1252"]
    for encoding in encodings:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise InputError(f"{place} is not a text file", hint="save it as: CSV UTF-8")


def _records(text: str, place: str) -> list[list[str]]:
    separator = _SEPARATOR_LINE.match(text)
    if separator:
        text = text[separator.end() :]
        delimiter = separator[1]
    else:
        first = text.lstrip().partition("\n")[0]
        delimiter = max(_DELIMITERS, key=first.count)
    try:
        records = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise InputError(f"{place} is not CSV: {error}", hint="save it as: CSV UTF-8") from error
    if not any(any(cell.strip() for cell in record) for record in records):
        raise InputError(f"{place} is empty")
    return records


def _check_header(
    names: Sequence[str], place: str, columns: Sequence[str], needed: Sequence[str]
) -> None:
    problems = [f'{place}: there is no column "{name}"' for name in needed if name not in names]
    problems += [
        f'{place}: unknown column "{name[:40]}"'
        for name in dict.fromkeys(names)
        if name not in columns
    ]
    problems += [
        f'{place}: the column "{name}" is there twice'
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    refuse(problems, hint=f"the columns are: {', '.join(columns)}")
