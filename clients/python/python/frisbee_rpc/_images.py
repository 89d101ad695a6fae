"""Encodes and decodes Pillow images. This module is imported when the first image is used."""

from __future__ import annotations

import io

from PIL import Image

FORMATS = ("PNG", "JPEG", "WEBP", "TIFF", "GIF", "BMP")
"""The accepted formats. Pillow supports others, some of which start programs."""

BYTES_MAX = 64 * 1024 * 1024
"""Maximum memory of an image's pixels, equal to that of a message."""

_ORIENTATION = 0x0112
"""The EXIF tag of the orientation."""

_PNG_MODES = ("1", "L", "LA", "I;16", "P", "RGB", "RGBA")


def write(image: object) -> tuple[str, bytes]:
    """Returns the media type and the bytes of a lossless file. The file is a PNG, or a TIFF if PNG does not support the
    pixel format."""
    if not isinstance(image, Image.Image):
        raise TypeError(f"an image of Pillow expected, not {type(image).__name__}")
    if (frames := getattr(image, "n_frames", 1)) > 1:
        raise ValueError(f"the image has {frames} frames: pass one of them, image.copy()")
    # Cameras store the rotation of a photo in its EXIF data. Other EXIF data, such as the location, is not sent.
    exif = Image.Exif()
    if orientation := image.getexif().get(_ORIENTATION):
        exif[_ORIENTATION] = orientation
    file = io.BytesIO()
    if image.mode in _PNG_MODES:
        # The lowest compression level is used, because compression takes most of the time.
        image.save(file, "PNG", compress_level=1, exif=exif)
        return "image/png", file.getvalue()
    try:
        image.save(file, "TIFF", exif=exif)
    except (KeyError, OSError):
        raise ValueError(f"images of the mode {image.mode} cannot be sent") from None
    return "image/tiff", file.getvalue()


def read(data: bytes) -> Image.Image:
    """Decodes an image file received from a peer. Checks the size of the image before memory for its pixels is
    allocated."""
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
        width, height = image.size
        if width * height * max(4, len(image.getbands())) > BYTES_MAX:
            raise ValueError(f"an image of {width} x {height} takes more than {BYTES_MAX} bytes")
        image.load()
    except ValueError:
        raise
    except Exception as error:
        # Pillow raises many kinds of exceptions for invalid files.
        raise ValueError(f"the image cannot be read: {error}") from None
    return image
