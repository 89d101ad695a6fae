"""Images of Pillow as files. The module is imported with the first image."""

from __future__ import annotations

import io

from PIL import Image

FORMATS = ("PNG", "JPEG", "WEBP", "TIFF", "GIF", "BMP")
"""The formats that are read. Pillow has others, and some start programs."""

BYTES_MAX = 64 * 1024 * 1024
"""The most memory of the pixels of an image: that of a message."""

_ORIENTATION = 0x0112
"""The EXIF tag of how an image is turned."""

_PNG_MODES = ("1", "L", "LA", "I;16", "P", "RGB", "RGBA")


def write(image: object) -> tuple[str, bytes]:
    """The media type and the bytes of a file with the same pixels: PNG, or TIFF for those that PNG does not have."""
    if not isinstance(image, Image.Image):
        raise TypeError(f"an image of Pillow expected, not {type(image).__name__}")
    if (frames := getattr(image, "n_frames", 1)) > 1:
        raise ValueError(f"the image has {frames} frames: pass one of them, image.copy()")
    # Pixels of photos may be turned. Other parts of the EXIF data, such as the place, stay here.
    exif = Image.Exif()
    if orientation := image.getexif().get(_ORIENTATION):
        exif[_ORIENTATION] = orientation
    file = io.BytesIO()
    if image.mode in _PNG_MODES:
        # The lowest level, since most time is spent here.
        image.save(file, "PNG", compress_level=1, exif=exif)
        return "image/png", file.getvalue()
    try:
        image.save(file, "TIFF", exif=exif)
    except (KeyError, OSError):
        raise ValueError(f"images of the mode {image.mode} cannot be sent") from None
    return "image/tiff", file.getvalue()


def read(data: bytes) -> Image.Image:
    """The image of a file received from a peer: its size is checked before its pixels are allocated."""
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
        width, height = image.size
        if width * height * max(4, len(image.getbands())) > BYTES_MAX:
            raise ValueError(f"an image of {width} x {height} takes more than {BYTES_MAX} bytes")
        image.load()
    except ValueError:
        raise
    except Exception as error:
        # Files that are broken raise errors of many kinds.
        raise ValueError(f"the image cannot be read: {error}") from None
    return image
