import { createHash } from 'node:crypto';
import { MAX_LOGO_BYTES } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import type sharp from 'sharp';
import type { OutputInfo, Sharp } from 'sharp';
import type { Logo } from './look.js';

/** Media types of uploads, with the format that sharp reports for their content. */
export const LOGO_TYPES = { 'image/png': 'png', 'image/jpeg': 'jpeg', 'image/webp': 'webp' } as const;
export type LogoType = keyof typeof LOGO_TYPES;

/** Pixels of a side of an upload. */
const MAX_SIDE = 4096;
/** Pixels of the stored logo: twice the size on the page, for screens with a high resolution. */
const WIDTH = 480;
const HEIGHT = 160;
/** A larger file is stored with at most 256 colours, so that the page loads quickly. */
const MAX_EXACT_BYTES = 24 * 1024;
const DECODE_SECONDS = 5;

export interface LogoFile extends Logo {
  readonly bytes: Buffer;
}

/**
 * Decodes an uploaded image, and encodes its pixels again as PNG of at most 480 x 160 pixels. The result contains
 * nothing else of the upload: no metadata, and no other file that is hidden in it.
 *
 * @throws look.logo-unusable
 */
export async function createLogoFile(upload: Buffer, type: LogoType): Promise<LogoFile> {
  if (upload.length === 0) throw unusable('The logo is empty. Send the file as the body of the request.');
  if (upload.length > MAX_LOGO_BYTES) throw unusable('The logo is larger than 256 KiB.');
  const decode = await loadSharp();
  const image = (): Sharp =>
    decode(upload, { limitInputPixels: MAX_SIDE * MAX_SIDE, failOn: 'error', sequentialRead: true });
  const { format, width, height, pages = 1 } = await image().metadata().catch(refuseBrokenImage);
  if (format !== LOGO_TYPES[type]) throw unusable(`The logo is not a file of the type ${type}.`);
  if (width > MAX_SIDE || height > MAX_SIDE)
    throw unusable(`The logo has ${width} x ${height} pixels. Make each side at most ${MAX_SIDE} pixels.`);
  if (pages > 1 || isAnimatedPng(upload)) throw unusable('The logo is animated. Send an image with one picture.');
  const resized = image()
    .autoOrient()
    .resize({ width: WIDTH, height: HEIGHT, fit: 'inside', withoutEnlargement: true })
    .timeout({ seconds: DECODE_SECONDS });
  const exact = await encode(resized.clone().png({ compressionLevel: 9 }));
  const { data, info } = exact.data.length <= MAX_EXACT_BYTES ? exact : await encode(resized.png({ palette: true }));
  const hash = createHash('sha256').update(data).digest('hex').slice(0, 32);
  return { hash, width: info.width, height: info.height, bytes: data };
}

function encode(image: Sharp): Promise<{ data: Buffer; info: OutputInfo }> {
  return image.toBuffer({ resolveWithObject: true }).catch(refuseBrokenImage);
}

function refuseBrokenImage(error: unknown): never {
  if (/exceeds pixel limit/.test(String(error)))
    throw unusable(`The logo is too large. Make each side at most ${MAX_SIDE} pixels.`);
  throw unusable('The logo cannot be read: the file is broken, or it is not a PNG, JPEG or WebP image.');
}

function unusable(message: string): DomainError {
  return new DomainError('look.logo-unusable', { message });
}

/** Whether a PNG has the chunk of an animation, which sharp ignores. */
function isAnimatedPng(file: Buffer): boolean {
  const SIGNATURE_BYTES = 8;
  const CHUNK_BYTES_WITHOUT_DATA = 12;
  for (let at = SIGNATURE_BYTES; at + CHUNK_BYTES_WITHOUT_DATA <= file.length;) {
    const chunk = file.toString('latin1', at + 4, at + 8);
    if (chunk === 'acTL') return true;
    if (chunk === 'IDAT' || file[0] !== 0x89) return false;
    at += CHUNK_BYTES_WITHOUT_DATA + file.readUInt32BE(at);
  }
  return false;
}

let loaded: Promise<typeof sharp> | undefined;

/**
 * Loads the image library at the first upload, because its native code needs memory, and most processes never decode an
 * image. Only the decoders of the three formats remain: files come from outside, and the library has many decoders.
 */
function loadSharp(): Promise<typeof sharp> {
  return (loaded ??= import('sharp').then(({ default: library }) => {
    library.cache(false);
    library.concurrency(1);
    library.block({ operation: ['VipsForeignLoad'] });
    library.unblock({ operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadWebp'] });
    return library;
  }));
}
