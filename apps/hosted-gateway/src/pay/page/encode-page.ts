/**
 * Encodes and compresses a page. Its largest pieces, with the style and the script, are the same in every page. So they
 * are encoded and compressed once, at the best level, and only the rest for each request, at the fastest level.
 * Compressed pieces can be concatenated, because a gzip stream is a sequence of deflate blocks, and these blocks refer to
 * no earlier piece and end at a byte boundary.
 */
import { constants, crc32, deflateRawSync } from 'node:zlib';
import type { PagePiece, SharedPiece } from '../../page-views/pay-page-model.js';

/** Header of RFC 1952: deflate, no name, no time, best compression, Unix. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3]);
/** An empty final deflate block. */
const END = Buffer.from([3, 0]);

export function encodePage(pieces: readonly PagePiece[]): Buffer {
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : encodeOnce(piece))));
}

export function gzipPage(pieces: readonly PagePiece[]): Buffer {
  const deflated = pieces.map((piece) =>
    typeof piece === 'string' ? deflate(Buffer.from(piece), constants.Z_BEST_SPEED) : deflateOnce(piece),
  );
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(deflated.reduce((checksum, { plain }) => crc32(plain, checksum), 0));
  trailer.writeUInt32LE(
    deflated.reduce((length, { plain }) => length + plain.length, 0),
    4,
  );
  return Buffer.concat([HEADER, ...deflated.map(({ blocks }) => blocks), END, trailer]);
}

const encodedPieces = new WeakMap<SharedPiece, Buffer>();

function encodeOnce(piece: SharedPiece): Buffer {
  const plain = encodedPieces.get(piece) ?? Buffer.from(piece.content);
  encodedPieces.set(piece, plain);
  return plain;
}

interface Deflated {
  readonly plain: Buffer;
  readonly blocks: Buffer;
}
const deflatedPieces = new WeakMap<SharedPiece, Deflated>();

function deflateOnce(piece: SharedPiece): Deflated {
  const deflated = deflatedPieces.get(piece) ?? deflate(encodeOnce(piece), constants.Z_BEST_COMPRESSION);
  deflatedPieces.set(piece, deflated);
  return deflated;
}

function deflate(plain: Buffer, level: number): Deflated {
  return { plain, blocks: deflateRawSync(plain, { level, finishFlush: constants.Z_SYNC_FLUSH }) };
}
