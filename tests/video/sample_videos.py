"""Small real video files for the tests: encoded on the spot, each frame carrying its number."""

from fractions import Fraction

import av
import numpy as np

BITS = 8
WIDTH, HEIGHT = 160, 96


def numbered_image(number, width=WIDTH, height=HEIGHT):
    """Draw a number as bright and dark bars that survive any codec, above some changing texture."""
    image = np.full((height, width, 3), 30, np.uint8)
    cell = width // BITS
    for bit in range(BITS):
        if number >> bit & 1:
            image[: height // 2, bit * cell : (bit + 1) * cell] = 220
    y, x = np.mgrid[height // 2 : height, 0:width]
    image[height // 2 :, :, 1] = (x * 3 + y * 5 + number * 7) % 200
    return image


def number_in(image):
    """Read the number back from a decoded image of any size."""
    height, width = image.shape[:2]
    cell = width / BITS
    row = image[height // 8 : height * 3 // 8].astype(float).mean(axis=(0, 2))
    bits = [row[int((b + 0.25) * cell) : int((b + 0.75) * cell)].mean() > 125 for b in range(BITS)]
    return sum(1 << b for b, on in enumerate(bits) if on)


def encode(
    path,
    images,
    *,
    codec="libx264",
    rate=10,
    stamps=None,
    time_base=None,
    options=None,
    pix_fmt="yuv420p",
    rotation=None,
    container_options=None,
    prepare=None,
):
    """Encode images with PyAV; ``stamps`` are integers in ``time_base`` where given."""
    with av.open(str(path), "w", options=container_options or {}) as container:
        images = iter(images)
        first = next(images, None)
        stream = container.add_stream(codec, rate=Fraction(rate), options=options or {})
        stream.pix_fmt = pix_fmt
        stream.height, stream.width = (HEIGHT, WIDTH) if first is None else first.shape[:2]
        if time_base is not None:
            stream.codec_context.time_base = Fraction(time_base)
        if rotation is not None:
            stream.set_display_rotation(rotation)
        if prepare is not None:
            prepare(stream)
        container.start_encoding()  # so that a video of no frames has its header all the same
        number = 0
        while first is not None:
            frame = av.VideoFrame.from_ndarray(first, format="rgb24")
            if stamps is not None:
                frame.pts, frame.time_base = stamps[number], Fraction(time_base)
            container.mux(stream.encode(frame))
            first = next(images, None)
            number += 1
        container.mux(stream.encode(None))
    return path


def encode_numbers(path, count, **options):
    """Encode ``count`` frames that carry the numbers 0, 1, 2, ..."""
    return encode(path, (numbered_image(n) for n in range(count)), **options)
