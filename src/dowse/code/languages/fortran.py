"""Fortran."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="fortran",
    extensions=(".f", ".for", ".f77", ".f90", ".f95", ".f03", ".f08"),
)
