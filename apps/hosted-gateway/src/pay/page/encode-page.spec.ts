import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { PagePiece } from '../../page-views/pay-page-model.js';
import { encodePage, gzipPage } from './encode-page.js';

const buildShared = (content: string) => ({ content });
const STYLE = buildShared('h1{color:red}'.repeat(50));
const SCRIPT = buildShared('pay("ja, né");'.repeat(200));
const joinPieces = (pieces: readonly PagePiece[]): string =>
  pieces.map((piece) => (typeof piece === 'string' ? piece : piece.content)).join('');

describe('a compressed page', () => {
  it('decompresses to the original, which is also the page without compression, with shared pieces at any position or without them', () => {
    for (const pieces of [[], [''], ['text'], [STYLE], ['a', STYLE, 'b', SCRIPT, 'c'], ['€ “', STYLE, '', STYLE, '😀']])
      // The second call uses the compressed pieces that the first call has cached.
      for (let call = 1; call <= 2; call++) {
        expect(gunzipSync(gzipPage(pieces)).toString()).toBe(joinPieces(pieces));
        expect(encodePage(pieces).toString()).toBe(joinPieces(pieces));
      }
  });

  it('decompresses to the original for any text, split into any pieces', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 200 });
    fc.assert(
      fc.property(fc.array(fc.oneof(text, text.map(buildShared)), { maxLength: 7 }), (pieces) =>
        expect(gunzipSync(gzipPage(pieces)).toString()).toBe(joinPieces(pieces)),
      ),
    );
  });

  it('is hardly larger than a page compressed as a whole', () => {
    const pieces = [`<p>${'order '.repeat(50)}</p>`, STYLE, `<p>${'card '.repeat(50)}</p>`, SCRIPT];
    expect(gzipPage(pieces).length).toBeLessThan(gzipSync(joinPieces(pieces), { level: 9 }).length + 150);
  });

  it('is compressed in less than half of the time of compressing the whole page', () => {
    const script = Array.from({ length: 20_000 }, (_, index) => (index * 2_654_435_761).toString(36)).join(';');
    const pieces = ['<p>order</p>', buildShared(script)];
    const fastestMilliseconds = (compress: () => unknown): number => {
      const times = Array.from({ length: 5 }, () => {
        const before = performance.now();
        compress();
        return performance.now() - before;
      });
      return Math.min(...times);
    };
    const wholePage = fastestMilliseconds(() => gzipSync(joinPieces(pieces)));
    expect(fastestMilliseconds(() => gzipPage(pieces))).toBeLessThan(wholePage / 2);
  });
});
