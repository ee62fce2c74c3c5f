import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { createLogoFile, type LogoType } from './logo-image.js';

const RED = { r: 200, g: 30, b: 30, alpha: 1 };
const draw = (width: number, height: number) => sharp({ create: { width, height, channels: 4, background: RED } });
const png = (width: number, height: number): Promise<Buffer> => draw(width, height).png().toBuffer();

/** A PNG chunk; the decoder checks its CRC. */
function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

function crc32(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function header(width: number, height: number): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set([1, 0, 0, 0, 0], 8);
  return chunk('IHDR', data);
}

/** A black PNG with one bit for each pixel: a small file with many pixels. */
function bombOf(side: number): Buffer {
  const rows = Buffer.alloc(side * (1 + Math.ceil(side / 8)));
  return Buffer.concat([
    SIGNATURE,
    header(side, side),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Inserts a chunk after the header of a PNG. */
function insertChunk(file: Buffer, inserted: Buffer): Buffer {
  const HEADER_END = 8 + 25;
  return Buffer.concat([file.subarray(0, HEADER_END), inserted, file.subarray(HEADER_END)]);
}

test.each<[LogoType, () => Promise<Buffer>]>([
  ['image/png', () => png(300, 100)],
  ['image/jpeg', () => draw(300, 100).jpeg().toBuffer()],
  ['image/webp', () => draw(300, 100).webp().toBuffer()],
])('%s becomes a PNG of the same size', async (type, create) => {
  const file = await createLogoFile(await create(), type);
  expect([file.width, file.height]).toEqual([300, 100]);
  expect(file.hash).toMatch(/^[0-9a-f]{32}$/);
  const { format, pages } = await sharp(file.bytes).metadata();
  expect([format, pages]).toEqual(['png', undefined]);
});

test.each([
  [4096, 1024, 480, 120],
  [1000, 4096, 39, 160],
  [480, 160, 480, 160],
  [1, 1, 1, 1],
  [4096, 1, 480, 1],
])('%d x %d pixels are stored as %d x %d', async (width, height, storedWidth, storedHeight) => {
  const file = await createLogoFile(await png(width, height), 'image/png');
  expect([file.width, file.height]).toEqual([storedWidth, storedHeight]);
});

test('the same file has the same hash, and another one another', async () => {
  const one = await createLogoFile(await png(30, 10), 'image/png');
  const same = await createLogoFile(await png(30, 10), 'image/png');
  const other = await createLogoFile(await png(30, 11), 'image/png');
  expect(same.hash).toBe(one.hash);
  expect(other.hash).not.toBe(one.hash);
});

test('transparent pixels stay transparent, and a photograph becomes a small file', async () => {
  const pixels = Buffer.from(Array.from({ length: 480 * 160 * 4 }, (_, index) => (index * 7919) % 251));
  const noise = await sharp(pixels, { raw: { width: 480, height: 160, channels: 4 } })
    .png()
    .toBuffer();
  const file = await createLogoFile(noise, 'image/png');
  const { hasAlpha } = await sharp(file.bytes).metadata();
  expect(hasAlpha).toBe(true);
  expect(file.bytes.length).toBeLessThan(100_000);
});

test('the orientation of a photograph is applied, and its metadata is removed', async () => {
  const photograph = await draw(40, 20)
    .jpeg()
    .withExif({ IFD0: { Artist: 'A secret place' } })
    .withMetadata({ orientation: 6 })
    .toBuffer();
  const file = await createLogoFile(photograph, 'image/jpeg');
  expect([file.width, file.height]).toEqual([20, 40]);
  const { exif, icc, xmp } = await sharp(file.bytes).metadata();
  expect([exif, icc, xmp]).toEqual([undefined, undefined, undefined]);
});

test('nothing that is hidden in the upload is stored', async () => {
  const payload = '<script>alert(1)</script>PK\u0003\u0004';
  const upload = Buffer.concat([
    insertChunk(await png(30, 10), chunk('tEXt', Buffer.from(`Comment\0${payload}`))),
    Buffer.from(payload),
  ]);
  const { bytes } = await createLogoFile(upload, 'image/png');
  expect(bytes).not.toContain('script');
  expect(bytes).not.toContain('PK\u0003\u0004');
});

const READABLE = 'The logo cannot be read';
test.each<[string, LogoType, () => Promise<Buffer> | Buffer, string]>([
  ['20 000 x 20 000 pixels', 'image/png', () => bombOf(20_000), 'Make each side at most 4096 pixels.'],
  ['one pixel too wide', 'image/png', () => png(4097, 1), 'The logo has 4097 x 1 pixels.'],
  ['one pixel too high', 'image/png', () => png(1, 4097), 'The logo has 1 x 4097 pixels.'],
  ['a header without pixels', 'image/png', () => Buffer.concat([SIGNATURE, header(10, 10)]), READABLE],
  ['a truncated PNG', 'image/png', async () => (await png(400, 100)).subarray(0, 120), READABLE],
  [
    'a truncated JPEG',
    'image/jpeg',
    async () => {
      const whole = await draw(400, 100).jpeg().toBuffer();
      return whole.subarray(0, whole.length - 40);
    },
    READABLE,
  ],
  ['an empty file', 'image/png', () => Buffer.alloc(0), 'The logo is empty.'],
  ['SVG', 'image/png', () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'), READABLE],
  ['a GIF', 'image/png', () => Buffer.from('R0lGODdhAQABAIAAAAAAAP///ywAAAAAAQABAAACAkQBADs=', 'base64'), READABLE],
  ['TIFF', 'image/png', () => draw(10, 10).tiff().toBuffer(), READABLE],
  ['AVIF', 'image/webp', () => draw(10, 10).avif().toBuffer(), READABLE],
  ['a JPEG that is declared as PNG', 'image/png', () => draw(10, 10).jpeg().toBuffer(), 'not a file of the type'],
  [
    'an animated PNG',
    'image/png',
    async () => insertChunk(await png(30, 10), chunk('acTL', Buffer.from([0, 0, 0, 2, 0, 0, 0, 0]))),
    'The logo is animated.',
  ],
  [
    'an animated WebP',
    'image/webp',
    async () =>
      sharp([await png(8, 8), await draw(8, 8).negate({ alpha: false }).png().toBuffer()], { join: { animated: true } })
        .webp()
        .toBuffer(),
    'The logo is animated.',
  ],
])('refuses %s', async (_name, type, create, message) => {
  const upload = await create();
  await expect(createLogoFile(upload, type)).rejects.toMatchObject({
    code: 'look.logo-unusable',
    message: expect.stringContaining(message) as string,
  });
});
