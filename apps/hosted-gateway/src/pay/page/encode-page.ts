/**
 * Encodes and compresses a page. Its largest pieces, with the style and the script, are the same in every page. So they
 * are encoded and compressed once, at the best level, and only the rest for each request. Compressed pieces can be
 * concatenated, because a gzip stream is a sequence of deflate blocks, and these blocks refer to no earlier piece and
 * end at a byte boundary.
 */
import { constants, crc32, deflateRawSync, type ZlibOptions } from 'node:zlib';
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
    typeof piece === 'string' ? deflate(Buffer.from(piece), FOR_EACH_PAGE) : deflateOnce(piece),
  );
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(deflated.reduce((checksum, { continueChecksum }) => continueChecksum(checksum), 0));
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
  /** Returns the CRC-32 of earlier pieces and this piece. */
  readonly continueChecksum: (earlier: number) => number;
}
const deflatedPieces = new WeakMap<SharedPiece, Deflated>();

function deflateOnce(piece: SharedPiece): Deflated {
  let deflated = deflatedPieces.get(piece);
  if (deflated === undefined) {
    const plain = encodeOnce(piece);
    deflated = { ...deflate(plain, { level: constants.Z_BEST_COMPRESSION }), continueChecksum: prepareChecksum(plain) };
    deflatedPieces.set(piece, deflated);
  }
  return deflated;
}

/**
 * The fastest level, and little memory, because zlib clears its memory for each page. The best level would save only
 * 1 % of the bytes of a page.
 */
const FOR_EACH_PAGE: ZlibOptions = { level: constants.Z_BEST_SPEED, windowBits: 14, memLevel: 7 };

function deflate(plain: Buffer, options: ZlibOptions): Deflated {
  return {
    plain,
    blocks: deflateRawSync(plain, { ...options, finishFlush: constants.Z_SYNC_FLUSH }),
    continueChecksum: (earlier) => crc32(plain, earlier),
  };
}

/**
 * The CRC-32 of a large piece, without reading it again for each page: each bit of the earlier checksum changes always
 * the same bits of the result.
 */
function prepareChecksum(plain: Buffer): Deflated['continueChecksum'] {
  const first = crc32(plain);
  const changes = Array.from({ length: 32 }, (_, bit) => crc32(plain, 2 ** bit) ^ first);
  return (earlier) =>
    changes.reduce((checksum, change, bit) => (earlier & (1 << bit) ? checksum ^ change : checksum), first) >>> 0;
}
