import jsqr from 'jsqr';
import { qrSvg } from './qr-svg.js';

/** The types of jsqr are wrong for Jest: its default import is the function itself. */
const jsQR = jsqr as unknown as typeof jsqr.default;

/** Pixels for each module: few, as in a photo of a small code on a bad screen. */
const SCALE = 3;

/**
 * Converts the SVG image to pixels. The image consists of a light background and a dark rectangle for each row of
 * adjacent dark modules.
 */
function rasterise(svg: string): { data: Uint8ClampedArray; width: number; dark: boolean[][] } {
  const size = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)?.[1]);
  const dark = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  for (const [, x, y, width, returnWidth] of svg.matchAll(/M(\d+) (\d+)h(\d+)v1h-(\d+)z/g)) {
    expect(returnWidth).toBe(width);
    // No rectangle is empty, and adjacent dark modules are in one rectangle. Otherwise the file would be much larger.
    expect(width).not.toBe('0');
    expect(dark[Number(y)]![Number(x) - 1]).not.toBe(true);
    for (let i = 0; i < Number(width); i++) dark[Number(y)]![Number(x) + i] = true;
  }
  const width = size * SCALE;
  const data = new Uint8ClampedArray(width * width * 4);
  for (let pixel = 0; pixel < width * width; pixel++) {
    const isDark = dark[Math.floor(Math.floor(pixel / width) / SCALE)]![Math.floor((pixel % width) / SCALE)]!;
    data.set(isDark ? [0, 0, 0, 255] : [255, 255, 255, 255], pixel * 4);
  }
  return { data, width, dark };
}

test.each([
  'https://pay.svc.example/c/01234567890123456789',
  `https://${'a-rather-long-host-name.'.repeat(6)}example/c/01234567890123456789`,
  'http://127.0.0.1:7301/c/00000000000000000000',
  'köök 💳',
])('a QR code decoder reads %s from the image', (text) => {
  const { data, width } = rasterise(qrSvg(text));
  const found = jsQR(data, width, width, { inversionAttempts: 'dontInvert' });
  expect(Buffer.from(found?.binaryData ?? []).toString('utf8')).toBe(text);
});

test('the image has a margin of four light modules, and its first dark module is the corner of a finder pattern', () => {
  const { dark } = rasterise(qrSvg('https://pay.svc.example/c/01234567890123456789'));
  const size = dark.length;
  const border = dark.flatMap((row, y) => row.filter((_, x) => x < 4 || y < 4 || x >= size - 4 || y >= size - 4));
  expect(border).not.toContain(true);
  expect(dark[4]!.slice(4, 12)).toEqual([true, true, true, true, true, true, true, false]);
});

test('a QR code that a reflection partly covers is still readable', () => {
  const text = 'https://pay.svc.example/c/01234567890123456789';
  const { data, width, dark } = rasterise(qrSvg(text));
  // Draws a light spot in the data area, as a reflection would.
  const [from, side] = [Math.floor(dark.length * 0.45), Math.floor(dark.length * 0.2)];
  for (let y = from * SCALE; y < (from + side) * SCALE; y++)
    for (let x = from * SCALE; x < (from + side) * SCALE; x++) data.set([255, 255, 255, 255], (y * width + x) * 4);
  expect(jsQR(data, width, width)?.data).toBe(text);
});

test('the image contains no script, no style and no link', () => {
  expect(qrSvg('https://pay.svc.example/c/1')).toMatch(
    /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="[\d ]+" role="img" aria-label="QR code" shape-rendering="crispEdges"><path fill="#fff" d="[\dMhvHz ]+"\/><path fill="#000" d="[\dMhvz -]+"\/><\/svg>\n$/,
  );
});
