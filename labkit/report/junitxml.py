"""JUnit XML as the viewers of CI read it: counts on every suite, texts that XML can hold."""

from xml.etree import ElementTree as ET

_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
_COUNTS = (("tests", "testcase"), ("failures", "failure"), ("errors", "error"))


def junit_text(root: ET.Element) -> str:
    """Return `testsuites` as a document, with what it and its suites hold counted on each."""
    for element in (root, *root.iter("testsuite")):
        for name, tag in _COUNTS:
            element.set(name, _number_of(element, tag))
        if element is not root:  # no schema has it there
            element.set("skipped", _number_of(element, "skipped"))
    ET.indent(root)
    return f"{_DECLARATION}\n{ET.tostring(root, encoding='unicode')}\n"


def _number_of(element: ET.Element, tag: str) -> str:
    return str(len(list(element.iter(tag))))


def xml_text(text: str) -> str:
    """Return a text as XML can hold it: what it has no sign for is escaped."""
    return "".join(
        each if each in "\t\n\r" or (each >= " " and each.isprintable()) else ascii(each)[1:-1]
        for each in text
    )
