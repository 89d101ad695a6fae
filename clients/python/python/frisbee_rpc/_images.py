"""Encodes and decodes Pillow images. This module is imported when the first image is used."""

from __future__ import annotations

import io

from PIL import Image

FORMATS = ("PNG", "JPEG", "WEBP", "TIFF", "GIF", "BMP")
"""The accepted formats. Pillow supports others, some of which start programs."""

BYTES_MAX = 64 * 1024 * 1024
"""Maximum memory of the pixels of all images of a message."""

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
    """Decodes an image file received from a peer."""
    return read_within(data, BYTES_MAX)[0]


def read_within(data: bytes, limit: int) -> tuple[Image.Image, int]:
    """Decodes an image file received from a peer. Returns the image and the memory of its pixels. Checks this memory
    against the limit before it is allocated."""
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
        width, height = image.size
        memory = width * height * max(4, len(image.getbands()))
        if memory > limit:
            text = f"an image of {width} x {height} takes {memory} bytes"
            raise ValueError(f"{text}, and {limit} of {BYTES_MAX} bytes are left for the images of the message")
        image.load()
    except ValueError:
        raise
    except Exception as error:
        # Pillow raises many kinds of exceptions for invalid files.
        raise ValueError(f"the image cannot be read: {error}") from None
    return image, memory
