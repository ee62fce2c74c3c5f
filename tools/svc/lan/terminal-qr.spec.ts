import decodeQR from 'qr/decode.js';
import { terminalQr } from './terminal-qr.ts';

/** Width and height of a module (a square of the QR code) in pixels: the decoder needs more than one pixel. */
const SCALE = 4;

test.each(['https://192.168.1.5:7302', 'https://255.255.255.255:65504'])(
  'a camera decodes %s from the QR code in the terminal',
  (text) => {
    expect(decodeQR(renderPixels(terminalQr(text)))).toBe(text);
  },
);

/** The image that a camera sees. Each character shows two modules, one above the other. A drawn block is light. */
function renderPixels(shown: string): { width: number; height: number; data: Uint8Array } {
  const lines = shown.split('\n').map((line) => [...line.replaceAll(/\x1b\[[\d;]*m/g, '')]);
  const isLight = (x: number, y: number): boolean =>
    (y % 2 === 0 ? '█▀' : '█▄').includes(lines[Math.floor(y / 2)]?.[x] ?? ' ');
  const width = (lines[0]?.length ?? 0) * SCALE;
  const height = lines.length * 2 * SCALE;
  const data = new Uint8Array(width * height * 4).fill(255);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const x = Math.floor((pixel % width) / SCALE);
    const y = Math.floor(pixel / width / SCALE);
    if (!isLight(x, y)) data.fill(0, pixel * 4, pixel * 4 + 3);
  }
  return { width, height, data };
}
