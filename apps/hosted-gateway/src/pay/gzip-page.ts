/**
 * Compresses a page whose largest parts, its style and its script, are the same in each page: those are compressed once, as small as
 * can be, and the rest as it is asked for. A gzip stream is a row of deflate blocks; blocks that refer to nothing before them, and
 * end at a byte, can be put behind others.
 */
import { constants, crc32, deflateRawSync } from 'node:zlib';
import type { PagePart } from '../page-views/pay-page-model.js';

/** Of RFC 1952: deflate, no name, no time, compressed as small as can be, on Unix. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3]);
/** An empty last block. */
const END = Buffer.from([3, 0]);

/** The same object for each page that has it. */
export type FixedPart = Pick<PagePart, 'content'>;

interface Piece {
  readonly plain: Buffer;
  readonly deflated: Buffer;
}
const kept = new WeakMap<FixedPart, Piece>();

/** @param fixed in the order in which they stand in the page; one that is not there is left out */
export function gzipPage(page: string, fixed: readonly FixedPart[]): Buffer {
  const pieces: Buffer[] = [HEADER];
  let [checksum, length, at] = [0, 0, 0];
  const add = ({ plain, deflated }: Piece): void => {
    checksum = crc32(plain, checksum);
    length += plain.length;
    pieces.push(deflated);
  };
  for (const part of fixed) {
    const from = page.indexOf(part.content, at);
    if (from < 0) continue;
    add(deflated(page.slice(at, from), constants.Z_DEFAULT_COMPRESSION));
    add(keptPiece(part));
    at = from + part.content.length;
  }
  add(deflated(page.slice(at), constants.Z_DEFAULT_COMPRESSION));
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(checksum);
  trailer.writeUInt32LE(length, 4);
  return Buffer.concat([...pieces, END, trailer]);
}

function keptPiece(part: FixedPart): Piece {
  const piece = kept.get(part) ?? deflated(part.content, constants.Z_BEST_COMPRESSION);
  kept.set(part, piece);
  return piece;
}

function deflated(text: string, level: number): Piece {
  const plain = Buffer.from(text);
  return { plain, deflated: deflateRawSync(plain, { level, finishFlush: constants.Z_SYNC_FLUSH }) };
}

/** Whether an `Accept-Encoding` names gzip, and does not refuse it. */
export function acceptsGzip(accepted = ''): boolean {
  return accepted.split(',').some((each) => /^\s*(x-)?gzip\s*(;\s*q=(1|0\.\d*[1-9])\S*\s*)?$/i.test(each));
}
