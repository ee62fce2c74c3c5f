import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { PagePiece } from '../../page-views/pay-page-model.js';
import { gzipPage } from './gzip-page.js';

const part = (content: string) => ({ content, integrity: '' });
const STYLE = part('h1{color:red}'.repeat(50));
const SCRIPT = part('pay("ja, né");'.repeat(200));
const textOf = (pieces: readonly PagePiece[]): string =>
  pieces.map((piece) => (typeof piece === 'string' ? piece : piece.content)).join('');

describe('a compressed page', () => {
  it('decompresses to the original, with fixed parts anywhere or without any', () => {
    for (const pieces of [[], [''], ['text'], [STYLE], ['a', STYLE, 'b', SCRIPT, 'c'], ['€ “', STYLE, '', STYLE, '😀']])
      for (let time = 1; time <= 2; time++) expect(gunzipSync(gzipPage(pieces)).toString()).toBe(textOf(pieces));
  });

  it('decompresses to the original for every text and every split into parts', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 200 });
    fc.assert(
      fc.property(fc.array(fc.oneof(text, text.map(part)), { maxLength: 7 }), (pieces) =>
        expect(gunzipSync(gzipPage(pieces)).toString()).toBe(textOf(pieces)),
      ),
    );
  });

  it('is hardly larger than a page compressed as a whole', () => {
    const pieces = [`<p>${'order '.repeat(50)}</p>`, STYLE, `<p>${'card '.repeat(50)}</p>`, SCRIPT];
    expect(gzipPage(pieces).length).toBeLessThan(gzipSync(textOf(pieces), { level: 9 }).length + 150);
  });

  it('takes a fraction of the time to compress the whole page', () => {
    const script = Array.from({ length: 20_000 }, (_, index) => (index * 2_654_435_761).toString(36)).join(';');
    const pieces = ['<p>order</p>', part(script)];
    const millisecondsOf = (compress: () => unknown): number => {
      const times = Array.from({ length: 5 }, () => {
        const before = performance.now();
        compress();
        return performance.now() - before;
      });
      return Math.min(...times);
    };
    const whole = millisecondsOf(() => gzipSync(textOf(pieces)));
    expect(millisecondsOf(() => gzipPage(pieces))).toBeLessThan(whole / 2);
  });
});
