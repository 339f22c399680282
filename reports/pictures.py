"""Pictures as files: one specification of data, in the form that is asked for, drawn once."""

from enum import StrEnum
from functools import lru_cache


class PictureForm(StrEnum):
    """What a picture can leave as."""

    SVG = "svg"
    PNG = "png"
    PDF = "pdf"

    @property
    def caption(self) -> str:
        """What people call it."""
        return self.upper()


CONTENT_TYPES = {
    PictureForm.SVG: "image/svg+xml",
    PictureForm.PNG: "image/png",
    PictureForm.PDF: "application/pdf",
}
PRINT_SCALE = 3
"""Points of a PNG per point of the picture: 216 to an inch."""


@lru_cache(maxsize=64)
def drawn(specification: str, form: PictureForm) -> bytes:
    """Return a Vega-Lite specification drawn; equal ones give equal bytes."""
    import vl_convert  # noqa: PLC0415  # 160 MB: only a process that draws pays for it

    if form is PictureForm.PNG:
        return vl_convert.vegalite_to_png(specification, scale=PRINT_SCALE)
    if form is PictureForm.PDF:
        return vl_convert.vegalite_to_pdf(specification)
    return vl_convert.vegalite_to_svg(specification).encode()
