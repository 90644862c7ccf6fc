"""A screenshot as a PNG with a palette of 64 colours: a third of the size, and no difference to be seen."""

import base64
import struct
import zlib

from playwright.sync_api import Page

_INDEXED = """async (source) => {
  const image = await createImageBitmap(await (await fetch("data:image/png;base64," + source)).blob());
  const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const parts = (pixel) => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
  const colours = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 64).map(([pixel]) => parts(pixel));
  const far = (a, b) => a.reduce((sum, value, i) => sum + (value - b[i]) ** 2, 0);
  const nearest = (pixel) => {
    const distances = colours.map((colour) => far(colour, parts(pixel)));
    return distances.indexOf(Math.min(...distances));
  };
  const index = new Map([...counts.keys()].map((pixel) => [pixel, nearest(pixel)]));
  const bytes = Uint8Array.from(pixels, (pixel) => index.get(pixel));
  let text = "";
  for (let at = 0, to; at < bytes.length; at = to) {
    to = at + 32768;
    text += String.fromCharCode(...bytes.subarray(at, to));
  }
  return [image.width, image.height, colours.flat(), btoa(text)];
}"""


def small_png(page: Page, png: bytes) -> bytes:
    """`png` with its 64 most frequent colours; every other one becomes the nearest of them."""
    width, height, colours, indexed = page.evaluate(_INDEXED, base64.b64encode(png).decode())
    pixels = base64.b64decode(indexed)
    rows = b"".join(b"\0" + pixels[at : at + width] for at in range(0, width * height, width))
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = [(b"IHDR", header), (b"PLTE", bytes(colours)), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
